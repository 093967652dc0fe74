package metrics

import "blis/workload"

// Curve is points of a distribution function: Share[i] of N samples are at most
// Micros[i] µs, the one of rank Share[i]·N − 1. Points ascend and are exact order statistics; they lie denser the
// nearer a share is to 1: the last are at 1 − 1/N and 1.
type Curve struct {
	N      int64     `json:"n"`
	Share  []float64 `json:"share"`
	Micros []int64   `json:"us"`
}

// mostPoints is how many points a Curve has at most.
const mostPoints = 200

// Curve computes points of the distribution function; nil if there is no sample.
func (d *Distribution) Curve() *Curve {
	n := d.N()
	if n == 0 {
		return nil
	}
	ranks := curveRanks(n)
	c := &Curve{N: n, Micros: make([]int64, len(ranks))}
	d.selectByRuns(ranks, c.Micros)
	for _, r := range ranks {
		c.Share = append(c.Share, float64(r+1)/float64(n))
	}
	return c
}

// curveRanks are the ranks of the points: each hundredth up to 90 %, then what is left
// shrinks by a constant factor, the nearest to 1 with which the points are few enough.
func curveRanks(n int64) []int64 {
	const body = 90
	for shrink := int64(10); ; shrink-- { // by 1/shrink
		var ranks []int64
		add := func(rank int64) {
			if len(ranks) == 0 || rank > ranks[len(ranks)-1] {
				ranks = append(ranks, rank)
			}
		}
		for i := range int64(body) + 1 {
			add((n-1)/100*i + (n-1)%100*i/100)
		}
		for left := n / 10; left > 0; left = min(left-1, left-left/shrink) {
			add(n - 1 - left)
		}
		add(n - 1)
		if len(ranks) <= mostPoints || shrink == 2 {
			return ranks
		}
	}
}

// ScopeCurves are the curves of the latencies of a part of the requests; nil where there
// is no sample.
type ScopeCurves struct {
	TTFT *Curve `json:"ttft_us"`
	TPOT *Curve `json:"tpot_us"`
	ITL  *Curve `json:"itl_us"`
	E2E  *Curve `json:"e2e_us"`
}

// Curves are the latencies of a run as curves, of all requests and of each class.
type Curves struct {
	Overall  ScopeCurves `json:"overall"`
	PerClass ClassCurves `json:"per_class"`
}

// ClassCurves are in the order of the classes' labels.
type ClassCurves []NamedCurves

// NamedCurves are the curves of a class.
type NamedCurves struct {
	Name string
	ScopeCurves
}

// MarshalJSON prints an object from class to curves that keeps the order.
func (list ClassCurves) MarshalJSON() ([]byte, error) {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return Object(names, func(i int) any { return &list[i].ScopeCurves })
}

// NewCurves are the curves of a run that Collect has reported without an error. The
// recorders are not changed.
func NewCurves(run Run) *Curves {
	c := collection{Run: run}
	if c.Each == nil {
		c.Each = sequentially
	}
	c.merge()
	of := func(cells []*cell, groups []*Distribution) ScopeCurves {
		all, itl := mergeCells(cells), mergeDistributions(groups)
		return ScopeCurves{all.ttft.Curve(), all.tpot.Curve(), itl.Curve(), all.e2e.Curve()}
	}
	curves := &Curves{Overall: of(c.cells, c.groups.list), PerClass: ClassCurves{}}
	cells := partition(c.keys, c.cells, len(c.Classes), func(k cellKey) workload.Label { return k.class })
	groups := partition(c.groups.keys, c.groups.list, len(c.Classes), func(k groupKey) workload.Label { return k.class })
	for i, name := range c.Classes {
		scope := curves.Overall
		if len(cells[i]) < len(c.cells) || len(groups[i]) < len(c.groups.list) {
			scope = of(cells[i], groups[i])
		}
		curves.PerClass = append(curves.PerClass, NamedCurves{name, scope})
	}
	return curves
}
