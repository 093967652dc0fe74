package report

import (
	"strings"

	"blis/metrics"
	"blis/report/plaintext"
)

// anomalies is what went wrong, in words; empty when nothing did.
func anomalies(a *metrics.Anomalies) string {
	var list []string
	add := func(name string, n int64, one, many string) {
		if n == 0 {
			return
		}
		unit := many
		if n == 1 {
			unit = one
		}
		list = append(list, strings.TrimSuffix(name+" "+plaintext.Grouped(n)+" "+unit, " "))
	}
	add("priority inversion", a.PriorityInversion, "", "")
	add("class inversion", a.ClassInversion, "request", "requests")
	add("head-of-line blocking", a.HeadOfLineBlocking, "request", "requests")
	add("blocked head", a.BlockedHead, "step", "steps")
	add("queue imbalance", a.QueueImbalance, "instance", "instances")
	if a.SlowWithinClass != nil {
		add("slow within class", *a.SlowWithinClass, "pair", "pairs")
	}
	add("preemption storm", a.PreemptionStorm, "", "")
	if a.ShadowDivergence != nil {
		add("shadow divergence", *a.ShadowDivergence, "request", "requests")
	}
	for _, c := range a.SLOViolation {
		add("SLO violation "+c.Class+" TTFT", c.TTFT, "", "")
		add("SLO violation "+c.Class+" TPOT", c.TPOT, "", "")
		add("SLO violation "+c.Class+" E2E", c.E2E, "", "")
	}
	return strings.Join(list, ", ")
}
