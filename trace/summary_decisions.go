package trace

import (
	"cmp"
	"errors"
	"slices"
	"strconv"

	"blis/vtime"
)

// Verdicts and actions as records have them.
const (
	admit, reject, delay = "admit", "reject", "delay"
	hold, up, down       = "hold", "up", "down"
)

// verdict is a decision or an end with its reason.
type verdict struct{ what, reason string }

// decided holds the decisions of a Summary, summed up.
type decided struct {
	admissions          table[verdict, counted]
	delays              span
	rejections          streak
	priorities          table[string, average]
	routings            table[string, counted]
	sameInstance        streak
	forced              int64
	redirects, unrouted counted
	scale               ScaleFacts
	scalings            table[verdict, counted]
	directions          table[string, string] // of the last change of scale, by pool
}

func newDecided() decided {
	return decided{
		admissions: newTable[verdict, counted](mostNames), priorities: newTable[string, average](mostClasses),
		routings: newTable[string, counted](mostNames), scalings: newTable[verdict, counted](mostNames), directions: newTable[string, string](mostNames),
	}
}

// flight holds the decisions on one request until its outcome.
type flight struct {
	delays, routings int32
	last             decision // the routing that counts
	held             heldAt   // of the last routing that says so
}

// flight returns the flight of a request, a new one if there is none.
func (s *Summary) flight(request int64) *flight {
	f := s.flights[request]
	if f == nil {
		f = &flight{}
		s.flights[request] = f
	}
	return f
}

// streak is the current and the longest row of equal decisions.
type streak struct {
	key, longestKey  int
	current, longest Streak
}

// extend continues the current row, or begins a new one.
func (s *streak) extend(key int, at vtime.Time) {
	if s.current.N == 0 || s.key != key {
		s.key, s.current = key, Streak{From: int64(at)}
	}
	s.current.N++
	s.current.To = int64(at)
	if s.current.N > s.longest.N {
		s.longestKey, s.longest = s.key, s.current
	}
}

func (s *Summary) addAdmission(r *Admission) error {
	if r.Request < 0 {
		return wrong("request", "%d, want a number from 0", r.Request)
	}
	about := example{at: r.At, request: r.Request, tenant: r.Tenant, class: r.Class, instance: -1}
	_, known := s.flights[r.Request]
	switch r.Verdict {
	case admit:
		s.flight(r.Request)
		s.decided.rejections.current.N = 0
	case reject:
		s.time.at(r.At).Rejected++
		s.decided.rejections.extend(0, r.At)
	case delay:
		if r.Delay == nil || *r.Delay < 0 {
			return wrong("delay_us", "a delay without a length, want a number from 0")
		}
		s.flight(r.Request).delays++
		s.decided.delays.add(int64(*r.Delay))
		about.value = float64(*r.Delay)
	default:
		return wrong("verdict", "%q, want admit, reject or delay", r.Verdict)
	}
	if !known { // the first decision about the request
		s.time.at(r.At).Asked++
		for _, g := range [...]*group{s.classes.at(r.Class), s.tenants.at(r.Tenant)} {
			g.Asked++
			g.series[s.time.bin(r.At)]++
		}
	}
	s.decided.admissions.at(verdict{r.Verdict, r.Reason}).add(about, s.options.Examples)
	return nil
}

func (s *Summary) addPriority(r *Priority) error {
	if !r.finite() {
		return wrong("priority", "%v is not finite", r.Priority)
	}
	s.decided.priorities.at(r.Class).add(r.Priority)
	return nil
}

