package trace

import (
	"cmp"
	"slices"

	"blis/vtime"
)

func (w *twin) comparison() *Comparison {
	all := filter(w.outcomes, judged)
	if len(all) == 0 {
		return nil
	}
	missed := filter(all, func(o *Outcome) bool { return !*o.SLOMet })
	met := filter(all, metTargets)
	wait := func(list []*Outcome) *float64 {
		var of []float64
		for _, o := range list {
			if o.QueueWait != nil {
				of = append(of, float64(*o.QueueWait))
			}
		}
		if len(of) == 0 {
			return nil
		}
		return pointer(meanOf(of))
	}
	c := &Comparison{int64(len(missed)), int64(len(met)), []Trait{}, wait(missed), wait(met)}
	always := func(*Outcome) bool { return true }
	compared := func(o *Outcome) bool { return o.Expected != nil && o.ActualHit != nil }
	last := func(o *Outcome) *Routing {
		if of := w.routingsOf[o.Request]; len(of) > 0 {
			return of[len(of)-1]
		}
		return nil
	}
	scored := func(o *Outcome) bool {
		r := last(o)
		return r != nil && r.Regret != nil && r.Target != nil && !r.Forced
	}
	for _, t := range []struct {
		name      string
		known, is func(*Outcome) bool
	}{
		{"not_completed", always, func(o *Outcome) bool { return !isCompleted(o) }},
		{"preempted", always, func(o *Outcome) bool { return o.Preempted > 0 }},
		{"redirected", always, func(o *Outcome) bool { return len(w.routingsOf[o.Request]) > 1 }},
		{"delayed", always, func(o *Outcome) bool {
			return slices.ContainsFunc(w.admissionsOf[o.Request], func(a *Admission) bool { return a.Verdict == "delay" })
		}},
		{"regret", scored, func(o *Outcome) bool { return scored(o) && *last(o).Regret > 0 }},
		{"hit_shortfall", compared, func(o *Outcome) bool { return compared(o) && *o.ActualHit < *o.Expected }},
	} {
		if x := (Trait{t.name, count(missed, t.is), count(missed, t.known), count(met, t.is), count(met, t.known)}); x.Missed+x.Met > 0 {
			c.Traits = append(c.Traits, x)
		}
	}
	return c
}

func (w *twin) decisionFacts() DecisionFacts {
	var verdicts, reasons, actions []verdict
	var delays []float64
	for _, a := range w.admissions {
		verdicts = append(verdicts, verdict{a.Verdict, a.Reason})
		if a.Delay != nil {
			delays = append(delays, float64(*a.Delay))
		}
	}
	for _, r := range w.routings {
		reasons = append(reasons, verdict{"route", r.Reason})
	}
	d := DecisionFacts{
		Admission: w.tally(verdicts), Delays: int64(len(delays)), Priority: []PriorityFact{}, Routing: w.tally(reasons),
		Forced: count(w.routings, func(r *Routing) bool { return r.Forced }), Unroutable: count(w.routings, func(r *Routing) bool { return r.Target == nil }),
		Redirects: int64(len(w.routings) - len(w.last())),
	}
	if len(delays) > 0 {
		d.MeanDelay = pointer(meanOf(delays))
	}
	for _, class := range distinct(w.priorities, func(p *Priority) string { return p.Class }) {
		var of []float64
		for _, p := range w.priorities {
			if p.Class == class {
				of = append(of, p.Priority)
			}
		}
		d.Priority = append(d.Priority, PriorityFact{class, false, int64(len(of)), slices.Min(of), meanOf(of), slices.Max(of)})
	}
	for _, o := range w.outcomes {
		d.Preemption.Preemptions += int64(o.Preempted)
	}
	d.Preemption.Requests = count(w.outcomes, func(o *Outcome) bool { return o.Preempted >= 1 })
	d.Preemption.Repeatedly = count(w.outcomes, func(o *Outcome) bool { return o.Preempted >= 2 })
	d.Preemption.Records = int64(len(w.preemptions))
	for _, p := range w.preemptions {
		d.Preemption.Tokens += int64(p.Computed)
	}
	evaluations := filter(w.scales, func(s *Scale) bool { return s.Action != NoCapacity })
	if len(evaluations) > 0 {
		s := &ScaleFacts{Evaluations: int64(len(evaluations)), NoCapacity: int64(len(w.scales) - len(evaluations)), Changes: []ScaleChange{}}
		changes := filter(evaluations, func(s *Scale) bool { return s.Action != "hold" })
		for i, c := range changes {
			if before := filter(changes[:i], func(b *Scale) bool { return b.Pool == c.Pool }); len(before) > 0 && before[len(before)-1].Action != c.Action {
				s.Reversals++
			}
			if i < 8 {
				s.Changes = append(s.Changes, ScaleChange{int64(c.At), c.Pool, c.From, c.To, c.Reason})
			}
		}
		s.Up, s.Down = count(changes, func(s *Scale) bool { return s.Action == "up" }), count(changes, func(s *Scale) bool { return s.Action == "down" })
		s.Bounded = count(evaluations, func(s *Scale) bool { return s.Wanted != s.To })
		for _, c := range evaluations {
			actions = append(actions, verdict{c.Action, c.Reason})
		}
		s.Reasons = w.tally(actions)
		d.Scale = s
	}
	d.Hits = w.hitFacts()
	if n := float64(len(w.batches)); n > 0 {
		s := &StepFacts{Steps: int64(n)}
		for _, b := range w.batches {
			s.MeanRunning += float64(b.Running) / n
			s.MeanWaiting += float64(b.Waiting) / n
			s.PrefillTokens += float64(b.PrefillTokens) / n
			s.DecodeTokens += float64(b.DecodeTokens) / n
		}
		d.Steps = s
	}
	return d
}

