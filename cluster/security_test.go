package cluster

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"blis/setup"
)

// wantInput wants an error of the user's, of one line, with some words.
func wantInput(t *testing.T, err error, words string) {
	t.Helper()
	var input *setup.InputError
	if !errors.As(err, &input) || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v: want an input error with %q", err, words)
	}
}

// certificate makes a certificate for 127.0.0.1 that signs itself.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	pair, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	public, err := x509.CreateCertificate(rand.Reader, about, about, &pair.PublicKey, pair)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(pair)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: public}, key: {Type: "EC PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func TestServersThatWouldBeOpenAreRefused(t *testing.T) {
	cert, key := certificate(t)
	for name, bad := range map[string]struct {
		listen Listen
		words  string
	}{
		"all addresses": {Listen{Address: ":0"}, "without --tls-cert"},
		"a name":        {Listen{Address: "localhost:0"}, "without --tls-cert"},
		"another":       {Listen{Address: "10.0.0.1:4222"}, "without --tls-cert"},
		"no port":       {Listen{Address: "127.0.0.1"}, "want HOST:PORT"},
		"half a pair":   {Listen{Address: "127.0.0.1:0", Cert: cert}, "want both or neither"},
		"no pair":       {Listen{Address: "127.0.0.1:0", Cert: key, Key: cert}, "--tls-cert, --tls-key: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := StartServer(t.TempDir(), bad.listen)
			wantInput(t, err, bad.words)
		})
	}
	dir := t.TempDir()
	first := serverHere(t, dir)
	_, err := StartServer(dir, Listen{Address: first.inner.Addr().String()})
	wantInput(t, err, "address already in use")
}

func TestOnlyWhoHasTheKeyGetsIn(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	s := serverHere(t, dir)
	serverHere(t, other) // has another key
	for _, path := range []string{CredentialFile(dir), filepath.Dir(CredentialFile(dir))} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	open := filepath.Join(t.TempDir(), "open.nk")
	if err := os.WriteFile(open, []byte(read(t, CredentialFile(dir))), 0o644); err != nil {
		t.Fatal(err)
	}
	connect := func(url, creds string) error {
		r := &Remote{URL: url, Creds: creds, Wait: time.Minute}
		conn, err := r.connect(t.Context(), func(string) {}, options(workerInbox, time.Second, func() {})...)
		if err == nil {
			conn.Close()
		}
		return err
	}
	if err := connect(s.URL, CredentialFile(dir)); err != nil {
		t.Error(err)
	}
	wantInput(t, connect(s.URL, ""), "--creds: want the file")
	wantInput(t, connect(s.URL, CredentialFile(other)), "Authorization Violation")
	wantInput(t, connect(s.URL, open), "chmod 600")
	wantInput(t, connect("nats://user:secret@127.0.0.1:1", CredentialFile(dir)), "has a secret in it")
	wantInput(t, connect("http://127.0.0.1:1", CredentialFile(dir)), "want nats://HOST:PORT")
	if _, err := nats.Connect(s.URL); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("without a credential: %v", err)
	}
}

// A server with TLS does not talk to a client without.
func TestPlainTextOnATLSPortIsRefused(t *testing.T) {
	cert, key := certificate(t)
	dir := t.TempDir()
	s, err := StartServer(dir, Listen{Address: "0.0.0.0:0", Cert: cert, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	address := fmt.Sprintf("127.0.0.1:%d", s.inner.Addr().(*net.TCPAddr).Port)
	plain, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	plain.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprint(plain, "CONNECT {\"verbose\":true}\r\nPING\r\n")
	for lines := bufio.NewScanner(plain); lines.Scan(); { // until it hangs up
		if line := lines.Text(); strings.HasPrefix(line, "PONG") || strings.HasPrefix(line, "+OK") {
			t.Errorf("plain text was answered with %q", line)
		}
	}
	connect := func(r *Remote) error {
		r.Creds, r.Wait = CredentialFile(dir), time.Minute
		conn, err := r.connect(t.Context(), func(string) {}, options(workerInbox, time.Second, func() {})...)
		if err == nil {
			conn.Close()
		}
		return err
	}
	if err := connect(&Remote{URL: "tls://" + address, CA: cert}); err != nil {
		t.Error(err)
	}
	wantInput(t, connect(&Remote{URL: "tls://" + address}), "certificate")
}

// Nothing listens but the one port, and that only for this machine.
func TestOnlyLoopbackListens(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	dir := t.TempDir()
	before := listening(t)
	serverHere(t, dir)
	var opened []string
	for address := range listening(t) { // any order: counted and looked at
		if !before[address] {
			opened = append(opened, address)
		}
	}
	if len(opened) != 1 || !strings.HasPrefix(opened[0], "0100007F:") {
		t.Errorf("listens on %v, want one port of 0100007F, which is 127.0.0.1", opened)
	}
}

// listening are the addresses on which this process listens.
func listening(t *testing.T) map[string]bool {
	t.Helper()
	own := map[string]bool{} // sockets
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if target, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil {
			own[strings.TrimSuffix(strings.TrimPrefix(target, "socket:["), "]")] = true
		}
	}
	list := map[string]bool{}
	for _, path := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6", "/proc/self/net/udp", "/proc/self/net/udp6"} {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			const address, state, inode = 1, 3, 9
			fields := strings.Fields(line)
			if len(fields) > inode && own[fields[inode]] && (fields[state] == "0A" || strings.Contains(path, "udp")) {
				list[fields[address]] = true
			}
		}
	}
	return list
}

// A worker may do its work and nothing else.
func TestWorkersReachOnlyTheirSubjects(t *testing.T) {
	dir := t.TempDir()
	s := serverHere(t, dir)
	id, err := identity(dir)
	if err != nil {
		t.Fatal(err)
	}
	denied := make(chan error, 10)
	conn, err := remoteOf(dir, s).connect(t.Context(), func(string) {}, append(options(workerInbox, time.Second, func() {}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err }))...)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	wantDenied := func(what string) {
		t.Helper()
		conn.Flush()
		select {
		case err := <-denied:
			if !errors.Is(err, nats.ErrPermissionViolation) {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s is allowed", what)
		}
	}
	for _, subject := range []string{id.subject(kindEnd), id.subject(kindPoint) + ".x", id.subject(kindCheck) + ".x", "BLIS.other.result.x", "$JS.API.STREAM.DELETE." + id.pointsStream(),
		"$JS.API.STREAM.PURGE." + id.resultsStream(), "$JS.API.STREAM.MSG.GET." + id.resultsStream(), "$JS.API.STREAM.LIST", "$SYS.REQ.SERVER.PING", "$O." + id.bucket() + ".C.x", "other"} {
		conn.Publish(subject, nil)
		wantDenied("publishing on " + subject)
	}
	for _, subject := range []string{">", helloSubject, id.subject(kindResult) + ".>", coordinatorInbox + ".>", "_INBOX.>", "$SYS.>"} {
		conn.SubscribeSync(subject)
		wantDenied("listening on " + subject)
	}
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "X"}); err == nil {
		t.Error("a worker made a stream")
	}
}