func (s *Summary) addRouting(r *Routing) error {
	switch {
	case r.Request < 0:
		return wrong("request", "%d, want a number from 0", r.Request)
	case r.Target != nil && *r.Target < 0:
		return wrong("target", "%d, want the index of an instance, or null", *r.Target)
	case r.Input < 0:
		return wrong("input_tokens", "%d, want a number from 0", r.Input)
	case r.Regret != nil && *r.Regret < 0:
		return wrong("regret", "%v, want a number from 0", *r.Regret)
	case r.Held != nil && (r.Held.Target < 0 || r.Held.Most < 0):
		return wrong("held", "%d and %d tokens, want numbers from 0", r.Held.Target, r.Held.Most)
	case !r.finite():
		return errors.New("a score or a priority is not finite")
	}
	about := example{at: r.At, request: r.Request, tenant: r.Tenant, class: r.Class, instance: -1}
	if r.Forced {
		s.decided.forced++
	}
	b, f := s.time.at(r.At), s.flight(r.Request)
	if f.routings++; f.routings > 1 {
		s.decided.redirects.add(about, s.options.Examples)
		b.Redirected++
	}
	if r.Target == nil {
		s.decided.unrouted.add(about, s.options.Examples)
	} else {
		about.instance = *r.Target
		b.Routed++
		s.decided.sameInstance.extend(*r.Target, r.At)
		i := s.instances.at(*r.Target)
		i.Routed++
		i.Input += int64(r.Input)
		i.series[s.time.bin(r.At)]++
	}
	s.decided.routings.at(r.Reason).add(about, s.options.Examples)
	f.last = decisionOf(r, s.regrets.mayKeep(r))
	if h, ok := heldBy(r); ok {
		f.held = h
	}
	return nil
}

// keptChanges is how many changes of scale are kept, the first ones.
const keptChanges = 8

func (s *Summary) addScale(r *Scale) error {
	x := &s.decided.scale
	switch r.Action {
	case NoCapacity:
		x.NoCapacity++
		return nil
	case hold:
	case up:
		x.Up++
		s.time.at(r.At).ScaledUp++
	case down:
		x.Down++
		s.time.at(r.At).ScaledDown++
	default:
		return wrong("action", "%q, want hold, up, down or no_capacity", r.Action)
	}
	x.Evaluations++
	if r.Wanted != r.To {
		x.Bounded++
	}
	if r.Action != hold {
		last := s.decided.directions.at(r.Pool)
		if *last != "" && *last != r.Action {
			x.Reversals++
		}
		*last = r.Action
		if len(x.Changes) < keptChanges {
			x.Changes = append(x.Changes, ScaleChange{int64(r.At), r.Pool, r.From, r.To, r.Reason})
		}
	}
	s.decided.scalings.at(verdict{r.Action, r.Reason}).n++
	return nil
}

// decision is the last routing of a request, until its outcome is known.
type decision struct {
	Decision
	forced bool
	scored bool // it has a target and a regret
}

// decisionOf copies what is needed of r: with its candidates if asked.
func decisionOf(r *Routing, candidates bool) decision {
	d := decision{
		Decision: Decision{
			At: int64(r.At), Request: r.Request, Tenant: r.Tenant, Class: r.Class, Input: r.Input, Target: -1, Reason: r.Reason,
			Score: copied(r.Score), Best: copied(r.Best), ExpectedHit: copied(r.ExpectedHit), Candidates: []Candidate{},
		},
		forced: r.Forced, scored: r.Target != nil && r.Regret != nil,
	}
	if r.Target != nil {
		d.Target = *r.Target
	}
	if r.Regret != nil {
		d.Regret = *r.Regret
	}
	if candidates {
		for _, c := range r.Candidates {
			c.Breakdown = append([]Breakdown{}, c.Breakdown...)
			c.QueueDepth, c.BatchSize = copied(c.QueueDepth), copied(c.BatchSize)
			c.InFlight, c.UsedBlocks = copied(c.InFlight), copied(c.UsedBlocks)
			d.Candidates = append(d.Candidates, c)
		}
	}
	return d
}

// regrets are of the last routing decision of each request, in the order of
// their outcomes.
type regrets struct {
	most       int // length of worst
	all        average
	histogram  histogram
	byInstance table[int, average]
	byClass    table[string, average]
	bins       [maxBins]average // by time of decision
	worst      []Decision       // by regret, the largest first, then by request
	forced     int64            // not the policy's choice: counted apart
	unscored   int64
}

