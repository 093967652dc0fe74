package spec

import (
	"math"
	"slices"

	"blis/workload/traffic"
)

// rater finds the rates of the entries of a builder.
type rater struct {
	b        *builder
	entries  []entry
	weighted []int // entries with a part of aggregate_rate
}

// rate finds the requests per second of every entry: as given, or its part of
// aggregate_rate. rate_fraction is divided by the sum of those that send at
// the same time.
func (r *rater) rate() {
	for i := range r.entries {
		e := &r.entries[i]
		e.rates = make([]float64, max(len(e.windows), 1))
		switch {
		case e.users.set || e.stages != nil || e.arrival.process == traced:
		case e.rate.set || e.fraction.value == 0 && e.arrival.ownRate() > 0:
			r.absolute(e, e.rate.or(e.arrival.ownRate()))
		case r.relative(e):
			r.weighted = append(r.weighted, i)
		default:
			r.absolute(e, 0)
			r.needRate(e)
		}
	}
	if len(r.weighted) == 0 {
		r.noteTotal()
		return
	}
	if !r.b.ok() {
		return
	}
	total := r.total()
	if !r.b.ok() {
		return
	}
	r.share(total)
}

// relative reports whether an entry has a part of aggregate_rate.
func (r *rater) relative(e *entry) bool {
	s := r.b.spec
	if s.rate.value == 0 && !s.share.set { // then rates of windows are absolute
		return false
	}
	return e.weighs(e.windows)
}

// weighs reports whether a client that sends in the windows has a weight in the
// rate of all.
func (c *client) weighs(windows []window) bool {
	if c.fraction.value > 0 {
		return true
	}
	return len(windows) > 0 && !slices.ContainsFunc(windows, func(w window) bool { return !w.rate.set })
}

// noteTotal notes that no client has a part of the total rate.
func (r *rater) noteTotal() {
	s := r.b.spec
	switch {
	case s.perf != nil: // said already
	case s.share.set:
		r.b.note(s.share.place, "has no effect: no client has a rate_fraction")
	case s.rate.value > 0:
		r.b.note(s.rate.place, "has no effect: no client has a rate_fraction")
	}
}

// absolute gives an entry its own rate, in a window the rate of the window if
// there is one.
func (r *rater) absolute(e *entry, rate float64) {
	e.base, e.rates[0] = rate, rate
	if spike := e.pattern.spike; spike != nil {
		e.rates[0] = spike.rate.or(rate)
	}
	for i := range e.windows {
		e.rates[i] = e.windows[i].rate.or(rate)
		e.base = max(e.base, e.rates[i])
	}
}

// needRate wants a rate from an entry that has none of its own: its windows
// may have one each, or the tenants that share it.
func (r *rater) needRate(e *entry) {
	missing := len(e.windows) == 0
	for i := range e.windows {
		missing = missing || !e.windows[i].rate.set
	}
	if !missing {
		return
	}
	if e.fraction.value > 0 {
		r.b.fail(place{Line: 0, Field: "aggregate_rate"}, "not given, want requests per second (or utilization, or a rate for each client instead of %s)", e.fraction.Field)
		return
	}
	rated := false
	for i := range r.b.spec.tenants {
		rated = rated || r.b.spec.tenants[i].rate.set && !e.tenant.set
	}
	if !rated {
		r.b.fail(e.place, "how often it sends is not given, want rate_fraction, rate or concurrency")
	}
}

// total is aggregate_rate, given or from the share of the capacity.
func (r *rater) total() float64 {
	s := r.b.spec
	if !s.share.set {
		return s.rate.value
	}
	if r.b.defaults.Capacity == nil {
		r.b.fail(s.share.place, "%v: the capacity of the cluster is not known here, want aggregate_rate", s.share.value)
		return 0
	}
	requests, input, output, sum := 0.0, 0.0, 0.0, 0.0
	for _, i := range r.weighted {
		e := &r.entries[i]
		tune := r.b.tune(nil, e.client)
		c := r.b.client(e.client, nil, tune)
		if !r.b.ok() {
			return 0
		}
		n, in, out := expected(&c)
		weight := e.weight(0)
		sum += weight
		requests += float64(weight * n)
		input += float64(weight * in)
		output += float64(weight * out)
	}
	capacity := r.b.defaults.Capacity(input/requests, output/requests)
	rate := float64(s.share.value*capacity) * sum / requests
	if !(rate > 0 && rate <= maxRate) {
		r.b.fail(s.share.place, "%v: of the capacity of %v requests/s it is %v, want a rate above 0 up to 1e9", s.share.value, capacity, rate)
		return 0
	}
	r.b.note(s.share.place, "%v of the capacity of %.4g requests/s: %.4g arrivals/s", s.share.value, capacity, rate)
	return rate
}

