package trace

import (
	"cmp"
	"slices"

	"blis/vtime"
)

func (w *twin) group(name string, bins int, is func(tenant, class string) bool) GroupFact {
	asked := filter(w.firsts(), func(a *Admission) bool { return is(a.Tenant, a.Class) })
	ended := filter(w.outcomes, func(o *Outcome) bool { return is(o.Tenant, o.Class) })
	late := func(latency func(*Outcome) *vtime.Duration, target func(ClassTargets) *vtime.Duration) int64 {
		return count(ended, func(o *Outcome) bool {
			d, t := latency(o), target(w.target(o.Class, o.Tenant))
			return d != nil && t != nil && *d > *t
		})
	}
	g := GroupFact{
		Name: name, Asked: int64(len(asked)), Rejected: count(ended, func(o *Outcome) bool { return o.State == "rejected" }),
		Ended: int64(len(ended)), Judged: count(ended, judged), Met: count(ended, metTargets),
		LateTTFT: late(func(o *Outcome) *vtime.Duration { return o.TTFT }, func(t ClassTargets) *vtime.Duration { return t.TTFT }),
		LateTPOT: late(func(o *Outcome) *vtime.Duration { return o.TPOT }, func(t ClassTargets) *vtime.Duration { return t.TPOT }),
		LateE2E:  late(func(o *Outcome) *vtime.Duration { return o.E2E }, func(t ClassTargets) *vtime.Duration { return t.E2E }),
	}
	var ttft []float64
	for _, o := range ended {
		if o.TTFT != nil {
			ttft = append(ttft, float64(*o.TTFT))
		}
	}
	if len(ttft) > 0 {
		g.TTFT = pointer(meanOf(ttft))
	}
	for b := range bins {
		n := count(asked, func(a *Admission) bool { return w.bin(a.At) == b })
		if n > 0 && (g.Peak == nil || n > g.Peak.N) {
			from := int64(w.origin()) + int64(b)*int64(w.width)
			mean := float64(len(asked)) / float64(bins)
			g.Peak = &Peak{from, from + int64(w.width), n, mean, float64(n) / mean}
		}
	}
	return g
}

// three are the examples with the largest values, then the earliest.
func three(list []Example) []Example {
	slices.SortStableFunc(list, func(a, b Example) int {
		value, request := 0, 0
		if a.Value != nil {
			value = cmp.Compare(*b.Value, *a.Value)
		}
		if a.Request != nil && b.Request != nil {
			request = cmp.Compare(*a.Request, *b.Request)
		}
		return cmp.Or(value, cmp.Compare(a.At, b.At), request)
	})
	return append([]Example{}, list[:min(3, len(list))]...)
}

func exampleOf(o *Outcome, value *float64) Example {
	return Example{int64(o.At), &o.Request, o.Instance, o.Tenant, o.Class, value}
}

