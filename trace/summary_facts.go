package trace

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"blis/metrics"
)

func (s *Summary) outcomeFacts() OutcomeFacts {
	o := OutcomeFacts{Requests: s.records.Outcome, WithoutOutcome: int64(len(s.flights)), Ends: counts(&s.ended.ends, func(v verdict) verdict { return v }), Classes: []ClassFact{}}
	slices.SortStableFunc(o.Ends, func(a, b Count) int { return cmp.Compare(stateOrder(a.What), stateOrder(b.What)) })
	for i, class := range s.classes.keys {
		o.Classes = append(o.Classes, s.classFact(class, &s.classes.values[i]))
	}
	if s.classes.full {
		f := s.classFact("", &s.classes.others)
		f.Others = true
		o.Classes = append(o.Classes, f)
	}
	return o
}

// stateOrder is the order of states of package metrics; other states come last.
func stateOrder(name string) int {
	state, ok := stateOf(name)
	if !ok {
		return metrics.States
	}
	return int(state)
}

// counts lists the counts of a table, the largest first, others last.
func counts[K comparable](t *table[K, counted], name func(K) verdict) []Count {
	list := make([]Count, 0, len(t.keys)+1)
	for i, k := range t.keys {
		v := name(k)
		list = append(list, Count{v.what, v.reason, t.values[i].n})
	}
	slices.SortStableFunc(list, func(a, b Count) int { return cmp.Compare(b.N, a.N) })
	if t.full {
		list = append(list, Count{"others", "", t.others.n})
	}
	return list
}

func (s *Summary) classFact(name string, g *group) ClassFact {
	f := ClassFact{Class: name, Ended: g.Ended, Completed: g.completed, Judged: g.Judged, Met: g.Met}
	target := s.targetOf(name, "")
	bounds := [...]*int64{micros(target.TTFT), micros(target.TPOT), micros(target.E2E)}
	for i, to := range [...]**LatencyFact{&f.TTFT, &f.TPOT, &f.E2E} {
		if h := &g.latencies[i]; h.n > 0 {
			*to = &LatencyFact{
				N: h.n, P50: wholeMicros(h.percentile(50)), P90: wholeMicros(h.percentile(90)), P99: wholeMicros(h.percentile(99)),
				Max: wholeMicros(h.most), Target: bounds[i], Beyond: g.late[i].n,
			}
		}
	}
	return f
}

// wholeMicros is a latency that was counted as a float.
func wholeMicros(x float64) int64 {
	if x >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(x)
}

func (s *Summary) comparison() *Comparison {
	missed, met := &s.ended.missed, &s.ended.met
	if missed.n+met.n == 0 {
		return nil
	}
	c := &Comparison{Missed: missed.n, Met: met.n, Traits: []Trait{}, MissedQueueWait: missed.wait.mean(), MetQueueWait: met.wait.mean()}
	for i, name := range traitNames {
		if missed.has[i]+met.has[i] > 0 {
			c.Traits = append(c.Traits, Trait{name, missed.has[i], missed.known[i], met.has[i], met.known[i]})
		}
	}
	return c
}

func (s *Summary) decisionFacts() DecisionFacts {
	x := &s.decided
	d := DecisionFacts{
		Admission: counts(&x.admissions, func(v verdict) verdict { return v }), Delays: x.delays.n, MeanDelay: x.delays.mean(), Priority: []PriorityFact{},
		Routing: counts(&x.routings, func(reason string) verdict { return verdict{"route", reason} }),
		Forced:  x.forced, Unroutable: x.unrouted.n, Redirects: x.redirects.n, Preemption: s.ended.preemption,
	}
	for i, class := range x.priorities.keys {
		a := x.priorities.values[i]
		d.Priority = append(d.Priority, PriorityFact{class, false, a.n, a.least, a.mean, a.most})
	}
	if a := x.priorities.others; x.priorities.full {
		d.Priority = append(d.Priority, PriorityFact{"", true, a.n, a.least, a.mean, a.most})
	}
	if x.scale.Evaluations > 0 {
		f := x.scale
		f.Reasons = counts(&x.scalings, func(v verdict) verdict { return v })
		f.Changes = append([]ScaleChange{}, f.Changes...)
		d.Scale = &f
	}
	if s.ended.hits.Requests > 0 {
		d.Hits = pointer(s.ended.hits)
	}
	if x := &s.ended.steps; x.n > 0 {
		n := float64(x.n)
		d.Steps = &StepFacts{x.n, float64(x.running) / n, float64(x.waiting) / n, float64(x.prefill) / n, float64(x.decode) / n}
	}
	return d
}