func (w *twin) hitFacts() *HitFacts {
	h := &HitFacts{}
	for _, o := range w.outcomes {
		if o.Expected == nil || o.ActualHit == nil {
			continue
		}
		expected, found := int64(*o.Expected), int64(*o.ActualHit)
		h.Requests++
		h.Expected += expected
		h.Found += found
		switch {
		case found < expected:
			h.Fewer++
			h.FewerTokens += expected - found
		case found > expected:
			h.More++
			h.MoreTokens += found - expected
		default:
			h.Equal++
		}
	}
	if h.Requests == 0 {
		return nil
	}
	return h
}

// indices are the instances that some record names.
func (w *twin) indices() []int {
	var all []int
	for _, r := range w.records {
		switch r := r.(type) {
		case *Routing:
			if r.Target != nil {
				all = append(all, *r.Target)
			}
		case *Batch:
			all = append(all, r.Instance)
		case *Preemption:
			all = append(all, r.Instance)
		case *Anomaly:
			if r.Instance != nil {
				all = append(all, *r.Instance)
			}
		case *Outcome:
			if r.Instance != nil {
				all = append(all, *r.Instance)
			}
		}
	}
	return distinct(all, func(i int) int { return i })
}

func (w *twin) instanceFacts() InstanceFacts {
	routed := filter(w.routings, func(r *Routing) bool { return r.Target != nil })
	f := InstanceFacts{N: w.header.Instances, List: []InstanceFact{}}
	f.Unused = f.N
	for _, i := range w.indices() {
		x := w.instanceFact(i, routed)
		if x.Routed > 0 {
			f.Unused--
		}
		f.List = append(f.List, x)
	}
	slices.SortFunc(f.List, func(a, b InstanceFact) int {
		return cmp.Or(cmp.Compare(b.Routed, a.Routed), cmp.Compare(a.Instance, b.Instance))
	})
	balance := func(of []*Routing, weight func(*Routing) int64) *Balance {
		b := &Balance{Instance: new(int), Max: -1}
		for _, i := range slices.Sorted(slices.Values(w.indices())) {
			n := int64(0)
			for _, r := range of {
				if *r.Target == i {
					n += weight(r)
				}
			}
			b.Total += n
			if n > b.Max {
				*b.Instance, b.Max = i, n
			}
		}
		if b.Total <= 0 {
			return nil
		}
		b.Mean = float64(b.Total) / float64(f.N)
		b.Ratio = float64(b.Max) / b.Mean
		return b
	}
	one := func(*Routing) int64 { return 1 }
	f.Routed, f.Input = balance(routed, one), balance(routed, func(r *Routing) int64 { return int64(r.Input) })
	for b := range maxBins {
		x := balance(filter(routed, func(r *Routing) bool { return w.bin(r.At) == b }), one)
		if x != nil && (f.Worst == nil || float64(x.Max)-x.Mean > float64(f.Worst.Max)-f.Worst.Mean) && float64(x.Max) > x.Mean {
			from := int64(w.origin()) + int64(b)*int64(w.width)
			x.From, x.To = &from, pointer(from+int64(w.width))
			f.Worst = x
		}
	}
	return f
}

func (w *twin) instanceFact(i int, routed []*Routing) InstanceFact {
	own := filter(routed, func(r *Routing) bool { return *r.Target == i })
	ended := filter(w.outcomes, func(o *Outcome) bool { return o.Instance != nil && *o.Instance == i })
	steps := filter(w.batches, func(b *Batch) bool { return b.Instance == i })
	x := InstanceFact{
		Instance: i, Routed: int64(len(own)), Ended: int64(len(ended)), Judged: count(ended, judged), Met: count(ended, metTargets),
		Preemptions: count(w.preemptions, func(p *Preemption) bool { return p.Instance == i }),
		Anomalies:   count(w.anomalies, func(a *Anomaly) bool { return a.Instance != nil && *a.Instance == i }), Steps: int64(len(steps)),
	}
	if len(routed) > 0 {
		x.Share = float64(x.Routed) / float64(len(routed))
	}
	for _, r := range own {
		x.Input += int64(r.Input)
	}
	hit, of := 0.0, 0.0
	for _, o := range ended {
		if rs := w.routingsOf[o.Request]; o.ActualHit != nil && len(rs) > 0 {
			hit += float64(*o.ActualHit)
			of += float64(rs[0].Input)
		}
	}
	if of > 0 {
		x.HitRate = pointer(hit / of)
	}
	if n := float64(len(steps)); n > 0 {
		x.MeanRunning, x.MeanWaiting, x.MaxWaiting, x.MaxBlocks = new(float64), new(float64), new(int64), new(int64)
		for _, b := range steps {
			*x.MeanRunning += float64(b.Running) / n
			*x.MeanWaiting += float64(b.Waiting) / n
			*x.MaxWaiting, *x.MaxBlocks = max(*x.MaxWaiting, int64(b.Waiting)), max(*x.MaxBlocks, b.UsedBlocks)
		}
	}
	return x
}

