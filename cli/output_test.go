package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fullDisk is the name of a file on which nothing can be written.
func fullDisk(t *testing.T, name string) string {
	t.Helper()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no full device")
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file that cannot be written to its end is a fault of the machine, whichever
// it is: the result is printed, one line names the flag, the exit code is 1.
func TestFullDisk(t *testing.T) {
	for _, flag := range []string{"--results-path x", "--requests-out x.csv", "--record x", "--trace-out x.jsonl"} {
		name, base, _ := strings.Cut(flag, " ")
		path := fullDisk(t, base)
		s := blis(t, nil, "run", "--num-requests", "20", name, path)
		want := "blis: " + name + ": write " + path + ": no space left on device\n"
		if s.code != exitCheck || s.err != want || !strings.Contains(s.out, "digest") {
			t.Errorf("%s: exit %d: %q, want %q", name, s.code, s.err, want)
		}
	}
	path := fullDisk(t, "x")
	s := blis(t, nil, "compare", "round-robin", "least-loaded", "--seeds", "2", "--num-requests", "20", "--results-path", path)
	if want := "blis: --results-path: write " + path + ": no space left on device\n"; s.code != exitCheck || s.err != want {
		t.Errorf("compare: exit %d: %q, want %q", s.code, s.err, want)
	}
	rows, decisions := fullDisk(t, "x.csv"), fullDisk(t, "x.jsonl")
	s = blis(t, nil, "run", "--num-requests", "20", "--requests-out", rows, "--trace-out", decisions)
	want := "blis: --requests-out: write " + rows + ": no space left on device; --trace-out: write " + decisions + ": no space left on device\n"
	if s.code != exitCheck || s.err != want {
		t.Errorf("two: exit %d: %q, want %q", s.code, s.err, want)
	}
}

// broken is a standard output that takes nothing.
type broken struct{}

func (broken) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
}

// Nor is a result that cannot be printed an error of the input, or none.
func TestResultThatCannotBePrinted(t *testing.T) {
	for _, args := range []string{
		"run --num-requests 20", "run --num-requests 20 --format json", "verify --num-requests 20", "policies", "models", "run --print-config",
		"compare round-robin least-loaded --seeds 2 --num-requests 20",
		"compare round-robin least-loaded --seeds 2 --num-requests 20 --format json",
	} {
		var said strings.Builder
		c := &console{out: broken{}, err: &said, lookup: func(string) (string, bool) { return "", false }, environ: func() []string { return nil }}
		code := execute(t.Context(), strings.Fields(args), c)
		if want := "blis: write /dev/stdout: no space left on device\n"; code != exitCheck || said.String() != want {
			t.Errorf("%s: exit %d: %q, want %q", args, code, said.String(), want)
		}
	}
}

// An output that is an input, or another output, is refused before anything is
// lost.
func TestOutputsAreFilesOfTheirOwn(t *testing.T) {
	const rows = "arrival_us,input_tokens,output_tokens\n1,20,5\n"
	for _, c := range []struct{ input, text, args string }{
		{"--trace", rows, "run --trace FILE --requests-out FILE"},
		{"--trace", rows, "run --trace FILE --results-path ./LINK"},
		{"--config", "rate: 5\n", "run --config FILE --results-path FILE"},
		{"--policy-config", "routing: {type: weighted}\n", "run --policy-config FILE --record FILE"},
		{"--trace", rows, "compare round-robin least-loaded --trace FILE --results-path FILE"},
		{"a bundle", "routing: {type: weighted}\n", "compare FILE round-robin --results-path FILE"},
		{"a policy", "def route(req, i): return 0\n", "run --set routing.type=starlark --set routing.params.file=FILE --results-path FILE"},
		{"--deployments", "deployments: [{id: a, model: Llama-3.1-8B-Instruct, replicas: 1}]\n", "run --deployments FILE --results-path FILE"},
		{"--deployments", "deployments: [{id: a, model: Llama-3.1-8B-Instruct, replicas: 1}]\n", "compare round-robin least-loaded --deployments FILE --results-path FILE"},
		{"--failures", "failures: []\n", "run --failures FILE --results-path FILE"},
		{"coefficients of a pool", "{}", "run --architecture pd --decode-coefficients FILE --results-path FILE"},
		{"--results-path", "", "run --results-path NEW --trace-out NEW"},
		{"--requests-out", "old", "run --requests-out FILE --trace-out FILE"},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := errors.Join(os.WriteFile("in.jsonl", []byte(c.text), 0o600), os.Symlink("in.jsonl", "link")); err != nil {
				t.Fatal(err)
			}
			args := strings.NewReplacer("FILE", "in.jsonl", "LINK", "link", "NEW", "new.jsonl").Replace(c.args)
			s := blis(t, nil, strings.Fields(args)...)
			if s.code != exitInput || !strings.Contains(s.err, " is the file of "+c.input+" too: want another name\n") {
				t.Errorf("exit %d: %q", s.code, s.err)
			}
			if got := read(t, "in.jsonl"); got != c.text {
				t.Errorf("the file has become %q", got)
			}
			if _, err := os.Stat("new.jsonl"); err == nil {
				t.Error("a file was made")
			}
		})
	}
	done(t, "run", "--num-requests", "5", "--results-path", os.DevNull, "--record", os.DevNull)
}

// A run that came to nothing removes the files that it began, and no link, nor
// what it leads to.
func TestDiscardedOutputs(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(os.WriteFile("rows.csv", nil, 0o600), os.Symlink("rows.csv", "link.csv")); err != nil {
		t.Fatal(err)
	}
	s := blis(t, nil, "run", "--num-requests", "5", "--force-routing", "0=9", "--requests-out", "link.csv", "--record", "plain", "--trace-out", "plain.jsonl")
	if s.code != exitInput {
		t.Fatalf("exit %d: %s", s.code, s.err)
	}
	for _, name := range []string{"link.csv", "rows.csv"} {
		if _, err := os.Lstat(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"plain", "plain.jsonl"} {
		if _, err := os.Lstat(name); err == nil {
			t.Errorf("%s of a run that came to nothing is still there", name)
		}
	}
}
