package engine

import (
	"slices"

	"blis/metrics"
	"blis/vtime"
)

// prefills is what an instance knows of the prompts that it computed for others: their KV awaits
// its pull, in the blocks of requests that have ended.
type prefills struct {
	computing int    // requests that are here and end with their prefill
	holds     []hold // in the order of their time-outs; some are over, also all before first
	first     int
	awaiting  int     // prefills whose blocks are held
	over      []over  // what no pass has noticed
	gone      int64   // up to this number they went with the instance
	revoked   []int64 // numbers of those of which it is heard that they were pulled, and were not
}

// hold is KV that awaits its pull.
type hold struct {
	number  int64
	slot    int32
	expiry  vtime.Time
	request int64 // the slot no longer has its number
}

// over says that the other side needs the KV of a slot no longer.
type over struct {
	slot int32
	left bool // its request left before a pull began; false: the pull has ended
}

// Prefill hands the instance a request of which it computes the prompt alone, and one token
// that is discarded. It then keeps the KV until it is pulled, and tells PullNotices. The request is
// as its client sent it, with at least one output token. d is not kept.
func (p PullPort) Prefill(d *Delivery, now vtime.Time) {
	one := prefillOf(d)
	p.prefills(p.e.deliver(&one, now), d)
}

// PrefillAgain is Prefill for a request that was taken away from another instance.
func (p PullPort) PrefillAgain(d *Delivery, progress *Progress, now vtime.Time) {
	one := prefillOf(d)
	i := p.e.deliver(&one, now)
	p.prefills(i, d)
	p.e.requests.resume(i, progress)
}

// prefillOf returns the request for the prefill of d alone.
func prefillOf(d *Delivery) Delivery {
	if d.Output < 1 {
		panic("engine: the prefill of a request without output is handed over")
	}
	one := *d
	one.Output, one.MaxOutput = 1, 1
	return one
}

// prefills notes that the request in slot i, which was just delivered, is the prefill of d.
func (p PullPort) prefills(i int32, d *Delivery) {
	e := p.e
	x := e.connector.disaggregation
	if n := x.cfg.MaxModelLen; n > 0 {
		e.requests.refuse(i, refusal(d.Input, d.MaxOutput, n))
	}
	x.computing++
	h := x.at(i)
	h.prefill, h.client = true, outputLimits{d.Output, d.MaxOutput}
}

// stops reports whether the request would end with its first token although its client let it
// go on.
func (h *handOver) stops() bool { return h.client.output == 1 && h.client.most > 1 }

// completes reports whether the request in slot i, which has all its tokens at now, is a prefill
// for another instance. If that has KV to pull, its blocks will be held.
func (d *disaggregation) completes(i int32, now vtime.Time) bool {
	if d == nil || !d.at(i).prefill {
		return false
	}
	h, k := d.at(i), d.counts
	if !h.stops() && d.e.requests.at(i).seq.Held() > 0 {
		k.HandOvers++
		h.hold, h.held = k.HandOvers, true
		d.awaiting++
		if 2*d.first > cap(d.holds) {
			d.holds, d.first = slices.Delete(d.holds, 0, d.first), 0
		}
		d.holds = append(d.holds, hold{h.hold, i, now.Add(d.cfg.HoldTimeout), d.e.requests.at(i).ID})
		k.PeakAwaiting = max(k.PeakAwaiting, int64(d.awaiting))
	} else {
		k.WithoutKV++
	}
	return true
}

// handOver ends the life of slot i, whose prefill ended at now, and tells the other side.
func (d *disaggregation) handOver(i int32, now vtime.Time) {
	e := d.e
	e.report(i, metrics.Completed, metrics.NoReason, now)
	s := KVSource{Request: e.outcome.ID, Number: d.at(i).hold, Slot: i}
	if s.Number > 0 {
		s.Blocks = e.requests.at(i).seq.Held()
	}
	d.cfg.Notices.Prefilled(&e.outcome, s, now)
	e.vacate(i)
}

// keeps reports whether the blocks of slot i are held for a pull, by others or its own.
func (d *disaggregation) keeps(i int32) bool { return d != nil && d.at(i).held }

// full reports whether so many prefills await their pull that no request is admitted.
func (d *disaggregation) full() bool {
	return d != nil && d.cfg.MaxHeld > 0 && d.awaiting >= d.cfg.MaxHeld
}

// expiry returns the time-out of the KV that has waited longest for its pull, vtime.Never if none
// does.
func (d *disaggregation) expiry() vtime.Time {
	for ; d.first < len(d.holds); d.first++ {
		if h := d.holds[d.first]; d.at(h.slot).hold == h.number {
			return h.expiry
		}
	}
	d.holds, d.first = d.holds[:0], 0
	return vtime.Never
}

// pollHolds appends to list the slots whose KV nobody needs any more: what the other side has told,
// and what nobody pulled in time.
func (d *disaggregation) pollHolds(now vtime.Time, list []int32) []int32 {
	for _, o := range d.over {
		if o.left {
			d.counts.NoticedLeft++
		} else {
			d.counts.NoticedEnds++
		}
		d.at(o.slot).hold = 0
		list = append(list, o.slot)
	}
	d.over = d.over[:0]
	for d.expiry() <= now {
		d.counts.Expired++
		h := d.holds[d.first]
		i := h.slot
		if o := d.e.diagnosis.observer; o != nil {
			o.Expired(now, h.request, int32(d.e.requests.at(i).seq.Held()))
		}
		d.at(i).hold = 0
		list = append(list, i)
	}
	return list
}

// act lets the blocks of slots go of which a pass has noticed that nobody needs them.
func (d *disaggregation) act(slots []int32, now vtime.Time) {
	before := d.awaiting
	for _, i := range slots {
		h := d.at(i)
		if h.held = false; h.prefill {
			d.awaiting--
		}
	}
	if n := before - d.awaiting; n > 0 {
		d.cfg.Notices.Released(n, now)
	}
}
