package trace

import (
	"cmp"
	"slices"
	"strings"
)

// issues are what went wrong, the most frequent first; equally frequent ones
// in the order of their kinds here.
func (s *Summary) issues() []Issue {
	list := s.lateIssues()
	list = append(list, s.endIssues()...)
	list = append(list, s.anomalyIssues(list)...)
	h := &s.hits
	switch p := &s.preempted; {
	case p.n > 0:
		list = append(list, Issue{Kind: "preemption", Count: p.n, Measure: "tokens", Sum: pointer(float64(p.tokens)), Examples: exported(p.examples, true)})
	case h.evictions > 0: // the trace has no records of them
		list = append(list, Issue{Kind: "preemption", Count: h.evictions, Examples: []Example{}})
	}
	if h.short > 0 {
		list = append(list, Issue{
			Kind: "hit_shortfall", Count: h.short, Of: pointer(h.n), Measure: "tokens",
			Sum: pointer(float64(h.shortTokens)), Examples: exported(h.shortest, true),
		})
	}
	for i, k := range s.admissions.keys {
		if c := &s.admissions.values[i]; k.what == delay {
			list = append(list, Issue{Kind: "delay", Name: k.reason, Count: c.n, Measure: "delay_us", Examples: exported(c.examples, true)})
		}
	}
	if c := &s.routed.redirects; c.n > 0 {
		list = append(list, Issue{Kind: "redirect", Count: c.n, Of: pointer(s.routed.n), Examples: exported(c.examples, false)})
	}
	if s.routed.nowhere > 0 {
		list = append(list, Issue{Kind: "unroutable", Count: s.routed.nowhere, Of: pointer(s.routed.n), Examples: exported(s.routed.nowhereExamples, false)})
	}
	slices.SortStableFunc(list, func(a, b Issue) int { return cmp.Compare(b.Count, a.Count) })
	return append([]Issue{}, list...)
}

// lateIssues are latencies beyond targets, per class and target.
func (s *Summary) lateIssues() (list []Issue) {
	for i, class := range s.classes.keys {
		g := &s.classes.values[i]
		for k, name := range targetNames {
			if c := &g.late[k]; c.n > 0 {
				list = append(list, Issue{
					Kind: "slo", Name: class + " " + name, Count: c.n, Of: pointer(g.latencies[k].n),
					Measure: "latency_us", Examples: exported(c.examples, true),
				})
			}
		}
	}
	return list
}

// endIssues are requests that ended otherwise than completed.
func (s *Summary) endIssues() (list []Issue) {
	for i, k := range s.ends.keys {
		if k.what == completed {
			continue
		}
		name := k.what
		if k.reason != "" {
			name += ": " + k.reason
		}
		c := &s.ends.values[i]
		list = append(list, Issue{Kind: "ended", Name: name, Count: c.n, Of: pointer(s.records.Outcome), Examples: exported(c.examples, false)})
	}
	return list
}

// sloViolation is the anomaly that says again what latencies beyond their
// targets do.
const sloViolation = "slo_violation"

func (s *Summary) anomalyIssues(before []Issue) (list []Issue) {
	late := slices.ContainsFunc(before, func(i Issue) bool { return i.Kind == "slo" })
	for i, name := range s.anomalies.keys {
		if a := &s.anomalies.values[i]; !late || !strings.HasPrefix(name, sloViolation) {
			list = append(list, Issue{Kind: "anomaly", Name: name, Count: a.n, Measure: "severity", Examples: exported(a.examples, true)})
		}
	}
	if s.anomalies.full {
		a := &s.anomalies.others
		list = append(list, Issue{Kind: "anomaly", Name: "others", Count: a.n, Measure: "severity", Examples: exported(a.examples, true)})
	}
	return list
}

// exported are examples as a report has them, with their values if those mean
// something.
func exported(list examples, values bool) []Example {
	out := make([]Example, 0, len(list))
	for _, x := range list {
		e := Example{At: int64(x.at), Tenant: x.tenant, Class: x.class}
		if x.request >= 0 {
			e.Request = pointer(x.request)
		}
		if x.instance >= 0 {
			e.Instance = pointer(x.instance)
		}
		if values {
			e.Value = pointer(x.value)
		}
		out = append(out, e)
	}
	return out
}
