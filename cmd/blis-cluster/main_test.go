package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blis/cli"
	"blis/cluster"
	"blis/study"
	"blis/study/pointlog"
	"blis/study/sweepfile"
)

// The test binary is blis-cluster too.
func TestMain(m *testing.M) {
	if os.Getenv("BLIS_CLUSTER_TEST_MAIN") != "" {
		main()
	}
	os.Exit(m.Run())
}

// command is blis-cluster with arguments, in a process of its own.
func command(t *testing.T, dir string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	var text bytes.Buffer
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Dir, c.Stdout, c.Stderr = dir, &text, &text
	c.Env = append(os.Environ(), "BLIS_CLUSTER_TEST_MAIN=1")
	return c, &text
}

// folderWith makes the working folder one with a sweep that reads a trace, has points that a run would
// refuse, and equal points.
func folderWith(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var trace strings.Builder
	trace.WriteString("arrival_us,input_tokens,output_tokens\n")
	for i := range 30 {
		fmt.Fprintf(&trace, "%d,%d,%d\n", i*20_000, 100+i, 10+i%7)
	}
	for name, text := range map[string]string{
		"trace.csv": trace.String(),
		"sweep.yaml": `schema: blis.sweep/v1
base: {trace: trace.csv, latency-model: roofline}
axes:
  tp: [1, 2, 3]
  num-instances: [1, 2, 4]
  machine:
    same: {hardware: H100}
    equal: {hardware: H100, block-size-in-tokens: 16}
replicates: 3
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir) // inputs are read from there
	return dir
}

// undisturbed is what blis sweep writes for the sweep of a folder.
func undisturbed(t *testing.T, dir string) string {
	t.Helper()
	s, err := cli.ReadSweep(filepath.Join(dir, "sweep.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := study.NewSweepPlan(t.Context(), s, study.Pool{})
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	folder, err := sweepfile.Open(out, plan, pointlog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := plan.Run(t.Context(), folder.Todo(false), study.Pool{}, folder.Log.Append); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Finish(); err != nil {
		t.Fatal(err)
	}
	return read(t, filepath.Join(out, "points.sorted.jsonl"))
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A sweep on two workers, which have none of its files, ends with the bytes of blis sweep.
func TestClusterWritesTheBytesOfBlisSweep(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := folderWith(t)
	want := undisturbed(t, dir)
	serve, said := command(t, dir, "serve", "sweep.yaml", "-o", "out", "--listen", "127.0.0.1:0")
	notes, err := os.Create(filepath.Join(dir, "notes")) // read while serve writes
	if err != nil {
		t.Fatal(err)
	}
	defer notes.Close()
	serve.Stderr = notes
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	url := urlOf(t, filepath.Join(dir, "notes"))
	creds := filepath.Join(dir, "out", "creds", "worker.nk")
	elsewhere := t.TempDir()
	one, saidOne := command(t, elsewhere, "work", url, "--creds", creds, "--workers", "1")
	two, saidTwo := command(t, elsewhere, "work", url, "--creds", creds, "--workers", "2")
	if err := errors.Join(one.Start(), two.Start(), one.Wait(), two.Wait(), serve.Wait()); err != nil {
		t.Fatalf("%v\n%s\n%s\n%s\n%s", err, read(t, notes.Name()), said, saidOne, saidTwo)
	}
	if got := read(t, filepath.Join(dir, "out", "points.sorted.jsonl")); got != want {
		t.Errorf("other bytes than blis sweep:\n%s\nwant\n%s", got, want)
	}
	if text := said.String(); !strings.HasPrefix(text, "54 points in out/points.sorted.jsonl: 18 ok, 9 refused, 0 failed\n") {
		t.Errorf("said %q", text)
	}
	again, said := command(t, dir, "serve", "sweep.yaml", "-o", "out")
	if err := again.Run(); err != nil || !strings.HasPrefix(said.String(), "54 points in ") {
		t.Errorf("again: %v, %s", err, said)
	}
}

// urlOf waits until serve has said where it listens.
func urlOf(t *testing.T, notes string) string {
	t.Helper()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		if _, rest, ok := strings.Cut(read(t, notes), "blis-cluster work "); ok {
			if url, _, whole := strings.Cut(rest, " --creds "); whole {
				return url
			}
		}
	}
	t.Fatalf("serve does not listen: %s", read(t, notes))
	return ""
}

func TestErrorsAndExitCodes(t *testing.T) {
	dir := folderWith(t)
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	sweep := filepath.Join(dir, "sweep.yaml")
	for name, bad := range map[string]struct {
		args  string
		code  int
		words string
	}{
		"no command":      {"run", exitInput, `unexpected argument run`},
		"no sweep":        {"serve " + dir + "/none.yaml", exitInput, "none.yaml: no such file"},
		"an open port":    {"serve " + sweep + " -o " + dir + "/a --listen 0.0.0.0:0", exitInput, "--listen 0.0.0.0:0: without --tls-cert"},
		"two servers":     {"serve " + sweep + " -o " + dir + "/b --nats nats://127.0.0.1:1 --tls-key x", exitInput, "--tls-cert, --tls-key: are for a server in this process"},
		"creds of no use": {"serve " + sweep + " -o " + dir + "/c --creds x", exitInput, "--creds, --tls-ca: are for --nats"},
		"nats, no creds":  {"serve " + sweep + " -o " + dir + "/d --nats nats://127.0.0.1:1", exitInput, "--creds: want the file"},
		"work, no creds":  {"work nats://127.0.0.1:1", exitInput, "--creds: want the file"},
		"no credential":   {"work nats://127.0.0.1:1 --creds " + key, exitInput, "neither an nkey nor"},
		"a secret":        {"work nats://a:b@127.0.0.1:1 --creds " + key, exitInput, "has a secret in it"},
		"workers":         {"work nats://127.0.0.1:1 --workers=-1", exitInput, "--workers is -1"},
		"no server":       {"status nats://127.0.0.1:1 --creds " + seedIn(t), exitFailed, "nats://127.0.0.1:1: "},
	} {
		t.Run(name, func(t *testing.T) {
			var out, err bytes.Buffer
			code := execute(context.Background(), strings.Fields(bad.args), &out, &err)
			if text := err.String(); code != bad.code || !strings.Contains(text, bad.words) || strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "blis-cluster: ") {
				t.Errorf("exit %d, %q: want %d, one line with %q", code, text, bad.code, bad.words)
			}
		})
	}
}

// seedIn is a file with a credential.
func seedIn(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s, err := cluster.StartServer(dir, cluster.Listen{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	return cluster.CredentialFile(dir)
}
