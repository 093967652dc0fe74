package actors

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"blis/engine"
	"blis/latency"
)

// A run says in which ranges it went beyond the data of its coefficients, each by
// what happened and what was measured; every executor says the same.
func TestRunSaysWhereItLeavesTheFittedRanges(t *testing.T) {
	c := DefaultConfig()
	c.LatencyModel, c.NumInstances, c.NumRequests, c.Rate = "physics", 1, 300, 100
	c.PromptTokens, c.PromptTokensStdev, c.OutputTokens, c.OutputTokensStdev = 3000, 0, 10, 0
	var first string
	for _, x := range Executors(3) {
		cfg := c
		cfg.Execution = x.Execution
		result, err := Run(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = result.BeyondFit
		}
		if result.BeyondFit != first {
			t.Errorf("%s: %q, the first %q", x.Name, result.BeyondFit, first)
		}
	}
	peak := ""
	if _, after, found := strings.Cut(first, "up to 3,010 tokens (fitted to 1,059), "); found {
		_, peak, _ = strings.Cut(after, "tokens in a step")
	}
	if !strings.HasPrefix(first, "beyond what physics h100 was fitted to: contexts of ") || peak != " (2,048); its stated error does not hold there" {
		t.Errorf("%q", first)
	}
	// Within them nothing is said, and nothing of a model without ranges.
	calm := DefaultConfig()
	calm.LatencyModel = "physics"
	calm.NumInstances, calm.NumRequests, calm.Rate, calm.PromptTokensMax, calm.OutputTokensMax, calm.MaxNumBatchedTokens = 2, 100, 2, 600, 300, 2048
	roof := c
	roof.LatencyModel = "roofline"
	for _, cfg := range []Config{calm, roof} {
		result, err := Run(context.Background(), cfg)
		if err != nil || result.BeyondFit != "" {
			t.Errorf("%q, %v", result.BeyondFit, err)
		}
	}
}

func TestBeyondFit(t *testing.T) {
	set := &latency.PhysicsSet{Name: "mine", TrainedOn: latency.Training{ContextMax: 1000, SeatsMax: 10, StepTokensMax: 2000}}
	for _, x := range []struct {
		reach   engine.Reach
		running int64
		want    string
	}{
		{engine.Reach{Context: 1000, StepTokens: 2000}, 10, ""},
		{engine.Reach{Context: 1001, StepTokens: 2000}, 10, "contexts of up to 1,001 tokens (fitted to 1,000)"},
		{engine.Reach{Context: 1000, StepTokens: 1234567}, 10, "up to 1,234,567 tokens in a step (2,000)"},
		{engine.Reach{Context: 7, StepTokens: 7}, 11, "up to 11 requests in a step (10)"},
	} {
		want := x.want
		if want != "" {
			want = "beyond what physics mine was fitted to: " + want + "; its stated error does not hold there"
		}
		if got := beyondFit(set, x.reach, x.running); got != want {
			t.Errorf("%+v: %q, want %q", x, got, want)
		}
	}
	if got := beyondFit(&latency.PhysicsSet{Name: "old"}, engine.Reach{Context: 1 << 40, StepTokens: 1 << 40}, 1<<20); got != "" {
		t.Errorf("nothing is known of it: %q", got)
	}
	if got := beyondFit(nil, engine.Reach{Context: 1 << 40}, 1); got != "" {
		t.Errorf("no set: %q", got)
	}
}

// The three kinds of latency models tell of the same server within a factor of
// three: the published blackbox of the default deployment has 304 µs per decode,
// three times what its memory traffic can cost, and is the farthest off.
func TestLatencyModelsAgreeOnTheOrderOfMagnitude(t *testing.T) {
	e2e := map[string]float64{}
	for _, model := range []string{"roofline", "physics", "blackbox"} {
		c := DefaultConfig()
		c.LatencyModel, c.NumRequests, c.Rate, c.NumInstances = model, 400, 40, 4
		result, err := Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		e2e[model] = result.Report.Overall.E2E.Mean
	}
	for a, x := range e2e {
		for b, y := range e2e {
			if x > 3*y {
				t.Errorf("mean E2E %.0f ms by %s, %.0f by %s: %s", x/1000, a, y/1000, b, fmt.Sprint(e2e))
			}
		}
	}
	if near := e2e["roofline"] / e2e["physics"]; near < 0.8 || near > 1.25 {
		t.Errorf("roofline and physics, %v: want within a quarter of each other", e2e)
	}
}
