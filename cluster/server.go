package cluster

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// maxPayload is the largest message that the server takes, in bytes.
const maxPayload = 1 << 20

// Listen is where a server listens.
type Listen struct {
	Address string // host:port; another host than one of this machine needs TLS
	Cert    string // PEM file of a certificate; empty: no TLS
	Key     string // PEM file of its key
}

// DefaultAddress is where serve listens unless told otherwise.
const DefaultAddress = "127.0.0.1:4222"

// Server is a NATS server with JetStream inside this process. It has two users: workers,
// who know the key in DIR/creds, and the coordinator, whose key never leaves memory.
type Server struct {
	inner *server.Server
	pair  nkeys.KeyPair // of the coordinator
	URL   string        // for workers
}

// StartServer starts a server for the sweep in a folder.
func StartServer(dir string, listen Listen) (*Server, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	return startServer(dir, listen, pair)
}

// startServer starts a server on which a key pair is that of the coordinator.
func startServer(dir string, listen Listen, pair nkeys.KeyPair) (*Server, error) {
	opts, err := listen.options()
	if err != nil {
		return nil, err
	}
	id, err := identity(dir)
	if err != nil {
		return nil, err
	}
	worker, err := workerKey(dir)
	if err != nil {
		return nil, err
	}
	own, err := pair.PublicKey()
	if err != nil {
		return nil, err
	}
	opts.StoreDir = filepath.Join(dir, "transport")
	opts.Nkeys = []*server.NkeyUser{{Nkey: own}, {Nkey: worker, Permissions: workerPermissions(id)}}
	inner, err := server.NewServer(opts)
	if err != nil {
		return nil, err
	}
	s := &Server{inner: inner, pair: pair}
	inner.Start()
	if !inner.ReadyForConnections(20 * time.Second) {
		inner.Shutdown()
		return nil, inputErrorf("--listen %s: no server could be started there: is the port in use?", listen.Address)
	}
	s.URL = "nats://" + inner.Addr().String()
	if opts.TLSConfig != nil {
		s.URL = "tls://" + inner.Addr().String()
	}
	return s, nil
}

// options are those of the server: nothing listens but the one port for clients.
func (l Listen) options() (*server.Options, error) {
	name, text, err := net.SplitHostPort(l.Address)
	port, bad := strconv.ParseUint(text, 10, 16)
	if err != nil || bad != nil {
		return nil, inputErrorf("--listen: %q: want HOST:PORT, such as %s", l.Address, DefaultAddress)
	}
	opts := &server.Options{
		ServerName: "blis", Host: name, Port: int(port), NoSigs: true, NoLog: true,
		JetStream: true, MaxPayload: maxPayload, DisableShortFirstPing: true,
	}
	if port == 0 {
		opts.Port = server.RANDOM_PORT
	}
	if (l.Cert == "") != (l.Key == "") {
		return nil, inputErrorf("--tls-cert and --tls-key: want both or neither")
	}
	if l.Cert != "" {
		pair, err := tls.LoadX509KeyPair(l.Cert, l.Key)
		if err != nil {
			return nil, inputErrorf("--tls-cert, --tls-key: %v", err)
		}
		opts.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}
		opts.TLSTimeout = 10
	} else if ip := net.ParseIP(name); ip == nil || !ip.IsLoopback() {
		return nil, inputErrorf("--listen %s: without --tls-cert and --tls-key want an address like %s, that only this machine reaches; an SSH tunnel goes there from others", l.Address, DefaultAddress)
	}
	return opts, listenable(l.Address)
}

// listenable reports whether the port is free: the server itself would say so only in
// its log.
func listenable(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		return inputErrorf("--listen %s: %v", address, err)
	}
	return l.Close()
}

// workerPermissions are all that a worker may do: ask for a job, fetch points and inputs,
// publish rows.
func workerPermissions(id sweepID) *server.Permissions {
	publish := []string{
		helloSubject, statusSubject, id.subject(kindAlive),
		id.subject(kindResult) + ".*", id.subject(kindAgain) + ".*",
	}
	for _, stream := range []string{id.pointsStream(), id.checksStream()} {
		publish = append(publish,
			fmt.Sprintf("$JS.API.CONSUMER.INFO.%s.%s", stream, consumerName),
			fmt.Sprintf("$JS.API.CONSUMER.MSG.NEXT.%s.%s", stream, consumerName),
			fmt.Sprintf("$JS.ACK.%s.%s.>", stream, consumerName))
	}
	inputs := "OBJ_" + id.bucket() // objects are a stream of their own
	publish = append(publish,
		"$JS.API.STREAM.INFO."+inputs, "$JS.API.STREAM.MSG.GET."+inputs, "$JS.API.DIRECT.GET."+inputs+".>",
		"$JS.API.CONSUMER.CREATE."+inputs, "$JS.API.CONSUMER.CREATE."+inputs+".>",
		"$JS.API.CONSUMER.DELETE."+inputs+".>", "$JS.API.CONSUMER.INFO."+inputs+".>",
		"$JS.API.CONSUMER.MSG.NEXT."+inputs+".>", "$JS.FC."+inputs+".>")
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: publish},
		Subscribe: &server.SubjectPermission{Allow: []string{workerInbox + ".>", id.subject(kindEnd)}},
	}
}

// connect is the coordinator's connection, which needs no port.
func (s *Server) connect(o ...nats.Option) (*nats.Conn, error) {
	public, err := s.pair.PublicKey()
	if err != nil {
		return nil, err
	}
	return nats.Connect("", append(o, nats.InProcessServer(s.inner), nats.Nkey(public, s.pair.Sign))...)
}

// Close stops the server. What it has stored stays.
func (s *Server) Close() {
	s.inner.Shutdown()
	s.inner.WaitForShutdown()
	s.pair.Wipe()
}
