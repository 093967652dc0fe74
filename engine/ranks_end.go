package engine

import (
	"fmt"
	"math/bits"

	"blis/metrics"
	"blis/vtime"
)

// How the ranks of an instance are taken away, fail, and end. All of them do so together.

// Now returns the time of the last event that a rank executed.
func (r *Ranks) Now() vtime.Time {
	now := r.now
	if r.group != nil {
		now = max(now, r.group.now)
	}
	for _, e := range r.list {
		now = max(now, e.now)
	}
	return now
}

// stop prepares for the end of everything that the ranks do at now, by an event of class
// ClassDelivery.
func (r *Ranks) stop(now vtime.Time) { r.catchUp(now, vtime.ClassDelivery) }

// stopped takes note that the ranks have lost their requests.
func (r *Ranks) stopped() {
	if r.group != nil {
		r.group.stop()
	}
}

// Abort ends every request of an instance whose server is taken away at now.
func (r *Ranks) Abort(now vtime.Time) {
	r.stop(now)
	for _, e := range r.list {
		e.Abort(now)
	}
	r.stopped()
}

// HandBack empties the ranks as Abort does, for requests that go on elsewhere: f gets each of them with
// its rank, valid during the call. Requests whose deadline passed time out.
func (r *Ranks) HandBack(now vtime.Time, f func(rank int, d *Delivery, p *Progress)) {
	r.stop(now)
	for i, e := range r.list {
		e.HandBack(now, func(d *Delivery, p *Progress) { f(i, d, p) })
	}
	r.stopped()
}

// CutOff empties the ranks of a server that crashes at now, as the function CutOff does one engine.
func (r *Ranks) CutOff(now vtime.Time, f func(rank int, d *Delivery, p *Progress, lost int32)) {
	r.stop(now)
	for i, e := range r.list {
		CutOff(e, now, func(d *Delivery, p *Progress, lost int32) { f(i, d, p, lost) })
	}
	r.stopped()
}

// Restart makes ranks that were emptied new ones, as the function Restart does one engine. Their
// front ends know nothing.
func (r *Ranks) Restart(config func(rank int) Config) {
	for i, e := range r.list {
		Restart(e, config(i))
	}
	r.begin()
}

// WarmUp lets the ranks warm up from now on, as Config.Warmup says of another time.
func (r *Ranks) WarmUp(now vtime.Time) {
	r.stop(now)
	for _, e := range r.list {
		WarmUp(e, now)
	}
}

// Slow multiplies the length of the steps that are formed from now on by factor, at least 1.
func (r *Ranks) Slow(factor float64, now vtime.Time) {
	r.stop(now)
	for _, e := range r.list {
		Slow(e, factor)
	}
}

// Release gives the memory of the ranks back, and reports whether it did, as Engine.Release does.
func (r *Ranks) Release(gone vtime.Time) bool {
	r.rest(gone)
	r.stopped()
	all := true
	for _, e := range r.list {
		if e.released == nil && !e.Release(gone) {
			all = false
		}
	}
	return all
}

// Finish brings the time integrals up to the end of the run. An instance that was gone before had
// nothing from then on. Steps of dummies alone count as busy up to the end.
func (r *Ranks) Finish(end, gone vtime.Time) {
	r.rest(min(end, gone))
	for _, e := range r.list {
		e.Finish(end, gone)
	}
}

// rest books the dummies that the ranks execute until then, as nothing comes after the last request.
func (r *Ranks) rest(until vtime.Time) {
	r.catchUp(until, vtime.ClassTimeout)
	if g := r.group; g != nil && g.running && g.waits() {
		for _, e := range r.list {
			e.Counters.BusyMicros += int64(max(0, until.Sub(e.inFlight.executing().start)))
		}
	}
}

// Unfinished calls f for every request that a rank still holds, as Engine.Unfinished does.
func (r *Ranks) Unfinished(f func(o *metrics.Outcome)) {
	for _, e := range r.list {
		e.Unfinished(f)
	}
}

// Check verifies the books of each rank, as Engine.Check does, and that ranks in lock-step step
// together: each executes a batch or a dummy in every step of the group.
func (r *Ranks) Check() error {
	if g := r.group; g != nil {
		if err := g.check(); err != nil {
			return err
		}
	}
	for _, e := range r.list {
		if err := e.Check(); err != nil {
			return err
		}
	}
	return nil
}

// check verifies that the ranks step together.
func (g *lockStep) check() error {
	steps := g.counts.DummySteps
	for _, e := range g.ranks {
		steps += e.Counters.Steps
		for k := 0; g.running && k < e.inFlight.n; k++ {
			if b, first := e.inFlight.at(k), g.ranks[0].inFlight.at(k); b.start != first.start || b.end != first.end {
				return fmt.Errorf("instance %d: a rank steps from %v to %v, the first one from %v to %v", e.index, b.start, b.end, first.start, first.end)
			}
		}
	}
	if all := g.counts.GroupSteps * int64(len(g.ranks)); steps != all {
		return fmt.Errorf("instance %d: %d ranks made %d steps, dummies included, in %d steps of all", g.ranks[0].index, len(g.ranks), steps, g.counts.GroupSteps)
	}
	return nil
}

// Fold hashes the part of the final state that is in no message: that of a single rank as Engine.Fold
// does.
func (r *Ranks) Fold() uint64 {
	h := r.list[0].Fold()
	for _, e := range r.list[1:] {
		h = bits.RotateLeft64(h, 23)*0x9e3779b97f4a7c15 ^ e.Fold()
	}
	return h
}

// Engines returns the ranks, to be read once the run has ended.
func (r *Ranks) Engines() []*Engine { return r.list }

// Counters returns the sum of the counters of the ranks; peaks are those of the rank with the
// highest.
func (r *Ranks) Counters() metrics.Counters {
	var sum metrics.Counters
	for _, e := range r.list {
		sum.Merge(&e.Counters)
	}
	return sum
}

// DataParallel returns what ranks in lock-step counted; zero for others.
func (r *Ranks) DataParallel() metrics.DataParallel {
	if r.group == nil {
		return metrics.DataParallel{}
	}
	return r.group.counts
}