// firsts are the first admission decisions of requests.
func (w *twin) firsts() []*Admission {
	return filter(w.admissions, func(a *Admission) bool { return w.admissionsOf[a.Request][0] == a })
}

func (w *twin) patternFacts() PatternFacts {
	f := PatternFacts{Bins: []Bin{}, Classes: []GroupFact{}, Tenants: []GroupFact{}, Streaks: []Streak{}, Bursts: []TenantBurst{}}
	if len(w.records) == 1 {
		return f
	}
	f.BinWidth = pointer(int64(w.width))
	n := w.bin(w.to) + 1
	for b := range n {
		in := func(t vtime.Time) bool { return w.bin(t) == b }
		from := int64(w.origin()) + int64(b)*int64(w.width)
		ended := filter(w.outcomes, func(o *Outcome) bool { return in(o.At) })
		x := Bin{
			From: from, To: from + int64(w.width), Asked: count(w.firsts(), func(a *Admission) bool { return in(a.At) }),
			Rejected:    count(w.admissions, func(a *Admission) bool { return in(a.At) && a.Verdict == "reject" }),
			Routed:      count(w.routings, func(r *Routing) bool { return in(r.At) && r.Target != nil }),
			Redirected:  count(w.routings, func(r *Routing) bool { return in(r.At) && w.routingsOf[r.Request][0] != r }),
			Ended:       int64(len(ended)),
			Judged:      count(ended, judged),
			Met:         count(ended, metTargets),
			Preemptions: count(w.preemptions, func(p *Preemption) bool { return in(p.At) }),
			Anomalies:   count(w.anomalies, func(a *Anomaly) bool { return in(a.At) }),
			ScaledUp:    count(w.scales, func(s *Scale) bool { return in(s.At) && s.Action == "up" }),
			ScaledDown:  count(w.scales, func(s *Scale) bool { return in(s.At) && s.Action == "down" }),
		}
		x.Burst = float64(x.Asked) > 2*float64(len(w.firsts()))/float64(n)
		if of := values(filter(w.last(), func(r *Routing) bool { return in(r.At) && r.Regret != nil && r.Target != nil && !r.Forced })); len(of) > 0 {
			x.Regret = pointer(meanOf(of))
		}
		f.Bins = append(f.Bins, x)
	}
	for _, class := range w.classNames() {
		f.Classes = append(f.Classes, w.group(class, n, func(_, c string) bool { return c == class }))
	}
	for _, tenant := range distinct(w.admissions, func(a *Admission) string { return a.Tenant }) {
		f.Tenants = append(f.Tenants, w.group(tenant, n, func(t, _ string) bool { return t == tenant }))
	}
	for _, list := range [][]GroupFact{f.Classes, f.Tenants} {
		slices.SortFunc(list, func(a, b GroupFact) int {
			return cmp.Or(cmp.Compare(b.Asked, a.Asked), cmp.Compare(b.Ended, a.Ended), cmp.Compare(a.Name, b.Name))
		})
	}
	f.Streaks, f.Bursts = w.streaks(), w.bursts(n)
	return f
}

func (w *twin) streaks() []Streak {
	list := []Streak{}
	routed := filter(w.routings, func(r *Routing) bool { return r.Target != nil })
	decided := filter(w.admissions, func(a *Admission) bool { return a.Verdict != "delay" })
	longest := func(kind string, n int, like func(i, j int) bool, at func(int) vtime.Time) (x Streak) {
		for i := range n {
			j := i
			for j < n && like(i, j) {
				j++
			}
			if int64(j-i) > x.N {
				x = Streak{Kind: kind, N: int64(j - i), From: int64(at(i)), To: int64(at(j - 1))}
				if kind == "routed" {
					x.Instance = routed[i].Target
				}
			}
		}
		return x
	}
	a := longest("routed", len(routed), func(i, j int) bool { return *routed[i].Target == *routed[j].Target }, func(i int) vtime.Time { return routed[i].At })
	b := longest("rejected", len(decided), func(_, j int) bool { return decided[j].Verdict == "reject" }, func(i int) vtime.Time { return decided[i].At })
	for _, x := range []Streak{a, b} {
		if x.N > 1 {
			list = append(list, x)
		}
	}
	return list
}
