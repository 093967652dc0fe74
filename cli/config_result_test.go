package cli

import (
	"path/filepath"
	"testing"
)

// TestResultIsAConfig feeds results back: the run is the same, also when the
// result is longer than a file of settings may be.
func TestResultIsAConfig(t *testing.T) {
	for _, requests := range []string{"20", "5000"} {
		path := filepath.Join(t.TempDir(), "result.json")
		first := resultOf(t, done(t, "run", "--num-requests", requests, "--seed", "7", "--format", "json", "--results-path", path).out)
		if long := len(read(t, path)) > 1<<20; long != (requests == "5000") {
			t.Fatalf("%s requests: longer than 1 MiB is %v", requests, long)
		}
		again := resultOf(t, done(t, "run", "--config", path, "--format", "json").out)
		if first["digest"] != again["digest"] || again["digest"] == nil {
			t.Errorf("%s requests: digest %v, of the result fed back %v", requests, first["digest"], again["digest"])
		}
	}
	long := file(t, "long.json", "{"+string(make([]byte, 2<<20))) // an object that is no result
	if s := blis(t, nil, "run", "--config", long); s.code != exitInput {
		t.Errorf("no result, 2 MiB: exit %d: %s", s.code, s.err)
	}
}
