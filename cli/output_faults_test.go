package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// earlier makes a folder with outputs of an earlier run.
func earlier(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"keep.json", "keep.csv", "keep.jsonl", "keep.msgpack", "keep.yaml"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("earlier "+name), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// isEarlier checks that they are as they were, and that nothing else is there.
func isEarlier(t *testing.T, folder string, more ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		switch {
		case slices.Contains(more, e.Name()):
		case !strings.HasPrefix(e.Name(), "keep.") || strings.HasSuffix(e.Name(), partialEnd):
			t.Errorf("%s is there", e.Name())
		default:
			if got := read(t, filepath.Join(folder, e.Name())); got != "earlier "+e.Name() {
				t.Errorf("%s has become %.40q", e.Name(), got)
			}
		}
	}
	if len(entries) < 5 {
		t.Errorf("only %d files left", len(entries))
	}
}

// Whatever is wrong with a command, what earlier ones wrote stays.
func TestFaultF2BadInputKeepsEarlierOutputs(t *testing.T) {
	for _, bad := range []string{
		"--trace missing.csv", "--model no/such", "--slo-targets nope", "--force-routing 99999=0", "--config missing.yaml",
		"--num-requests -1", "--coefficients missing.yaml", "--tp 3", "--model Llama-3.1-405B-Instruct",
	} {
		folder := earlier(t)
		t.Chdir(folder)
		args := "run --results-path keep.json --requests-out keep.csv --record keep.msgpack --trace-out keep.jsonl " + bad
		if s := blis(t, nil, strings.Fields(args)...); s.code != exitInput && s.code != exitFit {
			t.Errorf("%s: exit %d: %s", bad, s.code, s.err)
		}
		isEarlier(t, folder)
	}
	folder := earlier(t)
	t.Chdir(folder)
	for _, args := range []string{
		"compare round-robin missing.yaml --results-path keep.json",
		"compare round-robin least-loaded --trace missing.csv --results-path keep.json",
		"compare round-robin least-loaded --slo-targets nope --results-path keep.json",
		"workload export --out keep.csv --trace missing.csv",
		"workload convert missing.csv keep.csv",
		"train missing --out keep.yaml",
		"train --steps missing.csv --model Llama-3.1-8B --hardware H100 --out keep.yaml",
	} {
		if s := blis(t, nil, strings.Fields(args)...); s.code != exitInput {
			t.Errorf("%s: exit %d: %s", args, s.code, s.err)
		}
		isEarlier(t, folder)
	}
}

