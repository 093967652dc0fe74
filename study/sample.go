package study

import (
	"cmp"
	"slices"

	"blis/actors"
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// sample holds the measured requests of a run, for the bootstrap.
type sample struct {
	requests []observed // in order of arrival
	figures  *metrics.RunFigures
	fitness  metrics.Fitness
}

// observed is the numbers of a request that measures need.
type observed struct {
	arrival   vtime.Time
	latency   [sampledLatencies]int64 // µs; −1: it has none
	itl       int64                   // Σ gaps between its tokens, µs
	gaps      int64                   // their number
	counts    [counted]int64
	tenant    workload.Label
	completed bool
}

// The latencies whose percentiles are resampled.
const (
	ofTTFT = iota
	ofTPOT
	ofE2E
	ofSchedulingDelay
	sampledLatencies
)

// The numbers that are counted per window.
const (
	injected = iota
	completed
	targeted
	attained
	refused   // by admission
	undecided // admission had no time to
	outputTokens
	lookedUp // prompt tokens of requests that were scheduled
	cached   // of them found in prefix caches
	preemptions
	counted
)

// observe adds a request if it is measured.
func (s *sample) observe(r *actors.Row) {
	if !r.Measured() {
		return
	}
	o := observed{arrival: r.Arrival, tenant: r.Tenant, completed: r.State == metrics.Completed}
	o.latency = [sampledLatencies]int64{microseconds(r.TTFT()), microseconds(r.TPOT()), microseconds(r.E2E()), microseconds(r.SchedulingDelay())}
	total, gaps := r.TotalITL()
	o.itl, o.gaps = int64(total), gaps
	has := func(what int, is bool) {
		if is {
			o.counts[what] = 1
		}
	}
	judged, met := r.Attained()
	o.counts[injected] = 1
	has(completed, o.completed)
	has(targeted, judged)
	has(attained, met)
	has(refused, r.State == metrics.Rejected && r.Reason != metrics.NoInstance)
	has(undecided, r.Admitted == vtime.Never && r.State != metrics.Rejected)
	if o.completed {
		o.counts[outputTokens] = int64(r.Generated)
	}
	if r.Scheduled != vtime.Never {
		o.counts[lookedUp], o.counts[cached] = int64(r.Input), int64(r.Lookup().Cached)
	}
	o.counts[preemptions] = int64(r.Preemptions + r.HandOver.Preemptions)
	s.requests = append(s.requests, o)
}

// microseconds is a latency, −1 where there is none.
func microseconds(d vtime.Duration, has bool) int64 {
	if !has {
		return -1
	}
	return int64(d)
}

// span is the time in which requests arrive, cut into windows of equal length.
type span struct {
	first, last vtime.Time
	windows     int
}

// spanOf is the span of all samples together.
func spanOf(samples []*sample) span {
	s := span{first: vtime.Never, last: -1}
	most := 0
	for _, one := range samples {
		if n := len(one.requests); n > 0 {
			s.first, s.last = min(s.first, one.requests[0].arrival), max(s.last, one.requests[n-1].arrival)
			most = max(most, n)
		}
	}
	if s.windows = windowsFor(most); vtime.Duration(s.windows) > s.last.Sub(s.first) {
		s.windows = 0 // all at once
	}
	return s
}

// of is the window of an arrival.
func (s *span) of(at vtime.Time) int {
	return int(float64(at.Sub(s.first)) / float64(s.last.Sub(s.first)+1) * float64(s.windows))
}

// width is the length of a window.
func (s *span) width() vtime.Duration { return (s.last.Sub(s.first) + 1) / vtime.Duration(s.windows) }

// table is a sample by windows, in the form that is quick to resample.
type table struct {
	sample  *sample
	windows int

	counts    [][counted]int64 // of each window
	itl, gaps []int64
	sums      [][sampledLatencies]int64 // of latencies, µs
	sizes     [][sampledLatencies]int64 // their numbers
	ranked    [sampledLatencies]rankTable
	tenants   []tenantCount // by tenant, then window; nil: there is one
}

// tenantCount counts the requests and output tokens of a tenant in a window.
type tenantCount struct {
	tenant         workload.Label
	window         int32
	requests, used int64 // used: output tokens of those that completed
}

func newTable(s *sample, in *span) *table {
	t := &table{
		sample: s, windows: in.windows, counts: make([][counted]int64, in.windows), sums: make([][sampledLatencies]int64, in.windows),
		sizes: make([][sampledLatencies]int64, in.windows), itl: make([]int64, in.windows), gaps: make([]int64, in.windows),
	}
	var values [sampledLatencies][]valueInWindow
	several := false
	for i := range s.requests {
		o := &s.requests[i]
		w := in.of(o.arrival)
		for k, n := range o.counts {
			t.counts[w][k] += n
		}
		t.itl[w] += o.itl
		t.gaps[w] += o.gaps
		for k, us := range o.latency {
			if us >= 0 {
				t.sums[w][k] += us
				t.sizes[w][k]++
				values[k] = append(values[k], valueInWindow{us, int32(w)})
			}
		}
		several = several || o.tenant != s.requests[0].tenant
	}
	for k := range values {
		t.ranked[k] = newRankTable(values[k], in.windows)
	}
	if several {
		t.countTenants(in)
	}
	return t
}

func (t *table) countTenants(in *span) {
	type key struct {
		tenant workload.Label
		window int32
	}
	index := map[key]int{} // into t.tenants
	for i := range t.sample.requests {
		o := &t.sample.requests[i]
		k := key{o.tenant, int32(in.of(o.arrival))}
		at, ok := index[k]
		if !ok {
			at = len(t.tenants)
			index[k] = at
			t.tenants = append(t.tenants, tenantCount{tenant: k.tenant, window: k.window})
		}
		t.tenants[at].requests++
		t.tenants[at].used += o.counts[outputTokens]
	}
	slices.SortFunc(t.tenants, func(a, b tenantCount) int {
		return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.window, b.window))
	})
}

