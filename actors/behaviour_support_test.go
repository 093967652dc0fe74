package actors

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"blis/latency"
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// The behaviour tests run whole clusters that are small enough to be worked
// out by hand. Unless a test says otherwise there is one instance, requests
// are queued when they arrive, and a step takes exactly 1,000 µs whatever is
// in it: token k of a request that is alone and scheduled at T comes at
// T + 1,000·k. Async scheduling is off, so that a batch holds what is there
// when its step begins.

// plain is that configuration: 64 blocks of 16 tokens, 8 seats, a budget of
// 1,024 tokens, so that everything that fits the cache fits one step.
func plain() Config {
	c := DefaultConfig()
	c.NumInstances = 1
	c.AlphaCoeffs, c.BetaCoeffs = []float64{0, 0, 0}, []float64{1000, 0, 0}
	c.TotalKVBlocks, c.BlockSizeInTokens = 64, 16
	c.MaxNumSeqs, c.MaxNumBatchedTokens = 8, 1024
	c.AsyncScheduling = new(false)
	return c
}

// request has neither deadline nor limit, and content of its own. Its place in
// the list tells it from others of the same arrival.
func request(arrival vtime.Time, input, output int32) workload.Request {
	r := workload.NewRequest(arrival, input, output)
	r.Source = 0
	return r
}

func due(at vtime.Time, r workload.Request) workload.Request {
	r.Deadline = at
	return r
}

func limited(limit int32, r workload.Request) workload.Request {
	r.MaxOutput = limit
	return r
}

func prompt(r workload.Request, spans ...workload.Span) workload.Request {
	r.Spans = spans
	return r
}

// fate is what became of a request, as tests compare it.
type fate struct {
	State     string
	Reason    metrics.Reason
	Scheduled vtime.Time // vtime.Never: not
	First     vtime.Time
	Last      vtime.Time
	Finished  vtime.Time
	Tokens    int32
}

const never = vtime.Never

// served is a run and what became of its requests, in order of arrival.
type served struct {
	*Result
	rows []metrics.Outcome
}

func (s *served) fates() []fate {
	var list []fate
	for _, o := range s.rows {
		list = append(list, fate{o.State.String(), o.Reason, o.Scheduled, o.FirstToken, o.LastToken, o.Finished, o.Generated})
	}
	return list
}

// serve runs cfg over the given requests in the strictest twin, with decode
// runs and with windows of two workers, each within a second, and wants them
// to agree.
func serve(t *testing.T, cfg Config, requests ...workload.Request) *served {
	t.Helper()
	return serveLabelled(t, cfg, workload.Labels{}, requests)
}

// serveLabelled is serve for requests with names of tenants and classes.
func serveLabelled(t *testing.T, cfg Config, labels workload.Labels, requests []workload.Request) *served {
	t.Helper()
	var first *served
	for _, x := range []Executor{
		{"strictest twin", Execution{Sequential: true, StepByStep: true}},
		{"decode runs", Execution{Workers: 1}},
		{"windows", Execution{Workers: 2, Inline: -1}},
	} {
		s, err := serveOn(t, cfg, x.Execution, labels, requests)
		if err != nil {
			t.Fatalf("%s: %v", x.Name, err)
		}
		if first == nil {
			first = s
			continue
		}
		if s.Digest != first.Digest || !reflect.DeepEqual(s.rows, first.rows) {
			t.Fatalf("%s differs from the strictest twin:\n%+v\n%+v", x.Name, s.fates(), first.fates())
		}
		if !reflect.DeepEqual(s.Report, first.Report) {
			t.Fatalf("%s: another report than the strictest twin's", x.Name)
		}
	}
	return first
}

// serveOn is one run. One that never ends ends with the time limit of the test.
func serveOn(t *testing.T, cfg Config, x Execution, labels workload.Labels, requests []workload.Request) (*served, error) {
	t.Helper()
	if len(requests) > 0 {
		source, err := workload.NewSlice(append([]workload.Request(nil), requests...), labels)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Custom.Source = source
	}
	s := &served{}
	cfg.Execution = x
	cfg.Row = func(r *Row) { s.rows = append(s.rows, *r.Outcome) }
	r, err := Run(t.Context(), cfg)
	s.Result = r
	return s, err
}

// refusal runs cfg and wants an error of the user's: one line of the right
// type that has every one of the given parts.
func refusal(t *testing.T, cfg Config, parts ...string) string {
	t.Helper()
	_, err := Run(context.Background(), cfg)
	if err == nil {
		t.Fatal("it was accepted")
	}
	var input *InputError
	var fit *latency.DoesNotFit
	if !errors.As(err, &input) && !errors.As(err, &fit) {
		t.Errorf("the error is a %T, want *InputError or *latency.DoesNotFit: %v", err, err)
	}
	text := err.Error()
	if strings.ContainsAny(text, "\n\r") {
		t.Errorf("more than one line: %q", text)
	}
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("the error does not say %q: %s", p, text)
		}
	}
	return text
}

func wantFates(t *testing.T, s *served, want ...fate) {
	t.Helper()
	got := s.fates()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("request %d: missing, want %+v", i, want[i])
		case i >= len(want):
			t.Errorf("request %d: not expected: %+v", i, got[i])
		case got[i] != want[i]:
			t.Errorf("request %d:\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
}

// completed is the fate of a request that got its tokens one step after the
// other, the first at first.
func completed(scheduled, first, last vtime.Time, tokens int32) fate {
	return fate{State: "completed", Scheduled: scheduled, First: first, Last: last, Finished: last, Tokens: tokens}
}

// count is the number of requests in each state.
func (s *served) count(state metrics.State) int64 { return s.Report.Overall.States[state] }
