package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"blis/vtime"
	"blis/workload"
)

// rowsOf is what --requests-out writes, and the digest.
func rowsOf(t *testing.T, args ...string) (rows string, digest any) {
	t.Helper()
	path := absentIn(t, "rows.csv")
	out := done(t, append([]string{"run", "--requests-out", path, "--format", "json", "--num-instances", "2", "--routing-policy", "prefix-affinity"}, args...)...).out
	return read(t, path), resultOf(t, out)["digest"]
}

// A run of an exported workload is the run of the workload: all rows are the
// same, and so is the digest.
func TestRunOfAnExportIsTheRun(t *testing.T) {
	for name, args := range map[string][]string{
		"drawn":    {"--num-requests", "300", "--arrival", "gamma", "--cv", "3", "--prefix-tokens", "333", "--timeout", "4s"},
		"horizon":  {"--num-requests", "300", "--horizon", "1s"},
		"blis":     {"--trace", "../testdata/traces/blis.csv"},
		"unsorted": {"--trace", "../testdata/traces/blis_unsorted.csv"},
		"azure":    {"--trace", "../testdata/traces/azure.csv", "--trace-speedup", "3"},
		"mooncake": {"--trace", "../testdata/traces/mooncake.jsonl.gz", "--trace-block-size", "400", "--trace-offset", "1"},
	} {
		for _, extension := range []string{".csv", ".csv.gz"} {
			path := absentIn(t, "export"+extension)
			s := done(t, append([]string{"workload", "export", "--out", path, "--num-instances", "2"}, args...)...)
			if s.out != "" || !strings.Contains(s.err, " requests written to "+path) {
				t.Errorf("%s prints %q and %q", name, s.out, s.err)
			}
			var after []string // settings of the run, not of the workload
			if name == "horizon" {
				after = []string{"--horizon", "1s"}
			}
			wantRows, wantDigest := rowsOf(t, args...)
			gotRows, gotDigest := rowsOf(t, append([]string{"--trace", path}, after...)...)
			if strings.Count(wantRows, "\n") < 4 || gotRows != wantRows {
				t.Errorf("%s%s: rows differ:\n%.600s\nwant\n%.600s", name, extension, gotRows, wantRows)
			}
			if gotDigest != wantDigest || gotDigest == nil {
				t.Errorf("%s%s: digest %v and %v", name, extension, gotDigest, wantDigest)
			}
		}
	}
}

// Export of an export, and conversion of it, are the same bytes.
func TestExportOfAnExportIsEqual(t *testing.T) {
	first, second, third := absentIn(t, "1.csv"), absentIn(t, "2.csv"), absentIn(t, "3.csv.gz")
	done(t, "workload", "export", "../testdata/traces/blis.csv", "--out", first)
	done(t, "workload", "export", "--trace", first, "--out", second)
	done(t, "workload", "convert", "../testdata/traces/blis.csv", third)
	packed, err := gzip.NewReader(strings.NewReader(read(t, third)))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(packed)
	if err != nil {
		t.Fatal(err)
	}
	if read(t, first) != read(t, second) || read(t, first) != string(plain) || strings.Count(string(plain), "\n") != 5 {
		t.Errorf("exports differ:\n%s\n%s\n%s", read(t, first), read(t, second), plain)
	}
}

// What reading left out is said.
func TestConvertSaysWhatItSkipped(t *testing.T) {
	in, out := file(t, "in.csv", "arrival_us,input_tokens,output_tokens\n1,5,1\n2,0,1\n3,7,1\n"), absentIn(t, "out.csv")
	if s := blis(t, nil, "workload", "convert", in, out); s.code != exitInput || exists(out) {
		t.Errorf("a bad row: exit %d, file: %v", s.code, exists(out))
	}
	s := done(t, "workload", "convert", in, out, "--skip-bad-rows")
	if !strings.HasPrefix(s.err, "blis: note: 1 bad rows skipped, the first: "+in+":3: ") || !strings.HasSuffix(s.err, "blis: 2 requests written to "+out+": 2 requests of in.csv (blis)\n") {
		t.Errorf("says %q", s.err)
	}
}