// placed is a value with the window of its request.
type valueInWindow struct {
	value  int64
	window int32
}

// rankTable is the values of a latency in ascending order. Under each of them
// stands, for every rankStride-th, how many of the values below belong to each
// window: so a rank of a weighted series is found without a look at all values.
type rankTable struct {
	values []valueInWindow
	below  []int32 // of every stride, n windows
	n      int
}

const rankStride = 256

func newRankTable(values []valueInWindow, windows int) rankTable {
	slices.SortFunc(values, func(a, b valueInWindow) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.window, b.window))
	})
	r := rankTable{values: values, n: windows}
	counts := make([]int32, windows)
	for i, v := range values {
		if i%rankStride == 0 {
			r.below = append(r.below, counts...)
		}
		counts[v.window]++
	}
	return r
}

// weightBelow is how many values of the weighted series stand below a stride.
func (r *rankTable) weightBelow(stride int, weights []int32) int64 {
	sum := int64(0)
	for w, count := range r.below[stride*r.n : (stride+1)*r.n] {
		sum += int64(count) * int64(weights[w])
	}
	return sum
}

// at is the values of the weighted series at a rank and at the one after it,
// counted from 0. Ranks are less than the number of its values; after the last
// comes the last.
func (r *rankTable) at(rank int64, weights []int32) (value, next int64) {
	low, high := 0, (len(r.values)-1)/rankStride // the last stride with no more than rank values below
	for low < high {
		middle := (low + high + 1) / 2
		if r.weightBelow(middle, weights) <= rank {
			low = middle
		} else {
			high = middle - 1
		}
	}
	seen, found := r.weightBelow(low, weights), false
	for _, v := range r.values[low*rankStride:] {
		seen += int64(weights[v.window])
		if !found && seen > rank {
			value, next, found = v.value, v.value, true
		}
		if found && seen > rank+1 {
			return value, v.value
		}
	}
	return value, next
}
