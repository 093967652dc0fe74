package study

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// With an Open of its own a sweep reads nothing by its path: not for keys either.
func TestSweepsReadThroughOpen(t *testing.T) {
	const requests = "arrival_us,input_tokens,output_tokens\n0,100,20\n1000,200,20\n"
	path := filepath.Join(t.TempDir(), "trace.csv")
	sweep := func(open func(string) (io.ReadCloser, error)) Sweep {
		base := smallBase()
		base.Trace, base.Custom.Open = path, open
		return NewSweep(base, numbers("num-instances", "1", "2"))
	}
	elsewhere := sweep(func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(requests)), nil })
	far := mustPlan(t, elsewhere)
	got := far.RunPoint(context.Background(), 0, 1)
	if err := os.WriteFile(path, []byte(requests), 0o600); err != nil {
		t.Fatal(err)
	}
	near := mustPlan(t, sweep(nil))
	want := near.RunPoint(context.Background(), 0, 1)
	if far.Key(0) != near.Key(0) || got.Digest == "" || got.Digest != want.Digest {
		t.Errorf("key %v, digest %q (%s): want %v, %q (%s)", far.Key(0), got.Digest, got.Error, near.Key(0), want.Digest, want.Error)
	}
	if err := os.WriteFile(path, []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	if other := mustPlan(t, elsewhere); other.Key(0) != far.Key(0) {
		t.Error("the key is that of the file with this path")
	}
	if d := far.Describe(1); d.Key != far.Key(1) || d.Index != 1 || len(d.Axes) != 1 || d.Status != "" {
		t.Errorf("%+v", d)
	}
}