// An export that is not whole is no export.
func TestInterruptedExportLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range []string{"workload export --out FILE", "workload convert ../testdata/traces/blis.csv FILE"} {
		for _, name := range []string{"x.csv", "x.csv.gz"} {
			path := absentIn(t, name)
			s := blisUntil(t, ctx, nil, strings.Fields(strings.ReplaceAll(args, "FILE", path))...)
			if s.code != exitInterrupted || s.err != "blis: interrupted\n" || exists(path) {
				t.Errorf("%s: exit %d: %q, file: %v", args, s.code, s.err, exists(path))
			}
		}
	}
}

// cancelling is a long source that cancels whoever pulls it, on the way.
type cancelling struct {
	workload.Slice
	pulled int64
	cancel func()
}

func (s *cancelling) Pull(r *workload.Request) (bool, error) {
	*r = workload.NewRequest(vtime.Time(s.pulled), 5, 1)
	if s.pulled++; s.pulled == 10_000 {
		s.cancel()
	}
	return s.pulled < 100_000, nil
}

// Nor is one that was stopped on its way; a survey then has what it saw.
func TestStoppedOnTheWay(t *testing.T) {
	list, err := workload.NewSlice(nil, workload.Labels{})
	if err != nil {
		t.Fatal(err)
	}
	path := absentIn(t, "x.csv")
	for name, run := range map[string]func(of subject, ctx context.Context, c *console) error{
		"export": func(of subject, ctx context.Context, c *console) error { return (&exportCmd{of, path}).Run(ctx, c) },
		"show":   func(of subject, ctx context.Context, c *console) error { return (&showCmd{of, "json"}).Run(ctx, c) },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var out, said bytes.Buffer
		c := &console{out: &out, err: &said, environ: func() []string { return nil }}
		of := subject{settings: settings{Config: smallConfig()}}
		of.Source = &cancelling{Slice: *list, cancel: cancel}
		if err := run(of, ctx, c); exitCode(err) != exitInterrupted {
			t.Errorf("%s: %v", name, err)
		}
		if name == "export" {
			if exists(path) || out.Len() > 0 {
				t.Errorf("export leaves a file, or prints %q", out.String())
			}
			continue
		}
		if r := resultOf(t, out.String()); r["partial"] != true || r["requests"] != 12288.0 {
			t.Errorf("show: %v of %v requests", r["partial"], r["requests"])
		}
	}
}

// Inputs are never written over, and a full disk is no fault of the input.
func TestExportsKeepTheirInputs(t *testing.T) {
	const rows = "arrival_us,input_tokens,output_tokens\n1,20,5\n"
	in, config := file(t, "in.csv", rows), file(t, "c.csv", "rate: 5\n")
	for _, c := range []struct{ args, want string }{
		{"workload export --out " + in + " " + in, "--out: " + in + " is the file of --trace too: want another name"},
		{"workload export --config " + config + " --out " + config, "--out: " + config + " is the file of --config too: want another name"},
		{"workload convert " + in + " " + in, "OUT: " + in + " is the file of IN too: want another name"},
	} {
		if s := blis(t, nil, strings.Fields(c.args)...); s.code != exitInput || s.err != "blis: "+c.want+"\n" {
			t.Errorf("%s: exit %d: %q", c.args, s.code, s.err)
		}
	}
	if read(t, in) != rows || read(t, config) != "rate: 5\n" {
		t.Error("an input has changed")
	}
	full := fullDisk(t, "full.csv")
	for args, by := range map[string]string{"workload export --out " + full: "--out", "workload convert " + in + " " + full: "OUT"} {
		s := blis(t, nil, strings.Fields(args)...)
		if want := "blis: " + by + ": write " + full + ": no space left on device\n"; s.code != exitCheck || s.err != want {
			t.Errorf("%s: exit %d: %q, want %q", args, s.code, s.err, want)
		}
	}
}

// Equal exports are equal bytes: gzip has a place for the time.
func TestZippedExportsAreEqual(t *testing.T) {
	var files [2][]byte
	for i := range files {
		path := absentIn(t, "x.csv.gz")
		done(t, "workload", "export", "--num-requests", "50", "--out", path)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = text
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("two exports differ")
	}
}