func (w *twin) issues() []Issue {
	list := []Issue{}
	for _, class := range w.classNames() {
		of := filter(w.outcomes, func(o *Outcome) bool { return o.Class == class })
		for _, l := range []struct {
			name    string
			target  func(ClassTargets) *vtime.Duration
			latency func(*Outcome) *vtime.Duration
		}{
			{"ttft", func(t ClassTargets) *vtime.Duration { return t.TTFT }, func(o *Outcome) *vtime.Duration { return o.TTFT }},
			{"tpot", func(t ClassTargets) *vtime.Duration { return t.TPOT }, func(o *Outcome) *vtime.Duration { return o.TPOT }},
			{"e2e", func(t ClassTargets) *vtime.Duration { return t.E2E }, func(o *Outcome) *vtime.Duration { return o.E2E }},
		} {
			var late []Example
			for _, o := range of {
				if d, t := l.latency(o), l.target(w.target(o.Class, o.Tenant)); d != nil && t != nil && *d > *t {
					late = append(late, exampleOf(o, pointer(float64(*d))))
				}
			}
			if len(late) > 0 {
				have := count(of, func(o *Outcome) bool { return l.latency(o) != nil })
				list = append(list, Issue{"slo", class + " " + l.name, int64(len(late)), &have, "latency_us", nil, three(late)})
			}
		}
	}
	slo := len(list) > 0
	for _, k := range distinct(w.outcomes, func(o *Outcome) verdict { return verdict{o.State, o.Reason} }) {
		var of []Example
		for _, o := range w.outcomes {
			if (verdict{o.State, o.Reason}) == k && k.what != "completed" {
				of = append(of, exampleOf(o, nil))
			}
		}
		name := k.what
		if k.reason != "" {
			name = k.what + ": " + k.reason
		}
		if len(of) > 0 {
			list = append(list, Issue{"ended", name, int64(len(of)), pointer(int64(len(w.outcomes))), "", nil, three(of)})
		}
	}
	for _, name := range distinct(w.anomalies, func(a *Anomaly) string { return a.Name }) {
		var of []Example
		for _, a := range w.anomalies {
			if a.Name == name && (!slo || name != "slo_violation") {
				x := Example{At: int64(a.At), Instance: a.Instance, Value: &a.Severity}
				if len(a.Requests) > 0 {
					x.Request = &a.Requests[0]
				}
				of = append(of, x)
			}
		}
		if len(of) > 0 {
			list = append(list, Issue{"anomaly", name, int64(len(of)), nil, "severity", nil, three(of)})
		}
	}
	list = append(list, w.otherIssues()...)
	slices.SortStableFunc(list, func(a, b Issue) int { return cmp.Compare(b.Count, a.Count) })
	return list
}

func (w *twin) otherIssues() (list []Issue) {
	lost, times := 0.0, int64(0)
	var victims, short, again, nowhere []Example
	for _, p := range w.preemptions {
		lost += float64(p.Computed)
		victims = append(victims, Example{At: int64(p.At), Request: &p.Request, Instance: &p.Instance, Value: pointer(float64(p.Computed))})
	}
	missing, compared := 0.0, int64(0)
	for _, o := range w.outcomes {
		times += int64(o.Preempted)
		if o.Expected == nil || o.ActualHit == nil {
			continue
		}
		compared++
		if n := float64(*o.Expected - *o.ActualHit); n > 0 {
			missing += n
			short = append(short, exampleOf(o, &n))
		}
	}
	switch {
	case len(victims) > 0:
		list = append(list, Issue{"preemption", "", int64(len(victims)), nil, "tokens", &lost, three(victims)})
	case times > 0:
		list = append(list, Issue{"preemption", "", times, nil, "", nil, []Example{}})
	}
	if len(short) > 0 {
		list = append(list, Issue{"hit_shortfall", "", int64(len(short)), &compared, "tokens", &missing, three(short)})
	}
	delays := filter(w.admissions, func(a *Admission) bool { return a.Verdict == "delay" })
	for _, reason := range distinct(delays, func(a *Admission) string { return a.Reason }) {
		var of []Example
		for _, a := range delays {
			if a.Reason == reason {
				of = append(of, Example{int64(a.At), &a.Request, nil, a.Tenant, a.Class, pointer(float64(*a.Delay))})
			}
		}
		list = append(list, Issue{"delay", reason, int64(len(of)), nil, "delay_us", nil, three(of)})
	}
	for _, r := range w.routings {
		x := Example{int64(r.At), &r.Request, nil, r.Tenant, r.Class, nil}
		if w.routingsOf[r.Request][0] != r {
			again = append(again, x)
		}
		if r.Target == nil {
			nowhere = append(nowhere, x)
		}
	}
	for _, of := range []struct {
		kind     string
		examples []Example
	}{{"redirect", again}, {"unroutable", nowhere}} {
		if len(of.examples) > 0 {
			list = append(list, Issue{of.kind, "", int64(len(of.examples)), pointer(int64(len(w.routings))), "", nil, three(of.examples)})
		}
	}
	return list
}
