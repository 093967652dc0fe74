package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blis/actors"
	"blis/metrics"
	"blis/report/plaintext"
)

// Colour changes nothing else.
func TestColour(t *testing.T) {
	result, err := actors.Run(t.Context(), smallConfig())
	if err != nil {
		t.Fatal(err)
	}
	var plain, coloured strings.Builder
	if Text(&plain, result, plaintext.Style{}) != nil || Text(&coloured, result, plaintext.Style{Colour: true}) != nil {
		t.Fatal("a builder does not fail")
	}
	if !strings.Contains(coloured.String(), "\x1b[1m") {
		t.Error("no colour")
	}
	if stripped := strings.NewReplacer("\x1b[1;33m", "", "\x1b[1m", "", "\x1b[0m", "").Replace(coloured.String()); stripped != plain.String() {
		t.Error("colour changes more than colour")
	}
}

func smallConfig() actors.Config {
	cfg := actors.DefaultConfig()
	cfg.NumRequests, cfg.NumInstances = 60, 2
	return cfg
}

func TestAnomaliesInWords(t *testing.T) {
	n := func(x int64) *int64 { return &x }
	for _, c := range []struct {
		a    metrics.Anomalies
		want string
	}{
		{metrics.Anomalies{}, ""},
		{metrics.Anomalies{SlowWithinClass: n(0), KVThrashing: n(0), SLOViolation: metrics.SLOViolations{{Class: "a"}}}, ""},
		{metrics.Anomalies{PriorityInversion: 12, ClassInversion: 1000, BlockedHead: 3}, "priority inversion 12, class inversion 1,000 requests, blocked head 3 steps"},
		{metrics.Anomalies{HeadOfLineBlocking: 1, BlockedHead: 1, QueueImbalance: 1, SlowWithinClass: n(1), PreemptionStorm: 1},
			"head-of-line blocking 1 request, blocked head 1 step, queue imbalance 1 instance, slow within class 1 pair, preemption storm 1"},
		{metrics.Anomalies{ShadowDivergence: n(2), KVThrashing: n(1)}, "shadow divergence 2 requests, KV thrashing 1 entry"},
		{metrics.Anomalies{KVThrashing: n(2000)}, "KV thrashing 2,000 entries"},
		{metrics.Anomalies{SLOViolation: metrics.SLOViolations{{Class: "a", Violations: metrics.Violations{TTFT: 1000, E2E: 2}}, {Class: "b", Violations: metrics.Violations{TPOT: 3}}}},
			"SLO violation a TTFT 1,000, SLO violation a E2E 2, SLO violation b TPOT 3"},
	} {
		if d := cmp.Diff(c.want, anomalies(&c.a)); d != "" {
			t.Error(d)
		}
	}
}

// A note that a run adds at its end is printed there.
func TestLateNotesArePrinted(t *testing.T) {
	result, err := actors.Run(t.Context(), smallConfig())
	if err != nil {
		t.Fatal(err)
	}
	early := len(result.Setup.Notes)
	result.Setup.Notes = append(result.Setup.Notes, "it came later")
	var out strings.Builder
	if err := (&Run{Result: result}).Outcome(&out, early, plaintext.Style{}); err != nil || strings.Count(out.String(), "\nnote ") != 1 || !strings.Contains(out.String(), "note       it came later") {
		t.Errorf("%v: %s", err, &out)
	}
}