// A whole output takes the place of the earlier one, with its permissions, and
// through links; there is nothing left beside it.
func TestOutputsTakeThePlaceOfEarlierOnes(t *testing.T) {
	folder := earlier(t)
	t.Chdir(folder)
	if err := os.Mkdir("far", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link.json": "far/a.json", "far/a.json": "../keep.json", "new.csv": "far/new.csv"} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	done(t, "run", "--num-requests", "5", "--results-path", "link.json", "--requests-out", "new.csv")
	for name, mode := range map[string]os.FileMode{"link.json": os.ModeSymlink, "far/a.json": os.ModeSymlink, "new.csv": os.ModeSymlink, "keep.json": 0, "far/new.csv": 0} {
		info, err := os.Lstat(name)
		if err != nil || info.Mode().Type() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if name == "keep.json" && info.Mode().Perm() != 0o640 {
			t.Errorf("its mode has become %v", info.Mode())
		}
	}
	if got := resultOf(t, read(t, "keep.json")); got["completed_requests"] != 5.0 {
		t.Errorf("%v requests", got["completed_requests"])
	}
	if !strings.HasPrefix(read(t, "far/new.csv"), "request,") {
		t.Error("no rows")
	}
	for _, pattern := range []string{"*.partial", "far/*.partial"} {
		if left, _ := filepath.Glob(pattern); left != nil {
			t.Errorf("%q are left", left)
		}
	}
}

// What an earlier command left under the partial name makes room, but not before
// there is something to write.
func TestPartialOutputsMakeRoom(t *testing.T) {
	folder := earlier(t)
	t.Chdir(folder)
	if err := os.WriteFile("keep.csv.partial", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	blis(t, nil, "run", "--requests-out", "keep.csv", "--slo-targets", "nope")
	if got := read(t, "keep.csv.partial"); got != "half" {
		t.Errorf("a run that did not begin makes it %.20q", got)
	}
	done(t, "run", "--num-requests", "5", "--requests-out", "keep.csv")
	if exists("keep.csv.partial") || !strings.HasPrefix(read(t, "keep.csv"), "request,") {
		t.Error("it did not make room")
	}
	s := blis(t, nil, "run", "--trace", "keep.csv.partial", "--requests-out", "keep.csv")
	if s.code != exitInput || !strings.Contains(s.err, "is the file of --trace too until the output is whole") {
		t.Errorf("exit %d: %s", s.code, s.err)
	}
}

// Of two commands that write one file the one that began last has it, whole, and
// the other says what became of its own.
func TestTwoCommandsOneOutput(t *testing.T) {
	path := filepath.Join(earlier(t), "keep.csv")
	var outs [2]*output
	for i := range outs {
		var err error
		if outs[i], err = create(t.Context(), "requests-out", path); err != nil {
			t.Fatal(err)
		}
		outs[i].WriteString(strings.Repeat("x", 1+i))
		outs[i].Flush()
	}
	if err := outs[0].finish(nil); err == nil || !strings.Contains(err.Error(), "another command writes the same file") {
		t.Errorf("the first: %v", err)
	}
	if err := outs[1].finish(nil); err != nil || read(t, path) != "xx" {
		t.Errorf("the second: %v, %q", err, read(t, path))
	}
}

// A full disk harms no earlier output. What streamed stays, under its partial
// name; a part of a document is removed.
func TestFaultF2FullDiskKeepsEarlierOutputs(t *testing.T) {
	folder := earlier(t)
	said, code := shell(t, folder, `ulimit -f 64 2>/dev/null || exit 99; trap '' XFSZ
		$BLIS run --num-requests 4000 --results-path keep.json --requests-out keep.csv --trace-out keep.jsonl --record keep.msgpack`)
	if code == 99 {
		t.Skip("no limit on the size of files")
	}
	if code != exitCheck || !strings.Contains(said, "digest") || strings.Contains(said, "panic") {
		t.Errorf("exit %d: %s", code, said)
	}
	for _, want := range []string{"--results-path: write ", "--requests-out: write ", "--record: write ", "--trace-out: write ", "keep.csv.partial: file too large"} {
		if !strings.Contains(said, want) {
			t.Errorf("does not say %q: %s", want, said)
		}
	}
	isEarlier(t, folder, "keep.csv.partial", "keep.jsonl.partial", "keep.msgpack.partial")
	if !exists(filepath.Join(folder, "keep.csv.partial")) {
		t.Error("what streamed is gone")
	}
}

// --record is an output like the others: the run ends as usual.
func TestFaultF13RecordToAFullDisk(t *testing.T) {
	path := fullDisk(t, "f.msgpack")
	s := blis(t, nil, "run", "--num-requests", "3000", "--record", path)
	if want := "blis: --record: write " + path + ": no space left on device\n"; s.code != exitCheck || !strings.HasSuffix(s.err, want) || !strings.Contains(s.out, "digest") {
		t.Errorf("exit %d: %q, want %q, and a result", s.code, s.err, want)
	}
}

// A full disk is no fault of the input, whatever was to be written.
func TestFaultF14EverythingToAFullDisk(t *testing.T) {
	for _, args := range []string{
		"", "--help", "help run", "run --help", "compare --help", "bench --help", "version", "completion bash", "policies", "hardware", "models",
		"run --print-config", "run --num-requests 5", "run --num-requests 5 --format json", "workload scenarios", "workload show --num-requests 5",
	} {
		var said strings.Builder
		c := &console{out: broken{}, err: &said, lookup: func(string) (string, bool) { return "", false }, environ: func() []string { return nil }}
		code := execute(t.Context(), strings.Fields(args), c)
		if want := "blis: write /dev/stdout: no space left on device\n"; code != exitCheck || said.String() != want {
			t.Errorf("%s: exit %d: %q, want %q", args, code, said.String(), want)
		}
	}
}

// The reader of a pipe may leave; the command does not wait for it for ever. A
// command that hangs fails by the time limit of the test.
func TestFaultF3PipeReaderLeaves(t *testing.T) {
	folder := t.TempDir()
	said, code := shell(t, folder, `set -o pipefail; $BLIS run --num-requests 3000 --format json --results-path /dev/stdout | head -1`)
	if said != "{\n" || code == 0 {
		t.Errorf("exit %d: %q", code, said)
	}
	said, code = shell(t, folder, `mkfifo p.csv; (head -1 p.csv >/dev/null &); $BLIS run --num-requests 3000 --requests-out p.csv`)
	if code != exitCheck || !strings.Contains(said, "--requests-out: write p.csv: broken pipe") || !strings.Contains(said, "digest") {
		t.Errorf("exit %d: %s", code, said)
	}
}

// Pipes are opened when there is something to write: their readers may come in
// any order.
func TestPipesAreReadInAnyOrder(t *testing.T) {
	said, code := shell(t, t.TempDir(), `mkfifo rows.csv result.json
		$BLIS run --num-requests 3000 --requests-out rows.csv --results-path result.json >/dev/null 2>&1 &
		wc -l <rows.csv; grep -c '"schema"' <result.json; wait $!`)
	if code != 0 || said != "3001\n1\n" {
		t.Errorf("exit %d: %s", code, said)
	}
}

// Standard output as an output is written after what is there, not over it.
func TestStandardOutputAsAnOutput(t *testing.T) {
	folder := t.TempDir()
	said, code := shell(t, folder, `$BLIS run --num-requests 5 --results-path /dev/stdout >both 2>/dev/null; grep -c '^digest' both; grep -c '"schema"' both; ls`)
	if code != 0 || said != "1\n1\nboth\n" {
		t.Errorf("exit %d: %s", code, said)
	}
}
