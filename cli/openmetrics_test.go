package cli

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The dashboard asks for metrics that the file has, a compressed file has the same bytes, and so have runs on other
// numbers of cores.
func TestMetricsFile(t *testing.T) {
	dir := t.TempDir()
	plain, zipped := filepath.Join(dir, "m.txt"), filepath.Join(dir, "m.txt.gz")
	done(t, small("--metrics-out", plain, "--metrics-step", "100ms", "--workers", "1")...)
	done(t, small("--metrics-out", zipped, "--metrics-step", "100ms", "--workers", "3")...)
	f, err := os.Open(zipped)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil || string(text) != read(t, plain) {
		t.Errorf("%v: the compressed file has other bytes", err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, "../examples/grafana/dashboard.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, p := range dashboard.Panels {
		names := regexp.MustCompile(`vllm:\w+`).FindAllString(p.Targets[0].Expr, -1)
		if len(names) == 0 {
			t.Errorf("panel %s asks for nothing", p.Title)
		}
		for _, x := range p.Targets {
			for _, name := range regexp.MustCompile(`vllm:\w+`).FindAllString(x.Expr, -1) {
				if !strings.Contains(string(text), "\n"+name+"{") {
					t.Errorf("panel %s asks for %s, which is not there", p.Title, name)
				}
			}
		}
	}
}

// What is wrong with the flags is one line.
func TestMetricsFlags(t *testing.T) {
	out := " --metrics-out " + filepath.Join(t.TempDir(), "a.txt")
	for _, x := range []struct{ args, want string }{
		{"--metrics-step 1s", "--metrics-step has no effect without --metrics-out"},
		{"--metrics-epoch 2026-01-01T00:00:00Z", "--metrics-epoch has no effect without --metrics-out or --otlp"},
		{"--metrics-step 0" + out, "--metrics-step is 0µs: want at least 1ms"},
		{"--metrics-epoch yesterday" + out, `--metrics-epoch is "yesterday": want a time from 1970 on`},
		{"--metrics-epoch 1969-01-01T00:00:00Z" + out, "want a time from 1970 on"},
		{"--metrics-out no/such/a.txt", "--metrics-out: no/such/a.txt"},
	} {
		s := blis(t, nil, append([]string{"run"}, strings.Fields(x.args)...)...)
		if s.code != 2 || !strings.Contains(s.err, x.want) || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%s: exit %d: %s", x.args, s.code, s.err)
		}
	}
}
