package metrics

import (
	"cmp"
	"math/big"
	"slices"

	"blis/vtime"
	"blis/workload"
)

// Anomalies counts situations of a run in which a policy is a likely cause of bad
// latencies; docs/metrics.md defines each. Anomalies of one instance are in its Counters
// as well.
type Anomalies struct {
	PriorityInversion  int64         `json:"priority_inversion"`
	ClassInversion     int64         `json:"class_inversion"`       // requests
	HeadOfLineBlocking int64         `json:"head_of_line_blocking"` // requests
	BlockedHead        int64         `json:"blocked_head"`          // steps
	QueueImbalance     int64         `json:"queue_imbalance"`       // instances
	SlowWithinClass    *int64        `json:"slow_within_class"`     // pairs; null unless Options.SlowPairs
	PreemptionStorm    int64         `json:"preemption_storm"`
	ScaleOscillation   *int64        `json:"scale_oscillation"`         // null unless an autoscaler acts; set by the caller of Collect
	ShadowDivergence   *int64        `json:"shadow_divergence"`         // requests; null without a prefix index of the router
	KVThrashing        *int64        `json:"kv_thrashing"`              // entries of tiers; null without one
	PDBackpressure     *int64        `json:"pd_backpressure,omitempty"` // hand-overs; null unless instances hand requests over
	SLOViolation       SLOViolations `json:"slo_violation"`             // of classes with targets
}

// Violations are the requests of a class that had a latency beyond its target.
// One request can be in all three.
type Violations struct {
	TTFT int64 `json:"ttft"`
	TPOT int64 `json:"tpot"`
	E2E  int64 `json:"e2e"`
}

// Total is the sum over the targets.
func (v *Violations) Total() int64 { return v.TTFT + v.TPOT + v.E2E }

// ClassViolations are the violations of one class.
type ClassViolations struct {
	Class string
	Violations
}

// SLOViolations are in the order of the classes' labels.
type SLOViolations []ClassViolations

// MarshalJSON prints an object from class to violations that keeps the order.
func (s SLOViolations) MarshalJSON() ([]byte, error) {
	names := make([]string, len(s))
	for i := range s {
		names[i] = s[i].Class
	}
	return Object(names, func(i int) any { return &s[i].Violations })
}

// Total is the sum over classes and targets.
func (s SLOViolations) Total() int64 {
	n := int64(0)
	for i := range s {
		n += s[i].Total()
	}
	return n
}

// Diverges reports whether the router was wrong by a block or more about what a
// request would find in the prefix cache; false without Options.BlockSize.
func (p *Options) Diverges(o *Outcome) bool {
	if p.BlockSize == 0 || o.Scheduled == vtime.Never {
		return false
	}
	l := o.Lookup()
	return max(l.Expected-l.Cached, l.Cached-l.Expected) >= p.BlockSize
}

// divergences is the number of such requests that are measured.
func (c *collection) divergences() *int64 {
	if !c.expects() {
		return nil
	}
	n := int64(0)
	for _, cell := range c.cells {
		n += cell.diverged
	}
	return &n
}

// thrashing is the number of entries of the tiers that were loaded right after they
// were stored.
func (c *collection) thrashing() *int64 {
	if c.Tiers == nil {
		return nil
	}
	n := int64(0)
	for i := range c.Tiers {
		n += c.Tiers[i].Thrash
	}
	return &n
}

// expects reports whether the router had a prefix index.
func (c *collection) expects() bool {
	return slices.ContainsFunc(c.recorders, func(r *Recorder) bool { return r.options.BlockSize > 0 })
}

// classInversions is the number of requests that are measured and are one.
func (c *collection) classInversions() int64 {
	n := int64(0)
	for _, r := range c.recorders {
		n += r.inversions
	}
	return n
}

// anomalies reports them, given the counters of all instances together.
func (c *collection) anomalies(all *Counters) Anomalies {
	return Anomalies{
		PriorityInversion: all.PriorityInversions, ClassInversion: c.classInversions(), HeadOfLineBlocking: all.HeadOfLineBlocked,
		BlockedHead: all.BlockedHeads, PreemptionStorm: all.PreemptionStorms,
		QueueImbalance: int64(len(ImbalancedInPools(c.Counters, c.Deployments))), SlowWithinClass: c.slowPairs(), SLOViolation: c.violations(),
		ShadowDivergence: c.divergences(), KVThrashing: c.thrashing(), PDBackpressure: c.backpressure(),
	}
}

// Imbalance is an instance whose mean queue depth exceeds twice the mean over
// its pool, where each counts for as long as it lived; or one of two where a
// request or more waits in the mean, and more than four times as many as at the
// other. Of two instances that live equally long none can exceed twice the mean;
// four times the others is what twice the mean is with three.
type Imbalance struct {
	Instance int     // index
	Times    float64 // how many times that mean its own is
}

