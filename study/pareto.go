package study

import (
	"cmp"
	"slices"

	"blis/metrics"
)

// rank gives every bundle its Pareto rank over the objectives, by their means:
// 1 for those that no other dominates, 2 for those that only bundles of rank 1
// dominate, and so on (fronts that are peeled off one after the other: Deb et
// al., "A fast and elitist multiobjective genetic algorithm: NSGA-II", IEEE
// Transactions on Evolutionary Computation 6 (2002), III A).
func (r *Result) rank() {
	places := r.measureIndices(r.Objectives)
	left := 0
	for b := range r.Bundles {
		if r.Bundles[b].Err == nil {
			left++
		}
	}
	for front := 1; left > 0; front++ {
		var peeled []int
		for b := range r.Bundles {
			if r.Bundles[b].unranked() && !r.dominated(b, places) {
				peeled = append(peeled, b)
			}
		}
		for _, b := range peeled {
			r.Bundles[b].Rank = front
		}
		left -= len(peeled)
	}
}

// Decided reports whether any objective of any bundle is better or worse than
// the baseline's. Ranks go by means, which always differ by a little; without a
// significant difference they are chance.
func (r *Result) Decided() bool {
	places := r.measureIndices(r.Objectives)
	for b := range r.Bundles {
		if better, worse := r.Bundles[b].countVerdicts(places); better+worse > 0 {
			return true
		}
	}
	return false
}

// countVerdicts counts the measures in which the bundle is better, and worse,
// than the baseline.
func (c *Compared) countVerdicts(places []int) (better, worse int) {
	for _, m := range places {
		if c.Err != nil {
			break
		}
		switch c.Estimates[m].Verdict {
		case Better:
			better++
		case Worse:
			worse++
		}
	}
	return better, worse
}

// unranked reports whether a bundle waits for its rank.
func (c *Compared) unranked() bool { return c.Err == nil && c.Rank == 0 }

// dominated reports whether a bundle without a rank dominates b.
func (r *Result) dominated(b int, places []int) bool {
	for o := range r.Bundles {
		if r.Bundles[o].unranked() && r.dominates(o, b, places) {
			return true
		}
	}
	return false
}

// dominates: a is in no objective worse than b and in one better.
func (r *Result) dominates(a, b int, places []int) bool {
	better := false
	for _, m := range places {
		switch prefer(r.Bundles[a].Estimates[m].Mean, r.Bundles[b].Estimates[m].Mean, r.Measures[m].Better) {
		case 1:
			better = true
		case -1:
			return false
		}
	}
	return better
}

// prefer is 1 when x is better than y, −1 when it is worse, 0 when neither. A
// missing value is worse than any: a bundle that completes nothing has no
// latency.
func prefer(x, y *float64, better metrics.Direction) int {
	switch {
	case x == nil && y == nil:
		return 0
	case y == nil:
		return 1
	case x == nil:
		return -1
	case *x == *y:
		return 0
	case (*x > *y) == (better == metrics.Higher):
		return 1
	}
	return -1
}

// order ranks the bundles from the best to the worst: by mean fitness if there is
// one; else by Pareto rank, then by objectives in which a bundle is better than
// the baseline less those in which it is worse. Equals stay in the order in
// which they were given; those with an error come last.
func (r *Result) order() {
	places, fitness := r.measureIndices(r.Objectives), r.measureIndex("fitness")
	net := func(b int) int {
		better, worse := r.Bundles[b].countVerdicts(places)
		return better - worse
	}
	r.Ranking = nil
	for b := range r.Bundles {
		r.Ranking = append(r.Ranking, b)
	}
	slices.SortStableFunc(r.Ranking, func(x, y int) int {
		a, b := &r.Bundles[x], &r.Bundles[y]
		switch {
		case a.Err != nil || b.Err != nil:
			return failed(a.Err) - failed(b.Err)
		case r.Weighed():
			return prefer(b.Estimates[fitness].Mean, a.Estimates[fitness].Mean, metrics.Higher)
		}
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(net(y), net(x)))
	})
}

func failed(err error) int {
	if err != nil {
		return 1
	}
	return 0
}

// measureIndex returns the index of a measure in r.Measures.
func (r *Result) measureIndex(name string) int {
	return slices.IndexFunc(r.Measures, func(m Measure) bool { return m.Name == name })
}

// measureIndices returns the indices of measures in r.Measures.
func (r *Result) measureIndices(list []Measure) []int {
	var places []int
	for _, o := range list {
		places = append(places, r.measureIndex(o.Name))
	}
	return places
}
