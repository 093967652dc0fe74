package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"blis/study/pointlog"
)

// toy is a sweep whose points do next to nothing. Its JSON is the definition.
type toy struct {
	Points int
	Poison int64         // this point kills its process; −1: none
	Hungry bool          // in a process of its own it does so by wanting more memory than there is
	Pause  time.Duration // of each point
	Odd    string        // workers with this word in BLIS_CLUSTER_TEST_ODD compute something else
	Reads  string        // an input that every point reads
}

var engine = Engine{Semantics: 1, KeyFormat: 1, Build: "test"}

// fast is UsualTiming for points that take no time.
var fast = Timing{AckWait: time.Second, Quiet: 600 * time.Millisecond, Alive: 300 * time.Millisecond}

func (y *toy) key(i int64) (key pointlog.Key) {
	sum := sha256.Sum256(fmt.Appendf(nil, "point %d", i))
	copy(key[:], sum[:])
	return key
}

func (y *toy) labels(yield func(pointlog.Label) bool) {
	for i := range int64(y.Points) {
		if !yield(pointlog.Label{Index: i, Axes: y.axes(i), Key: y.key(i)}) {
			return
		}
	}
}

func (y *toy) axes(i int64) []pointlog.Coordinate {
	return []pointlog.Coordinate{{Axis: "n", Value: json.RawMessage(strconv.FormatInt(i, 10))}}
}

// toyRunner runs points of a toy.
type toyRunner struct {
	toy
	odd    bool
	inputs map[string]string
}

func (r *toyRunner) Describe(i int64) (*pointlog.Row, error) {
	return &pointlog.Row{Key: r.key(i), Index: i, Axes: r.axes(i), Version: 1}, nil
}

func (r *toyRunner) Run(ctx context.Context, i int64, key pointlog.Key) (*pointlog.Row, error) {
	row, _ := r.Describe(i)
	if row.Key != key {
		return nil, fmt.Errorf("point %d has another key", i)
	}
	if i == r.Poison && r.Hungry && childOfWorker {
		var held [][]byte
		for { // never touched, and so none of the memory of the machine
			held = append(held, make([]byte, 1<<30))
			runtime.KeepAlive(held)
		}
	}
	if i == r.Poison {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	if sleep(ctx, r.Pause) != nil {
		return nil, nil
	}
	sum := sha256.Sum256(key[:])
	row.Status, row.Digest, row.WallS = pointlog.OK, fmt.Sprintf("%x", sum[:8]), 0.001
	if r.odd {
		row.Digest = "odd"
	}
	if r.Reads != "" {
		text, err := os.ReadFile(r.inputs[r.Reads])
		if err != nil {
			return nil, err
		}
		row.Digest = string(text)
	}
	x := float64(i) / 3
	row.Measures = []pointlog.Measured{{Name: "x", Value: &x}}
	return row, nil
}

func loadToy(_ context.Context, definition []byte, inputs map[string]string) (Runner, error) {
	r := &toyRunner{inputs: inputs}
	if err := json.Unmarshal(definition, &r.toy); err != nil {
		return nil, err
	}
	r.odd = r.Odd != "" && os.Getenv("BLIS_CLUSTER_TEST_ODD") == r.Odd
	return r, nil
}

// serve is what blis-cluster serve does, for a toy.
func serve(ctx context.Context, dir string, y *toy, server *Server, remote *Remote, o Options) error {
	rows, err := pointlog.Open(dir, pointlog.Options{Version: 1})
	if err != nil {
		return err
	}
	defer rows.Close()
	checks, err := pointlog.Open(dir, pointlog.Options{Version: 1, Stem: "checks"})
	if err != nil {
		return err
	}
	defer checks.Close()
	work := Work{Engine: engine, Definition: encode(y), Rows: rows, Checks: checks}
	for i := range int64(y.Points) {
		work.Points = append(work.Points, Point{Key: y.key(i), Index: i, Done: rows.Done(y.key(i), false)})
	}
	if y.Reads != "" {
		text, err := os.ReadFile(y.Reads)
		if err != nil {
			return err
		}
		work.Inputs = []Input{{y.Reads, sumOf(text)}}
	}
	if err := Serve(ctx, dir, work, server, remote, o); err != nil {
		return err
	}
	return rows.WriteSorted(y.labels)
}

// sorted are the bytes that points.sorted.jsonl of a toy must have.
func sorted(t *testing.T, y *toy) string {
	t.Helper()
	dir := t.TempDir()
	rows, err := pointlog.Open(dir, pointlog.Options{Version: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	r := &toyRunner{toy: *y}
	for i := range int64(y.Points) {
		row, err := r.Run(t.Context(), i, y.key(i))
		if err == nil {
			err = rows.Append(row)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.WriteSorted(y.labels); err != nil {
		t.Fatal(err)
	}
	return read(t, filepath.Join(dir, "points.sorted.jsonl"))
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// notes are what somebody was told.
type notes struct {
	mutex sync.Mutex
	list  []string
}

func (n *notes) note(text string) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.list = append(n.list, text)
}

func (n *notes) String() string {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return strings.Join(n.list, "\n")
}

// serverHere starts a server in this process on a free port.
func serverHere(t *testing.T, dir string) *Server {
	t.Helper()
	s, err := StartServer(dir, Listen{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// remoteOf is how a worker reaches a server.
func remoteOf(dir string, s *Server) *Remote {
	return &Remote{URL: s.URL, Creds: CredentialFile(dir), Wait: 20 * time.Second}
}

// toyWorker is a worker in this process.
func toyWorker(n *notes) Worker {
	return Worker{Engine: engine, Cores: 2, Load: loadToy, Child: Command(os.Args[0]), Options: Options{Note: n.note}}
}
