package study

import "blis/metrics"

// rank gives every bundle its Pareto rank over the objectives, by their means:
// 1 for those that no other dominates, 2 for those that only bundles of rank 1
// dominate, and so on (fronts that are peeled off one after the other: Deb et
// al., "A fast and elitist multiobjective genetic algorithm: NSGA-II", IEEE
// Transactions on Evolutionary Computation 6 (2002), III A).
func (r *Result) rank() {
	places := r.places(r.Objectives)
	for front, left := 1, len(r.Bundles); left > 0; front++ {
		var peeled []int
		for b := range r.Bundles {
			if r.Bundles[b].Rank == 0 && !r.dominated(b, places) {
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
	places := r.places(r.Objectives)
	for b := range r.Bundles {
		for _, m := range places {
			if v := r.Bundles[b].Estimates[m].Verdict; v == Better || v == Worse {
				return true
			}
		}
	}
	return false
}

// dominated reports whether a bundle without a rank dominates b.
func (r *Result) dominated(b int, places []int) bool {
	for o := range r.Bundles {
		if r.Bundles[o].Rank == 0 && r.dominates(o, b, places) {
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

// places are the indices of measures in r.Measures.
func (r *Result) places(list []Measure) []int {
	var places []int
	for _, o := range list {
		for i := range r.Measures {
			if r.Measures[i].Name == o.Name {
				places = append(places, i)
			}
		}
	}
	return places
}