func newRegrets(most int) regrets {
	return regrets{most: most, byInstance: newTable[int, average](unlimited), byClass: newTable[string, average](mostClasses)}
}

// mayKeep reports whether a decision may turn out to be among the worst: the
// least regret among them only grows.
func (g *regrets) mayKeep(r *Routing) bool {
	if r.Regret == nil || *r.Regret == 0 || r.Forced {
		return false
	}
	return len(g.worst) < g.most || compareRegret(Decision{Regret: *r.Regret, Request: r.Request}, g.worst[len(g.worst)-1]) < 0
}

// compareRegret is negative if a is worse than b.
func compareRegret(a, b Decision) int {
	return cmp.Or(cmp.Compare(b.Regret, a.Regret), cmp.Compare(a.Request, b.Request))
}

// add takes a decision that no other decision of its request follows.
func (g *regrets) add(d *decision, time *timeBins) {
	switch x := d.Regret; {
	case !d.scored:
		g.unscored++
	case d.forced:
		g.forced++
	default:
		g.all.add(x)
		g.histogram.add(x)
		g.byInstance.at(d.Target).add(x)
		g.byClass.at(d.Class).add(x)
		g.bins[time.bin(vtime.Time(d.At))].add(x)
		if x > 0 {
			i, _ := slices.BinarySearchFunc(g.worst, d.Decision, compareRegret)
			g.worst = keep(g.worst, i, d.Decision, g.most)
		}
	}
}

// clone is a copy to which more can be added.
func (g *regrets) clone() regrets {
	c := *g
	c.histogram = g.histogram.clone()
	c.byInstance, c.byClass = g.byInstance.clone(), g.byClass.clone()
	c.worst = slices.Clone(g.worst)
	return c
}

// regretFacts are null for a trace without scores.
func (s *Summary) regretFacts(g *regrets) *RegretFacts {
	if g.all.n+g.forced == 0 {
		return nil
	}
	h := &g.histogram
	f := &RegretFacts{
		Decisions: g.all.n, Forced: g.forced, Unscored: g.unscored, Superseded: s.decided.redirects.n, None: h.zeros,
		Mean: g.all.mean, P50: h.percentile(50), P90: h.percentile(90), P99: h.percentile(99), Max: g.all.most,
		ByInstance: []RegretShare{}, ByClass: []RegretShare{}, ByTime: []RegretBin{}, Worst: append([]Decision{}, g.worst...), WithOutcome: s.regrets.all.n,
	}
	for i, k := range g.byInstance.keys {
		f.ByInstance = append(f.ByInstance, where(strconv.Itoa(k), g.byInstance.values[i], g.all))
	}
	slices.SortFunc(f.ByInstance, func(a, b RegretShare) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	if n := len(f.ByInstance); n > mostListed {
		f.LeftOut = n - mostListed
		f.ByInstance = f.ByInstance[:mostListed]
	}
	for i, k := range g.byClass.keys {
		f.ByClass = append(f.ByClass, where(k, g.byClass.values[i], g.all))
	}
	slices.SortStableFunc(f.ByClass, func(a, b RegretShare) int { return cmp.Compare(b.Share, a.Share) })
	if g.byClass.full {
		w := where("", g.byClass.others, g.all)
		w.Others = true
		f.ByClass = append(f.ByClass, w)
	}
	for i, a := range g.bins {
		if a.n > 0 {
			from, to := s.time.bins.bounds(i)
			f.ByTime = append(f.ByTime, RegretBin{int64(from), int64(to), a.n, a.mean, a.most, a.shareOf(g.all)})
		}
	}
	return f
}

func where(name string, a, all average) RegretShare {
	return RegretShare{Name: name, N: a.n, Mean: a.mean, Max: a.most, Share: a.shareOf(all)}
}
