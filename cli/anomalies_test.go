package cli

import (
	"fmt"
	"strings"
	"testing"
)

// rush is a trace with more than one instance can serve at once, of urgent
// requests and others.
func rush(t *testing.T) []string {
	var b strings.Builder
	b.WriteString("arrival_us,input_tokens,output_tokens,slo_class\n")
	for i := range 120 {
		fmt.Fprintf(&b, "%d,%d,%d,%s\n", i*5000, 100+i*37%300, 20+i*13%60, [...]string{"batch", "realtime", "standard"}[i%3])
	}
	return []string{"run", "--trace", file(t, "rush.csv", b.String()), "--num-instances", "3", "--max-num-seqs", "4",
		"--priority-policy", "slo-based", "--slow-within-class", "--slo-targets", "realtime:ttft=20ms;batch:e2e=10m"}
}

// What policies do wrong shows in the result, and does not with those that do
// it right.
func TestAnomaliesFollowPolicies(t *testing.T) {
	run := func(more ...string) (map[string]any, string) {
		args := append(rush(t), more...)
		r := resultOf(t, done(t, append(args, "--format", "json")...).out)
		found := r["anomalies"].(map[string]any)
		sums := map[string]float64{}
		for _, instance := range r["per_instance"].(map[string]any) {
			counters := instance.(map[string]any)["resources"].(map[string]any)["counters"].(map[string]any)
			for _, name := range []string{"priority_inversion", "head_of_line_blocking", "blocked_head", "preemption_storm"} {
				sums[name] += counters[name].(float64)
			}
		}
		for name, n := range sums {
			if found[name] != n {
				t.Errorf("%v: %s is %v, %v over the instances", more, name, found[name], n)
			}
		}
		return found, done(t, args...).out
	}
	bad, text := run("--routing-policy", "always-busiest")
	for _, name := range []string{"priority_inversion", "queue_imbalance"} {
		if bad[name].(float64) < 1 || !strings.Contains(text, strings.ReplaceAll(name, "_", " ")+" ") {
			t.Errorf("fcfs on the busiest: %s is %v in\n%s", name, bad[name], text)
		}
	}
	if starving, _ := run("--scheduler", "sjf"); starving["slow_within_class"].(float64) <= bad["slow_within_class"].(float64) {
		t.Errorf("shortest first: %v slow pairs, fcfs has %v", starving["slow_within_class"], bad["slow_within_class"])
	}
	late := bad["slo_violation"].(map[string]any)
	if len(late) != 2 || late["realtime"].(map[string]any)["ttft"].(float64) < 1 || late["batch"].(map[string]any)["e2e"] != 0.0 {
		t.Errorf("SLO violations: %v", late)
	}
	good, _ := run("--routing-policy", "least-loaded", "--scheduler", "priority-fcfs")
	inverted, text := run("--priority-policy", "inverted-slo", "--slo-targets", "")
	if n := inverted["class_inversion"].(float64); n < 1 || !strings.Contains(text, fmt.Sprintf("class inversion %v request", n)) {
		t.Errorf("inverted-slo: class_inversion is %v in\n%s", n, text)
	}
	for _, name := range []string{"priority_inversion", "class_inversion", "head_of_line_blocking", "queue_imbalance"} {
		if good[name] != 0.0 {
			t.Errorf("by priority on the least loaded: %s is %v", name, good[name])
		}
	}
}

func TestNoAnomaliesNoLine(t *testing.T) {
	if out := done(t, small()...).out; strings.Contains(out, "anomal") {
		t.Error(out)
	}
}
