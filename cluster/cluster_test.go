package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A sweep on two workers gives the rows that it gives in one process, and a sample of them
// twice.
func TestClusterGivesTheRowsOfOneProcess(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	y := &toy{Points: 400, Poison: -1}
	server := serverHere(t, dir)
	var said notes
	ended := make(chan error, 2)
	for range 2 {
		go func() { ended <- toyWorker(&said).Work(t.Context(), remoteOf(dir, server)) }()
	}
	began := time.Now()
	if err := serve(t.Context(), dir, y, server, nil, Options{Timing: fast, Note: said.note}); err != nil {
		t.Fatal(err, said.String())
	}
	t.Logf("%v", time.Since(began))
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if got := read(t, filepath.Join(dir, "points.sorted.jsonl")); got != sorted(t, y) {
		t.Errorf("other rows than in one process:\n%s", got)
	}
	if text := said.String(); text != "" {
		t.Errorf("said %s", text)
	}
	if _, err := os.Stat(filepath.Join(dir, "checks.jsonl")); err != nil {
		t.Error(err)
	}
}

// A worker of another engine is refused; it has run nothing.
func TestOtherEnginesAreRefused(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	server := serverHere(t, dir)
	var said notes
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- serve(ctx, dir, &toy{Points: 5, Poison: -1}, server, nil, Options{Timing: fast, Note: said.note})
	}()
	for name, change := range map[string]func(*Engine){
		"semantics":  func(e *Engine) { e.Semantics++ },
		"key format": func(e *Engine) { e.KeyFormat++ },
		"build":      func(e *Engine) { e.Build = "other" },
	} {
		w := toyWorker(&said)
		change(&w.Engine)
		t.Run(name, func(t *testing.T) {
			wantInput(t, w.Work(t.Context(), remoteOf(dir, server)), "another engine: build test, semantics version 1, key format 1; this worker has ")
		})
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if rows := rowsOf(t, dir); len(rows) > 0 {
		t.Errorf("rows %v", rows)
	}
}

// A machine that computes something else is found.
func TestDifferentDigestsEndTheSweep(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	s := &scene{Dir: t.TempDir(), Toy: toy{Points: 60, Poison: -1, Pause: 200 * time.Millisecond, Odd: "odd"}}
	server := serverHere(t, s.Dir)
	s.Address = server.inner.Addr().String()
	s.start(t, "worker")
	s.start(t, "worker", "BLIS_CLUSTER_TEST_ODD=odd")
	var said notes
	err := serve(t.Context(), s.Dir, &s.Toy, server, nil, Options{Timing: fast, Note: said.note})
	var wrong *Contradiction
	if !errors.As(err, &wrong) {
		t.Fatal(err, said.String())
	}
	name, _ := os.Hostname()
	for _, words := range []string{"digest odd", runtime.GOARCH, runtime.Version(), "build test", name, "two results"} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("%v: want %q", err, words)
		}
	}
	// The same command finds it again, without a worker.
	if err := serve(t.Context(), s.Dir, &s.Toy, server, nil, Options{Timing: fast, Note: said.note}); !errors.As(err, &wrong) {
		t.Error(err)
	}
}

// Inputs travel by their hash; a worker needs no file of the coordinator's machine.
func TestInputsTravel(t *testing.T) {
	cached := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cached)
	dir := t.TempDir()
	input := filepath.Join(t.TempDir(), "trace.csv")
	text := strings.Repeat("a line of the input\n", 20_000)
	if err := os.WriteFile(input, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	y := &toy{Points: 1, Poison: -1, Reads: input}
	server := serverHere(t, dir)
	var said notes
	ended := make(chan error, 1)
	go func() { ended <- toyWorker(&said).Work(t.Context(), remoteOf(dir, server)) }()
	if err := serve(t.Context(), dir, y, server, nil, Options{Timing: fast, Note: said.note}); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if row := rowsOf(t, dir)[0]; row.Digest != text {
		t.Errorf("a worker read %d bytes, want %d", len(row.Digest), len(text))
	}
	if read(t, filepath.Join(cached, "blis", "inputs", sumOf([]byte(text)))) != text {
		t.Error("the cache has something else")
	}
	if err := checkInputs([]Input{{Path: dir}}); err == nil {
		t.Error("a folder can travel")
	}
}

// Status says how far a sweep is and who works on it.
func TestStatus(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	server := serverHere(t, dir)
	ctx, stop := context.WithCancel(t.Context())
	var said notes
	ended := make(chan error, 2)
	go func() {
		ended <- serve(ctx, dir, &toy{Points: 7, Poison: -1, Pause: time.Hour}, server, nil, Options{Timing: fast, Note: said.note})
	}()
	go func() { ended <- toyWorker(&said).Work(ctx, remoteOf(dir, server)) }()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		s, err := AskStatus(t.Context(), remoteOf(dir, server), said.note)
		if err == nil && len(s.Workers) == 1 && s.Points == 7 && s.Missing == 7 && s.Workers[0].Cores == 2 {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("%+v, %v", s, err)
		}
	}
	stop()
	for range 2 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	_, err := AskStatus(t.Context(), remoteOf(dir, server), said.note)
	if err == nil || !strings.Contains(err.Error(), "nobody serves") {
		t.Error(err)
	}
}