// imbalanced lists them by index, given the counters of all instances of a pool at the end
// of a run.
func imbalanced(counters []Counters) []Imbalance {
	var waiting, life, own, all big.Int // lives together may be longer than an int64 holds
	for i := range counters {
		waiting.Add(&waiting, own.SetInt64(counters[i].WaitingMicros))
		life.Add(&life, own.SetInt64(counters[i].LifeMicros))
	}
	w, _ := waiting.Float64()
	l, _ := life.Float64()
	var list []Imbalance
	for i := range counters {
		// waiting of it / its life > 2 · waiting / life
		own.Mul(own.SetInt64(counters[i].WaitingMicros), &life)
		all.Mul(all.SetInt64(counters[i].LifeMicros), &waiting)
		if own.Cmp(all.Lsh(&all, 1)) > 0 || len(counters) == 2 && busier(&counters[i], &counters[1-i]) {
			list = append(list, Imbalance{i, float64(counters[i].WaitingMicros) / float64(counters[i].LifeMicros) / (w / l)})
		}
	}
	return list
}

// ImbalancedInPools lists the instances of a run whose queue is out of balance with others of their pool, pool
// by pool; without deployments all instances are one.
func ImbalancedInPools(counters []Counters, deployments []Deployment) (list []Imbalance) {
	if len(deployments) == 0 {
		return imbalanced(counters)
	}
	for i := range deployments {
		for _, p := range deployments[i].Pools {
			for _, x := range imbalanced(countersOf(counters, p.Instances)) {
				x.Instance = p.Instances[x.Instance]
				list = append(list, x)
			}
		}
	}
	return list
}

// busier reports whether, of two instances, the queue of c is out of balance
// with the queue of other.
func busier(c, other *Counters) bool {
	var own, four, life big.Int
	own.Mul(own.SetInt64(c.WaitingMicros), life.SetInt64(other.LifeMicros))
	four.Mul(four.SetInt64(other.WaitingMicros), life.SetInt64(c.LifeMicros))
	return c.LifeMicros > 0 && c.WaitingMicros >= c.LifeMicros && own.Cmp(four.Lsh(&four, 2)) > 0
}

// violations adds up the violations of each class over its cells.
func (c *collection) violations() SLOViolations {
	list := SLOViolations{}
	cells := partition(c.keys, c.cells, len(c.Classes), func(k cellKey) workload.Label { return k.class })
	for label, name := range c.Classes {
		v, targeted := ClassViolations{Class: name}, false
		for _, cell := range cells[label] {
			v.TTFT += cell.late.TTFT
			v.TPOT += cell.late.TPOT
			v.E2E += cell.late.E2E
			targeted = targeted || cell.targeted > 0
		}
		if targeted {
			list = append(list, v)
		}
	}
	return list
}

// arrivalAndE2E is the arrival and the E2E of a completed request, µs.
type arrivalAndE2E struct{ arrival, e2e int64 }

// slowPairs counts the slow pairs of all classes; nil if no recorder has
// Options.SlowPairs.
func (c *collection) slowPairs() *int64 {
	var classes [][]arrivalAndE2E
	asked := false
	for _, r := range c.recorders {
		asked = asked || r.options.SlowPairs
		for class, list := range r.timed {
			for len(classes) <= class {
				classes = append(classes, nil)
			}
			classes[class] = append(classes[class], list...)
		}
	}
	if !asked {
		return nil
	}
	counts := make([]int64, len(classes))
	c.Each(len(classes), func(i int) { counts[i] = slowPairs(classes[i]) })
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	return &total
}

// slowPairs is the number of pairs in which the request that arrived earlier
// took more than twice as long as the one that arrived later. It orders list
// by arrival, then merges runs that are sorted by E2E and counts what is
// between them: n·log n, and exact whatever the order of list was. Counting
// such pairs takes memory for every request, so it is done only on request.
func slowPairs(list []arrivalAndE2E) int64 {
	// Of equal arrivals the quicker ones come first, so that they make no pair.
	slices.SortFunc(list, func(a, b arrivalAndE2E) int {
		return cmp.Or(cmp.Compare(a.arrival, b.arrival), cmp.Compare(a.e2e, b.e2e))
	})
	runs, merged := make([]int64, len(list)), make([]int64, len(list))
	for i := range list {
		runs[i] = list[i].e2e
	}
	pairs := int64(0)
	for width := 1; width < len(runs); width *= 2 {
		for at := 0; at < len(runs); at += 2 * width {
			middle, end := min(at+width, len(runs)), min(at+2*width, len(runs))
			pairs += mergeRuns(merged[at:end], runs[at:middle], runs[middle:end])
		}
		runs, merged = merged, runs
	}
	return pairs
}

// mergeRuns merges two sorted runs and returns the number of pairs of one
// value of each, the earlier more than twice the later.
func mergeRuns(merged, earlier, later []int64) int64 {
	pairs, i := int64(0), 0
	for _, e2e := range later {
		for i < len(earlier) && earlier[i]-e2e <= e2e {
			i++
		}
		pairs += int64(len(earlier) - i)
	}
	for k := range merged {
		if len(later) == 0 || len(earlier) > 0 && earlier[0] <= later[0] {
			merged[k], earlier = earlier[0], earlier[1:]
		} else {
			merged[k], later = later[0], later[1:]
		}
	}
	return pairs
}