// expected are the mean number of requests that an arrival of a client begins,
// and their prompt and output tokens together. Bounds of distributions and the
// limits of sessions count only as far as means go, so of sessions it is an
// estimate.
func expected(c *traffic.Client) (requests, input, output float64) {
	prefix := float64(float64(c.Prefix.Length) * c.Prefix.Share)
	in, out := meanLength(&c.Input), meanLength(&c.Output)
	if len(c.Kinds) == 0 {
		return 1, prefix + in, out
	}
	for i := range c.Kinds {
		k := &c.Kinds[i]
		n, l, o := expectedOf(k, prefix, in, out)
		requests += float64(k.Share * n)
		input += float64(k.Share * l)
		output += float64(k.Share * o)
	}
	return requests, input, output
}

// weight is the weight of an entry in window i, or always.
func (e *entry) weight(i int) float64 {
	if i < len(e.windows) {
		return e.windows[i].rate.or(e.fraction.value)
	}
	return e.fraction.value
}

// spans are when an entry sends: its windows, or always.
func (e *entry) spans() []window {
	if len(e.windows) > 0 {
		return e.windows
	}
	return []window{always}
}

// maxWindows is how many windows may share aggregate_rate: each is compared
// with all others.
const maxWindows = 10_000

// share divides the total rate by rate_fraction. Without windows each entry
// has its fraction of the sum. With windows the sum is over the entries
// that send at the same time: in any window of the entry, or, as soon as one
// window says more than when, in the window in question.
func (r *rater) share(total float64) {
	sum, windows, detailed := 0.0, 0, false
	for _, i := range r.weighted {
		e := &r.entries[i]
		sum += e.fraction.value
		windows += len(e.windows)
		for _, w := range e.windows {
			detailed = detailed || w.rate.set || w.arrival != nil || w.input != nil || w.output != nil
		}
	}
	if windows > maxWindows {
		r.b.fail(place{Field: "aggregate_rate"}, "%d windows share it, want at most %d, or a rate for each client", windows, maxWindows)
		return
	}
	if windows == 0 {
		if math.Abs(sum-1) > 1e-6 {
			r.b.note(r.entries[r.weighted[0]].fraction.place, "the rate fractions add up to %.6g: each is divided by that", sum)
		}
		for _, i := range r.weighted {
			e := &r.entries[i]
			e.base = float64(total * (e.fraction.value / sum))
			e.rates[0] = e.base
			e.spikeRate()
		}
		return
	}
	steady := r.steady()
	for _, i := range r.weighted {
		e := &r.entries[i]
		spans := e.spans()
		for k := range spans {
			at := spans
			if detailed {
				at = spans[k : k+1]
			}
			together := r.together(at, steady)
			if together > 0 {
				e.rates[k] = float64(total * (e.weight(k) / together))
			}
		}
		e.base = e.rates[0]
		e.spikeRate()
	}
}

// spikeRate is the rate of a spike on top of a rate that varies: its weight is to
// the fraction of its cohort as its rate to the cohort's.
func (e *entry) spikeRate() {
	if spike := e.pattern.spike; spike != nil && len(e.windows) == 0 && spike.rate.set {
		e.rates[0] = float64(e.base * (spike.rate.value / e.fraction.value))
	}
}

// steady is the sum of the fractions of those that send always.
func (r *rater) steady() float64 {
	sum := 0.0
	for _, i := range r.weighted {
		if len(r.entries[i].windows) == 0 {
			sum += r.entries[i].fraction.value
		}
	}
	return sum
}

// together is the sum of the weights of entries that send in one of the spans,
// each with the weight of its first window that is in one.
func (r *rater) together(spans []window, steady float64) float64 {
	sum := steady
	for _, i := range r.weighted {
		e := &r.entries[i]
	windows:
		for k := range e.windows {
			for _, s := range spans {
				if e.windows[k].start < s.end && s.start < e.windows[k].end {
					sum += e.weight(k)
					break windows
				}
			}
		}
	}
	return sum
}
