package cluster

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"blis/study/pointlog"
)

// transport is what the server of a test has stored.
func transport(t *testing.T, dir string, s *Server) (sweepID, jetstream.JetStream) {
	t.Helper()
	id, err := identity(dir)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := s.connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return id, js
}

// What is in the way of a row is removed when a coordinator begins: results that nobody can
// read, and those of a run that is to be repeated.
func TestOldResultsDoNotStandInTheWay(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	ctx, stop := context.WithTimeout(t.Context(), 40*time.Second) // against a hang
	defer stop()
	dir := t.TempDir()
	y := &toy{Points: 4, Poison: -1}
	server := serverHere(t, dir)
	id, js := transport(t, dir, server)
	_, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: id.resultsStream(), Subjects: []string{id.subject(kindResult) + ".*", id.subject(kindAgain) + ".*"}})
	if err != nil {
		t.Fatal(err)
	}
	killed := pointlog.Row{Key: y.key(1), Index: 1, Axes: y.axes(1), Version: 1, Status: pointlog.Failed, Cause: pointlog.Killed, Error: "its process died twice"}
	rows, err := pointlog.Open(dir, pointlog.Options{Version: 1})
	if err == nil {
		err = rows.Append(&killed)
	}
	if err == nil {
		err = rows.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := killed.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, data := range [][]byte{[]byte("nobody can read this"), text} {
		m := &nats.Msg{Subject: id.keySubject(kindResult, y.key(int64(i))), Data: data, Header: nats.Header{hostHeader: {string(encode(thisHost(engine)))}}}
		if _, err := js.PublishMsg(ctx, m); err != nil {
			t.Fatal(err)
		}
	}
	var said notes
	go toyWorker(&said).Work(ctx, remoteOf(dir, server))
	if err := serve(ctx, dir, y, server, nil, Options{Timing: fast, Note: said.note}); err != nil {
		t.Fatal(err, said.String())
	}
	if read(t, filepath.Join(dir, "points.sorted.jsonl")) != sorted(t, y) {
		t.Error("other rows than in one process")
	}
}

// Points that are lost from the queue, while the server is there, are published again.
func TestLostPointsArePublishedAgain(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	ctx, stop := context.WithTimeout(t.Context(), 40*time.Second) // against a hang
	defer stop()
	dir := t.TempDir()
	y := &toy{Points: 30, Poison: -1}
	server := serverHere(t, dir)
	var said notes
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, dir, y, server, nil, Options{Timing: fast, Note: said.note}) }()
	id, js := transport(t, dir, server)
	for ctx.Err() == nil {
		stream, err := js.Stream(ctx, id.pointsStream())
		if err == nil && stream.CachedInfo().State.Msgs == uint64(y.Points) {
			if err := stream.Purge(ctx); err != nil {
				t.Fatal(err)
			}
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	go toyWorker(&said).Work(ctx, remoteOf(dir, server))
	if err := <-ended; err != nil {
		t.Fatal(err, said.String())
	}
	if len(rowsOf(t, dir)) != y.Points {
		t.Error("points are missing")
	}
}
