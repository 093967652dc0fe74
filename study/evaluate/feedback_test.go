package evaluate

import (
	"strings"
	"testing"
)

func TestFeedback(t *testing.T) {
	for c, wants := range map[string][]string{ // any order
		"routing: {type: round-robin}":        {"Worst of 3 scenarios: ", "(baseline ", "Saturation there: instances busy", "Regrets by the policy's own scores", "in flight", "its TTFT was"},
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
