package cluster

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Remote is a server in another process.
type Remote struct {
	URL   string        // nats://HOST:PORT or tls://HOST:PORT
	Creds string        // file with the credential
	CA    string        // PEM file of the authority that signed its certificate; empty: those of the system
	Wait  time.Duration // for a server that is not there, at the start or later
}

// checkURL refuses what is no address, and addresses with secrets: other users of a
// machine can see the arguments of a process.
func checkURL(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		u, err := url.Parse(one)
		if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" {
			return inputErrorf("the address of the server: want nats://HOST:PORT or tls://HOST:PORT")
		}
		if u.User != nil {
			return inputErrorf("the address of the server has a secret in it: want that in the file of --creds")
		}
	}
	return nil
}

// connect connects, and waits for a server that is not there yet. Lost connections come
// back by themselves for as long.
func (r *Remote) connect(ctx context.Context, note func(string), o ...nats.Option) (*nats.Conn, error) {
	if err := checkURL(r.URL); err != nil {
		return nil, err
	}
	shown, err := credential(r.Creds)
	if err != nil {
		return nil, err
	}
	o = append(o, shown)
	if r.CA != "" {
		o = append(o, nats.RootCAs(r.CA))
	}
	waiting := false
	for began := time.Now(); ; {
		conn, err := nats.Connect(r.URL, o...)
		switch {
		case err == nil:
			return conn, nil
		case refused(err):
			return nil, inputErrorf("%s: %s", r.URL, oneLine(err))
		case time.Since(began) >= r.Wait:
			return nil, errors.New(r.URL + ": " + oneLine(err))
		}
		if !waiting {
			waiting = true
			note(r.URL + ": " + oneLine(err) + ": waiting for it")
		}
		if err := sleep(ctx, time.Second); err != nil {
			return nil, err
		}
	}
}

// refused reports whether a server is there and will not have us, so that there is
// nothing to wait for.
func refused(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) ||
		errors.Is(err, nats.ErrSecureConnRequired) || errors.Is(err, nats.ErrSecureConnWanted) ||
		strings.Contains(err.Error(), "x509: ") || strings.Contains(err.Error(), "certificate") || strings.Contains(err.Error(), "tls: ")
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// sleep waits, or returns the error of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// options are those of every connection. changed is called when the connection is back
// and when it is closed for good.
func options(inbox string, wait time.Duration, changed func()) []nats.Option {
	const pause = 250 * time.Millisecond
	return []nats.Option{
		nats.Name("blis-cluster"),
		nats.CustomInboxPrefix(inbox + "." + randomName()),
		nats.MaxReconnects(max(1, int(wait/pause))), nats.ReconnectWait(pause), nats.ReconnectJitter(pause/4, pause/4),
		nats.Timeout(5 * time.Second), nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2),
		nats.ReconnectBufSize(-1), // what cannot be sent is an error: whoever sends it tries again
		nats.ReconnectHandler(func(*nats.Conn) { changed() }),
		nats.ClosedHandler(func(*nats.Conn) { changed() }),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // those that matter come back from calls
	}
}
