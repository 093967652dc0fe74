package cli

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"blis/actors"
	"blis/report"
	"blis/setup"
	"blis/vtime"
)

// shared is a buffer that somebody else writes to.
type shared struct {
	sync.Mutex
	bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.Lock()
	defer s.Unlock()
	return s.Buffer.Write(p)
}

func (s *shared) String() string {
	s.Lock()
	defer s.Unlock()
	return s.Buffer.String()
}

// waitForText waits until said has a text, or the test never ends.
func waitForText(t *testing.T, said *shared, want string) {
	t.Helper()
	t.Logf("waiting for %q", want)
	for !strings.Contains(said.String(), want) {
		time.Sleep(time.Millisecond)
	}
}

// Whoever does not sit at a terminal sees lines, whoever does a bar; with a
// total as soon as there is one.
func TestProgressIsShown(t *testing.T) {
	for _, c := range []struct {
		name     string
		terminal bool
		early    string
		late     string
	}{
		{"in a log", false, " s: 0 requests so far\n", " s: 5 of 20 requests (25 %), "},
		{"on a terminal", true, "requests", "(5/20)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var said shared
			p := (&console{err: &said, errTerminal: c.terminal, tempo: tempo{bar: time.Millisecond, line: time.Millisecond}}).show("requests")
			waitForText(t, &said, c.early)
			p.set(5, 20)
			waitForText(t, &said, c.late)
			p.done()
			p.done()
		})
	}
}

// A trace has a total, and generated requests have one; nobody knows how many
// ServeGen's clients send in a time.
func TestTotals(t *testing.T) {
	for _, c := range []struct {
		cfg   actors.Config
		setup actors.Setup
		want  int64
	}{
		{actors.Config{Config: setup.Config{NumRequests: 1000}}, actors.Setup{}, 1000},
		{actors.Config{Config: setup.Config{Trace: "t.csv"}}, actors.Setup{Requests: 12031}, 12031},
		{actors.Config{Config: setup.Config{Trace: "servegen/"}}, actors.Setup{}, -1},
		{actors.Config{}, actors.Setup{}, -1},
	} {
		if got := totalOf(&c.cfg, &c.setup); got != c.want {
			t.Errorf("%s: %d, want %d", c.cfg.Trace, got, c.want)
		}
	}
	cfg := actors.DefaultConfig()
	cfg.Trace = "../testdata/traces/blis.csv"
	if _, setup, err := actors.Check(cfg); err != nil || setup.Requests != 4 {
		t.Errorf("%d requests, %v", setup.Requests, err)
	}
}

// What runs is printed before it runs.
func TestTheHeaderComesBeforeTheRun(t *testing.T) {
	cfg := smallConfig()
	var out bytes.Buffer
	c := &console{out: &out, lookup: func(string) (string, bool) { return "", false }}
	r := &runCmd{}
	h := r.header(c, &cfg)
	ran := false
	cfg.Row = func(*actors.Row) {
		if ran = true; !strings.Contains(out.String(), "workload   60 requests") {
			t.Fatal("a request ended before the header was there")
		}
	}
	result, err := actors.Run(t.Context(), cfg)
	if err != nil || !ran || h.err != nil || h.notes != len(result.Setup.Notes) {
		t.Fatal(err, ran, h)
	}
	var rest bytes.Buffer
	if err := (&report.Run{Result: result}).Outcome(&rest, h.notes, c.style()); err != nil {
		t.Fatal(err)
	}
	if want := done(t, small()...).out; out.String()+rest.String() != want {
		t.Errorf("header and outcome are not what run prints:\n%s", want)
	}
}

// The router streams ahead of the instances where nobody reads them: progress is
// told there too, and less often than it would cost anything.
func TestProgressIsToldWhateverThePolicy(t *testing.T) {
	for _, policy := range []string{"round-robin", "least-loaded"} {
		cfg := actors.DefaultConfig()
		cfg.RoutingPolicy, cfg.NumRequests, cfg.Workers = policy, 200_000, 1
		cfg.OutputTokens, cfg.OutputTokensStdev, cfg.Rate = 4, 0, 2000
		var told []int64
		cfg.Progress = func(_ vtime.Time, n int64) { told = append(told, n) }
		if _, err := actors.Run(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		if len(told) < 3 || len(told) > 400 || told[0] > 150_000 {
			t.Errorf("%s: told %d times: %v", policy, len(told), told)
		}
	}
}
