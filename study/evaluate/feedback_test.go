package evaluate

import (
	"strings"
	"testing"
)

func TestFeedback(t *testing.T) {
	for c, wants := range map[string][]string{ // any order
		"routing: {type: round-robin}":        {"Worst of 3 scenarios: ", "(baseline ", "Saturation there: instances busy", "Regrets by load, as the policy gives no scores", "in flight", "its TTFT was"},
		"routing: {type: weighted}":           {"All 500 routing decisions took the instance with the best score", "Worst class: "},
		"admission: {type: game-half}":        {"did not complete (baseline: 0)", "serve them"},
		"routing: {type: always-busiest}":     {"SLO violations", "sent to instance", "idlest"},
		"routing: {type: game-one-instance}":  {"Anomalies there: "},
		"scheduler: {type: reverse-priority}": {"Worse than the baseline there: "},
	} {
		a := good(t, c)
		if len(a.Feedback) > maxFeedback || len(a.Feedback) < 200 {
			t.Errorf("%s: %d bytes of feedback", c, len(a.Feedback))
		}
		for _, want := range wants {
			if !strings.Contains(a.Feedback, want) {
				t.Errorf("%s: no %q in\n%s", c, want, a.Feedback)
			}
		}
	}
	s, _ := standard()
	long := s.Failed(yaml(""), Options{}, Fault{Kind: CrashFault, Message: strings.Repeat("ü\x00", 5000)})
	if len(long.Feedback) > maxFeedback || !strings.Contains(long.Feedback, "Keep no") && !strings.Contains(long.Feedback, "keep no") {
		t.Errorf("%d bytes: %s", len(long.Feedback), long.Feedback)
	}
}

func TestWorstDecisionsAreKept(t *testing.T) {
	var list []decision
	for i, regret := range []float64{1, 5, 3, 5, 0.5, 4} {
		list = keepWorst(list, decision{request: int64(i), regret: regret})
	}
	if len(list) != 3 || list[0].request != 1 || list[1].request != 3 || list[2].request != 5 {
		t.Errorf("%+v, want requests 1, 3 and 5", list)
	}
}

func TestWorstClassIsTheOneFarthestBehind(t *testing.T) {
	baseline := &Figures{Classes: []ClassFigures{{Class: "a", TTFT: 1e6, E2E: 1e6, Attainment: 1}, {Class: "b", TTFT: 1e5, E2E: 1e6, Attainment: 1}}}
	f := &Figures{Classes: []ClassFigures{{Class: "a", TTFT: 1.1e6, E2E: 1e6, Attainment: 1}, {Class: "b", TTFT: 2e5, E2E: 1e6, Attainment: 0.9}, {Class: "new", TTFT: 1e9, E2E: 1e9}}}
	got := worstClass(f, baseline)
	want := "Worst class: b, p99 TTFT 200 ms (baseline 100 ms), p99 E2E 1000 ms (1000 ms), SLO attainment 0.9 (1)."
	if len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}
