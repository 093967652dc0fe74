package study

import (
	"context"
	"fmt"
	"math"

	"blis/actors"
	"blis/vtime"
)

// Method is where the confidence intervals of a comparison come from.
type Method string

// Methods.
const (
	// FromSeeds: every bundle runs with several seeds; Student's t over them.
	FromSeeds Method = "seeds"
	// Bootstrap: every bundle runs once; the windows of time of that run are
	// resampled, in blocks, the same ones for all bundles.
	Bootstrap Method = "bootstrap"
	// Exact: every bundle runs once and there are no intervals: seeds change
	// nothing, or the run is too short for the bootstrap. Differences are those
	// of this one traffic.
	Exact Method = "none"
)

// methods lists the methods that can be asked for.
func methods() []Method { return []Method{FromSeeds, Bootstrap} }

// Intervals says how the confidence intervals of a result were computed.
type Intervals struct {
	Method Method

	// Of the bootstrap:
	Windows int            // that the arrivals of a run are cut into
	Width   vtime.Duration // of a window
	Block   int            // windows that are drawn together
	Series  int            // how often windows are drawn

	Needed int // windows that a block would need; more than Block: it may not be longer
}

// Trending reports whether windows depend on each other over longer than blocks
// may last: load that rises, or a day. Then intervals are too narrow.
func (i *Intervals) Trending() bool { return i.Needed > i.Block }

// chooseIntervals settles where intervals come from, and how many replicates
// that takes.
func (p *Plan) chooseIntervals() error {
	c := &p.comparison
	chance := p.result.Bundles[0].Setup.Chance
	traffic := chance.Traffic || c.Source != nil
	method := c.Intervals
	if method == "" {
		method = Bootstrap
		if traffic {
			method = FromSeeds
		}
	}
	p.result.Intervals.Method, p.result.Planned = method, 1
	if method == Bootstrap {
		return nil
	}
	if c.Replicates < 2 || c.Replicates > 1<<20 {
		return &actors.InputError{Text: fmt.Sprintf("--seeds is %d: want 2 to %d: intervals need two runs of each bundle", c.Replicates, 1<<20)}
	}
	draws := traffic
	for i := range p.result.Bundles {
		draws = draws || p.result.Bundles[i].Setup.Chance.Decisions
	}
	if !draws {
		p.result.Intervals.Method = Exact
		return nil
	}
	p.result.Planned = c.Replicates
	return nil
}

// countRuns settles how often each bundle runs: not at all when another one is
// the same or it cannot, once when its seeds decide nothing.
func (p *Plan) countRuns() {
	p.runs = make([]int, len(p.result.Bundles))
	for i := range p.result.Bundles {
		b := &p.result.Bundles[i]
		switch {
		case p.first[i] != i || b.Err != nil:
		case p.comparison.Source != nil || b.Setup.Chance.Traffic || b.Setup.Chance.Decisions:
			p.runs[i] = p.result.Planned
		default:
			p.runs[i] = 1
		}
		b.Runs = p.runs[i]
	}
}

// bootstrap enters the intervals of a comparison whose bundles ran once. The
// same windows are drawn for all bundles, so differences are resampled in pairs.
func (p *Plan) bootstrap(ctx context.Context, book *taskResults, r *Result) error {
	var samples []*sample
	for b, s := range book.samples {
		if s != nil && r.Bundles[b].Err == nil {
			samples = append(samples, s)
		}
	}
	cut := spanOf(samples)
	if cut.windows == 0 {
		r.Intervals.Method, r.short = Exact, true
		return nil
	}
	tables := make([]*table, len(book.samples))
	each := func(do func(b int)) error {
		pool := Pool{Workers: p.comparison.Pool.Workers}
		_, err := pool.Each(ctx, len(tables), func(_ context.Context, b int) error {
			if book.samples[b] != nil && r.Bundles[b].Err == nil {
				do(b)
			}
			return nil
		})
		return err
	}
	if err := each(func(b int) { tables[b] = newTable(book.samples[b], &cut) }); err != nil {
		return err
	}
	needed := neededBlock(tables)
	r.Intervals = Intervals{Method: Bootstrap, Windows: cut.windows, Width: cut.width(), Block: min(needed, cut.windows/fewestBlocks), Series: resamples, Needed: needed}
	series := make([][][]float64, len(tables)) // [bundle][measure][series]
	if err := each(func(b int) { series[b] = tables[b].resample(r.Measures, p.seeds(0).Workload, r.Intervals.Block) }); err != nil {
		return err
	}
	for b := range r.Bundles {
		if r.Bundles[b].Err == nil {
			r.setIntervals(b, series[p.first[b]], series[0])
		}
	}
	return nil
}

// neededBlock is how many windows a block needs: for the series of arrivals, of
// TTFT and of E2E that needs most, in the median of the bundles.
func neededBlock(tables []*table) int {
	var lengths [3][]float64
	for _, t := range tables {
		if t == nil {
			continue
		}
		for k, series := range [...][]float64{t.arrivals(), t.means(ofTTFT), t.means(ofE2E)} {
			lengths[k] = append(lengths[k], blockLength(series))
		}
	}
	return int(math.Ceil(max(median(lengths[0]), median(lengths[1]), median(lengths[2]))))
}

// arrivals is the number of requests by window.
func (t *table) arrivals() []float64 {
	var list []float64
	for w := range t.counts {
		list = append(list, float64(t.counts[w][injected]))
	}
	return list
}

// means is the mean of a latency by window; the mean of all where there is none.
func (t *table) means(latency int) []float64 {
	sum, n := int64(0), int64(0)
	for w := range t.sums {
		sum += t.sums[w][latency]
		n += t.sizes[w][latency]
	}
	var list []float64
	for w := range t.sums {
		mean := share(float64(t.sums[w][latency]), float64(t.sizes[w][latency]))
		if mean == nil {
			all := float64(sum) / float64(max(1, n))
			mean = &all
		}
		list = append(list, *mean)
	}
	return list
}

// setIntervals gives the estimates of bundle b their intervals, from the series
// of each measure and the series of the baseline.
func (r *Result) setIntervals(b int, series, base [][]float64) {
	half := func(series []float64) *float64 {
		return blockedHalfWidth(series, r.Intervals.Windows, r.Intervals.Block, r.Confidence)
	}
	for m := range r.Measures {
		e := &r.Bundles[b].Estimates[m]
		if e.Mean == nil || series[m] == nil {
			continue
		}
		e.HalfWidth = half(series[m])
		if e.Difference == nil {
			continue
		}
		differences := make([]float64, len(series[m]))
		for i, x := range series[m] {
			differences[i] = x - base[m][i]
		}
		e.Difference.HalfWidth = half(differences)
	}
}
