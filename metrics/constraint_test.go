package metrics

import (
	"strings"
	"testing"
)

func TestConstraints(t *testing.T) {
	latency, share := 499_999.0, 0.99
	run := &RunFigures{Report: &Report{}}
	run.Overall.TTFT = &Summary{P99: latency, Mean: 10}
	run.Overall.SLOAttainment = &share
	for text, want := range map[string]bool{
		"p99_ttft<500ms": true, "p99_ttft < 499999us": false, "p99_ttft<=499999us": true, "p99_ttft>500ms": false, "p99_ttft >= 0.4s": true,
		"slo_attainment>=99%": true, "slo_attainment>0.99": false, "slo_attainment>= 98.5 %": true,
		"p99_tpot<50ms": false, // no TPOT was measured
	} {
		list, err := ParseConstraints(text)
		if err != nil || len(list) != 1 {
			t.Fatalf("%q: %v", text, err)
		}
		if got := list[0].Of(run); got.Pass != want {
			t.Errorf("%q: %+v, want %v", text, got, want)
		}
	}
	if list, err := ParseConstraints("p99_ttft<500ms, mean_ttft<1s"); err != nil || len(list) != 2 || list[1].Bound != 1e6 {
		t.Errorf("%v, %v", list, err)
	}
	for text, want := range map[string]string{
		"":                   "is no bound",
		"p99_ttft":           "is no bound",
		"<5ms":               "is no bound",
		"p99_tft<5ms":        `unknown measure "p99_tft", the nearest is "p99_ttft"`,
		"p99_ttft<":          `p99_ttft: bound ""`,
		"p99_ttft<=-5ms":     "want a duration like 500ms",
		"p99_ttft<500":       `bound "500" has no unit: want a duration like 500ms`,
		"slo_attainment>2":   "want a share",
		"slo_attainment>-1%": "want a share",
		"cost<NaN":           "want a finite number",
		"cost<10%":           "want a finite number",
		"p99_ttft<5ms,":      "is no bound",
	} {
		if _, err := ParseConstraints(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