// issues are what went wrong, the most frequent first; equally frequent ones
// in the order of their kinds here.
func (s *Summary) issues() []Issue {
	list := s.lateIssues()
	list = append(list, s.endIssues()...)
	list = append(list, s.anomalyIssues(list)...)
	h, x, p := &s.ended.hits, &s.decided, &s.ended.preemption
	switch {
	case p.Records > 0:
		list = append(list, Issue{Kind: "preemption", Count: p.Records, Measure: "tokens", Sum: pointer(float64(p.Tokens)), Examples: exported(s.ended.preempted, true)})
	case p.Preemptions > 0: // the trace has no records of them
		list = append(list, Issue{Kind: "preemption", Count: p.Preemptions, Examples: []Example{}})
	}
	if h.Fewer > 0 {
		list = append(list, Issue{
			Kind: "hit_shortfall", Count: h.Fewer, Of: pointer(h.Requests), Measure: "tokens",
			Sum: pointer(float64(h.FewerTokens)), Examples: exported(s.ended.shortest, true),
		})
	}
	for i, k := range x.admissions.keys {
		if c := &x.admissions.values[i]; k.what == delay {
			list = append(list, Issue{Kind: "delay", Name: k.reason, Count: c.n, Measure: "delay_us", Examples: exported(c.examples, true)})
		}
	}
	if c := &x.redirects; c.n > 0 {
		list = append(list, Issue{Kind: "redirect", Count: c.n, Of: pointer(s.records.Routing), Examples: exported(c.examples, false)})
	}
	if c := &x.unrouted; c.n > 0 {
		list = append(list, Issue{Kind: "unroutable", Count: c.n, Of: pointer(s.records.Routing), Examples: exported(c.examples, false)})
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
	for i, k := range s.ended.ends.keys {
		if k.what == completed {
			continue
		}
		name := k.what
		if k.reason != "" {
			name += ": " + k.reason
		}
		c := &s.ended.ends.values[i]
		list = append(list, Issue{Kind: "ended", Name: name, Count: c.n, Of: pointer(s.records.Outcome), Examples: exported(c.examples, false)})
	}
	return list
}

// sloViolation is the anomaly that says again what latencies beyond their
// targets do.
const sloViolation = "slo_violation"

func (s *Summary) anomalyIssues(before []Issue) (list []Issue) {
	late := slices.ContainsFunc(before, func(i Issue) bool { return i.Kind == "slo" })
	for i, name := range s.ended.anomalies.keys {
		if a := &s.ended.anomalies.values[i]; !late || !strings.HasPrefix(name, sloViolation) {
			list = append(list, Issue{Kind: "anomaly", Name: name, Count: a.n, Measure: "severity", Examples: exported(a.examples, true)})
		}
	}
	if s.ended.anomalies.full {
		a := &s.ended.anomalies.others
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

// instanceFacts are the work of each instance. Instances that were there at the start
// and that no record names have got none of it.
func (s *Summary) instanceFacts() InstanceFacts {
	t := &s.instances
	order := sortedBy(len(t.keys), func(a, b int) int {
		return cmp.Or(cmp.Compare(t.values[b].Routed, t.values[a].Routed), cmp.Compare(t.keys[a], t.keys[b]))
	})
	f := InstanceFacts{N: s.header.Instances, List: []InstanceFact{}}
	routed, input, busy := int64(0), int64(0), 0
	for i, k := range t.keys {
		if k >= s.header.Instances {
			f.N++
		}
		if t.values[i].Routed > 0 {
			busy++
		}
		routed += t.values[i].Routed
		input += t.values[i].Input
	}
	f.Unused = f.N - busy
	f.Routed = s.balance(f.N, routed, func(i *instance) int64 { return i.Routed })
	f.Input = s.balance(f.N, input, func(i *instance) int64 { return i.Input })
	f.Worst = s.worstBin(f.N)
	for n, i := range order {
		if n == mostListed {
			f.LeftOut = len(order) - n
			break
		}
		f.List = append(f.List, instanceFact(t.keys[i], &t.values[i], routed))
	}
	return f
}

// sortedBy are the indices below n in an order.
func sortedBy(n int, compare func(a, b int) int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, compare)
	return order
}

// balance compares the largest with the mean over n instances; null for a
// total of nothing.
func (s *Summary) balance(n int, total int64, of func(*instance) int64) *Balance {
	if total == 0 {
		return nil
	}
	most, at := int64(-1), 0
	for i, k := range s.instances.keys {
		if x := of(&s.instances.values[i]); x > most || x == most && k < at {
			most, at = x, k
		}
	}
	mean := float64(total) / float64(n)
	return &Balance{Instance: &at, Max: most, Total: total, Mean: mean, Ratio: float64(most) / mean}
}

// worstBin is the bin of an instance that got the most beyond the mean of the
// bin over all instances; of equal ones the earliest.
func (s *Summary) worstBin(n int) (worst *Balance) {
	excess := 0.0
	for b := range s.time.counts {
		if s.time.counts[b].Routed == 0 {
			continue
		}
		x := s.balance(n, s.time.counts[b].Routed, func(i *instance) int64 { return i.series[b] })
		if over := float64(x.Max) - x.Mean; over > excess {
			excess, worst = over, x
			from, to := s.time.bins.bounds(b)
			x.From, x.To = pointer(int64(from)), pointer(int64(to))
		}
	}
	return worst
}

func instanceFact(index int, i *instance, routed int64) InstanceFact {
	f := i.InstanceFact
	f.Instance, f.HitRate = index, share(i.hit, i.hitInput)
	f.MeanRunning, f.MeanWaiting = share(i.running, i.Steps), share(i.waiting, i.Steps)
	if routed > 0 {
		f.Share = float64(i.Routed) / float64(routed)
	}
	if i.Steps > 0 {
		f.MaxWaiting, f.MaxBlocks = pointer(i.mostWaiting), pointer(i.blocks)
	}
	return f
}

// share is a part of something; null of nothing.
func share(part, of int64) *float64 {
	if of == 0 {
		return nil
	}
	return pointer(float64(part) / float64(of))
}

// patternFacts returns the facts by time, class and tenant. regrets are the regrets of
// all decisions.
func (s *Summary) patternFacts(regrets *regrets) PatternFacts {
	f := PatternFacts{Bins: []Bin{}, Streaks: []Streak{}, Bursts: []TenantBurst{}}
	if !s.time.started {
		f.Classes, f.Tenants = []GroupFact{}, []GroupFact{}
		return f
	}
	f.BinWidth = pointer(int64(s.time.bins.width))
	n, asked := s.time.bin(s.time.to)+1, int64(0)
	for i := range n {
		asked += s.time.counts[i].Asked
	}
	for i, b := range s.time.counts[:n] {
		from, to := s.time.bins.bounds(i)
		b.From, b.To, b.Burst = int64(from), int64(to), b.Asked*int64(n) > 2*asked
		if a := regrets.bins[i]; a.n > 0 {
			b.Regret = pointer(a.mean)
		}
		f.Bins = append(f.Bins, b)
	}
	f.Classes, f.ClassesLeftOut = s.groups(&s.classes, n)
	f.Tenants, f.TenantsLeftOut = s.groups(&s.tenants, n)
	f.Bursts = s.bursts(n)
	if x := s.decided.sameInstance; x.longest.N > 1 {
		x.longest.Kind, x.longest.Instance = "routed", pointer(x.longestKey)
		f.Streaks = append(f.Streaks, x.longest)
	}
	if x := s.decided.rejections; x.longest.N > 1 {
		x.longest.Kind = "rejected"
		f.Streaks = append(f.Streaks, x.longest)
	}
	return f
}

// groups lists the largest groups of a table, with their course of time.
func (s *Summary) groups(t *table[string, group], bins int) (list []GroupFact, leftOut int) {
	order := sortedBy(len(t.keys), func(a, b int) int {
		x, y := &t.values[a], &t.values[b]
		return cmp.Or(cmp.Compare(y.Asked, x.Asked), cmp.Compare(y.Ended, x.Ended), cmp.Compare(t.keys[a], t.keys[b]))
	})
	listed := min(mostListed, len(order))
	leftOut = len(order) - listed
	if t.full {
		leftOut++
	}
	list = make([]GroupFact, 0, listed)
	for _, i := range order[:listed] {
		g := &t.values[i]
		f := g.GroupFact
		f.Name, f.TTFT, f.Peak = t.keys[i], g.ttft.mean(), s.peak(g, bins)
		f.LateTTFT, f.LateTPOT, f.LateE2E = g.late[0].n, g.late[1].n, g.late[2].n
		list = append(list, f)
	}
	return list, leftOut
}

func (s *Summary) peak(g *group, bins int) *Peak {
	if g.Asked == 0 {
		return nil
	}
	at := 0
	for i, n := range g.series {
		if n > g.series[at] {
			at = i
		}
	}
	from, to := s.time.bins.bounds(at)
	mean := float64(g.Asked) / float64(bins)
	return &Peak{int64(from), int64(to), g.series[at], mean, float64(g.series[at]) / mean}
}
