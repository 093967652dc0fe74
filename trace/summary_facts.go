package trace

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"blis/metrics"
)

// Report says what came so far. More records may follow, and another report;
// requests without outcome are as they would be if the trace ended here. The
// text has at most tokens tokens, 4·tokens characters. Errors: an unknown
// strategy, fewer tokens than LeastSummaryTokens, no header yet.
func (s *Summary) Report(strategy Strategy, tokens int) (*Report, error) {
	if _, err := ParseStrategy(string(strategy)); err != nil {
		return nil, err
	}
	if tokens < LeastSummaryTokens {
		return nil, fmt.Errorf("a summary of %d tokens: want at least %d", tokens, LeastSummaryTokens)
	}
	if s.header == nil {
		return nil, fmt.Errorf("the trace is empty: a header was to come first")
	}
	h := s.header
	r := &Report{
		Schema: SummarySchema, Strategy: strategy, TokenLimit: min(tokens, math.MaxInt/charsPerToken),
		Run: SummaryRun{h.Level, h.Seed, h.Instances, h.Admission, h.Priority, h.Routing, h.Scheduler, h.Autoscale, h.Counterfactual}, Records: s.records,
		Outcomes: s.outcomeFacts(), Compared: s.comparison(), Decisions: s.decisionFacts(),
		Instances: s.instanceFacts(), Patterns: s.patternFacts(),
	}
	if s.started {
		r.From, r.To = pointer(int64(s.from)), pointer(int64(s.to))
	}
	all := s.regretsSoFar()
	r.Regret = s.regretFacts(&all)
	for i := range r.Patterns.Bins {
		if a := all.bins[i]; a.n > 0 {
			r.Patterns.Bins[i].Regret = pointer(a.mean)
		}
	}
	r.Issues = s.issues()
	r.write()
	return r, nil
}

// regretsSoFar returns the regrets of all decisions, also for
// requests that have no outcome yet, in the order of requests.
func (s *Summary) regretsSoFar() regrets {
	all := s.regrets.clone()
	var open []int64
	for request, f := range s.flights { // in any order: sorted below
		if f.routings > 0 {
			open = append(open, request)
		}
	}
	slices.Sort(open)
	for _, request := range open {
		all.add(s.flights[request].last, &s.time)
	}
	return all
}

func pointer[T any](v T) *T { return &v }

func (s *Summary) outcomeFacts() OutcomeFacts {
	o := OutcomeFacts{Requests: s.records.Outcome, WithoutOutcome: int64(len(s.flights)), Ends: counts(&s.ends), Classes: []ClassFact{}}
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
func counts(t *table[verdict, counted]) []Count {
	list := make([]Count, 0, len(t.keys)+1)
	for i, k := range t.keys {
		list = append(list, Count{k.what, k.reason, t.values[i].n})
	}
	slices.SortStableFunc(list, func(a, b Count) int { return cmp.Compare(b.N, a.N) })
	if t.full {
		list = append(list, Count{"others", "", t.others.n})
	}
	return list
}

// targetOf is the targets of a class: its own, else those for every class.
func (s *Summary) targetOf(class string) ClassTargets {
	if t, ok := s.targets[class]; ok {
		return t
	}
	return s.targets[""]
}

func (s *Summary) classFact(name string, g *group) ClassFact {
	f := ClassFact{Class: name, Ended: g.ended, Completed: g.completed, Judged: g.judged, Met: g.met}
	target := s.targetOf(name)
	bounds := [...]*int64{micros(target.TTFT), micros(target.TPOT), micros(target.E2E)}
	for i, to := range [...]**LatencyFact{&f.TTFT, &f.TPOT, &f.E2E} {
		h := &g.latencies[i]
		if h.n == 0 {
			continue
		}
		*to = &LatencyFact{
			N: h.n, P50: wholeMicros(h.percentile(50)), P90: wholeMicros(h.percentile(90)), P99: wholeMicros(h.percentile(99)),
			Max: wholeMicros(h.most), Target: bounds[i], Beyond: g.late[i].n,
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
	missed, met := &s.missed, &s.met
	if missed.n+met.n == 0 {
		return nil
	}
	c := &Comparison{Missed: missed.n, Met: met.n, Traits: []Trait{}, MissedQueueWait: missed.wait.mean(), MetQueueWait: met.wait.mean()}
	for _, t := range []Trait{
		{"not_completed", missed.n - missed.completed, missed.n, met.n - met.completed, met.n},
		{"preempted", missed.preempted, missed.n, met.preempted, met.n},
		{"redirected", missed.redirected, missed.n, met.redirected, met.n},
		{"delayed", missed.delayed, missed.n, met.delayed, met.n},
		{"regret", missed.regretted, missed.scored, met.regretted, met.scored},
		{"hit_shortfall", missed.few, missed.compared, met.few, met.compared},
	} {
		if t.Missed+t.Met > 0 {
			c.Traits = append(c.Traits, t)
		}
	}
	return c
}

func (s *Summary) decisionFacts() DecisionFacts {
	h := &s.hits
	d := DecisionFacts{
		Admission: counts(&s.admissions), Delays: s.delays.n, MeanDelay: s.delays.mean(), Priority: []PriorityFact{},
		Routing: []Count{}, Forced: s.routed.forced, Unroutable: s.routed.nowhere, Redirects: s.routed.redirects.n,
		Preemption: PreemptionFacts{h.preempted, h.repeated, h.evictions, s.preempted.n, s.preempted.tokens},
	}
	for i, class := range s.priorities.keys {
		a := s.priorities.values[i]
		d.Priority = append(d.Priority, PriorityFact{class, false, a.n, a.least, a.mean, a.most})
	}
	if a := s.priorities.others; s.priorities.full {
		d.Priority = append(d.Priority, PriorityFact{"", true, a.n, a.least, a.mean, a.most})
	}
	for i, reason := range s.routings.keys {
		d.Routing = append(d.Routing, Count{"route", reason, s.routings.values[i].n})
	}
	slices.SortStableFunc(d.Routing, func(a, b Count) int { return cmp.Compare(b.N, a.N) })
	if s.routings.full {
		d.Routing = append(d.Routing, Count{"others", "", s.routings.others.n})
	}
	if x := &s.scaled; x.n > 0 {
		d.Scale = &ScaleFacts{x.n, x.up, x.down, x.bounded, x.reversals, counts(&s.scalings), append([]ScaleChange{}, x.changes...)}
	}
	if h.n > 0 {
		d.Hits = &HitFacts{h.n, h.expected, h.found, h.equal, h.short, h.shortTokens, h.over, h.overTokens}
	}
	if x := &s.steps; x.n > 0 {
		n := float64(x.n)
		d.Steps = &StepFacts{x.n, float64(x.running) / n, float64(x.waiting) / n, float64(x.prefill) / n, float64(x.decode) / n}
	}
	return d
}
