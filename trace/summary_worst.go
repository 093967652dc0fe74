package trace

import (
	"cmp"
	"slices"

	"blis/vtime"
)

// example is something that happened, for a reader to look up in the trace.
type example struct {
	at            vtime.Time
	request       int64 // −1: of no request
	instance      int   // −1: of no instance
	tenant, class string
	value         float64 // by which the largest are kept
}

// examples are the largest by value, then the earliest.
type examples []example

// add keeps x if it is among the largest.
func (e *examples) add(x example, most int) {
	i, _ := slices.BinarySearchFunc(*e, x, func(a, b example) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.at, b.at), cmp.Compare(a.request, b.request), -1)
	})
	*e = keep(*e, i, x, most)
}

// keep puts x at i, in a list of limited length.
func keep[T any](list []T, i int, x T, most int) []T {
	if i >= most {
		return list
	}
	if len(list) == most {
		list = list[:most-1]
	}
	return slices.Insert(list, i, x)
}

// decision is a routing decision, until it is known what came of it.
type decision struct {
	at            vtime.Time
	request       int64
	tenant, class string
	input         int32
	target        int // −1: none
	reason        string
	forced        bool
	score, best   *float64
	regret        *float64
	expected      *int32
	candidates    []Candidate // of those that may be among the worst
	ending        *Ending     // nil: not known
}

// decisionOf copies what is needed of r; with its candidates if asked.
func decisionOf(r *Routing, candidates bool) decision {
	d := decision{
		at: r.At, request: r.Request, tenant: r.Tenant, class: r.Class, input: r.Input, target: -1,
		reason: r.Reason, forced: r.Forced, score: copied(r.Score), best: copied(r.Best), regret: copied(r.Regret),
		expected: copied(r.ExpectedHit),
	}
	if r.Target != nil {
		d.target = *r.Target
	}
	if candidates {
		for _, c := range r.Candidates {
			c.Breakdown = append([]Breakdown{}, c.Breakdown...)
			c.QueueDepth, c.BatchSize = copied(c.QueueDepth), copied(c.BatchSize)
			c.InFlight, c.UsedBlocks = copied(c.InFlight), copied(c.UsedBlocks)
			d.candidates = append(d.candidates, c)
		}
	}
	return d
}

// regrets are of the last routing decision of each request, in the order of
// their outcomes.
type regrets struct {
	most       int // of worst
	all        average
	histogram  histogram
	byInstance table[int, average]
	byClass    table[string, average]
	bins       [maxBins]average // by time of decision
	worst      []decision       // by regret, the largest first, then by request
	forced     int64            // not the policy's choice: counted apart
	unscored   int64            // without target or scores
}

func newRegrets(most int) regrets {
	return regrets{most: most, byInstance: newTable[int, average](unlimited), byClass: newTable[string, average](mostClasses)}
}

// mayKeep says whether a decision may turn out to be among the worst: the
// least of the worst only grows.
func (g *regrets) mayKeep(r *Routing) bool {
	if r.Regret == nil || *r.Regret == 0 || r.Forced {
		return false
	}
	return len(g.worst) < g.most || compareRegret(*r.Regret, r.Request, &g.worst[len(g.worst)-1]) < 0
}

// compareRegret is negative if a decision with that regret is worse than d.
func compareRegret(regret float64, request int64, d *decision) int {
	return cmp.Or(cmp.Compare(*d.regret, regret), cmp.Compare(request, d.request))
}

// add takes a decision that no other of its request follows.
func (g *regrets) add(d decision, clock *timeBins) {
	switch {
	case d.regret == nil || d.target < 0:
		g.unscored++
		return
	case d.forced:
		g.forced++
		return
	}
	x := *d.regret
	g.all.add(x)
	g.histogram.add(x)
	g.byInstance.at(d.target).add(x)
	g.byClass.at(d.class).add(x)
	g.bins[clock.bin(d.at)].add(x)
	if x > 0 {
		i, _ := slices.BinarySearchFunc(g.worst, d, func(a, b decision) int {
			return compareRegret(*a.regret, a.request, &b)
		})
		g.worst = keep(g.worst, i, d, g.most)
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
