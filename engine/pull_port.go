package engine

import (
	"slices"

	"blis/vtime"
)

// PullPort is how prefill/decode disaggregation reaches an instance: its requests, and the messages of
// the other side.
type PullPort struct{ e *Engine }

// Over takes in at now that nobody needs the KV of s any more, since its pull has ended. A waiting
// instance looks at it at once.
func (p PullPort) Over(s KVSource, now vtime.Time) { p.over(s, false, now) }

// Left takes in at now that nobody will pull s, whose request left.
func (p PullPort) Left(s KVSource, now vtime.Time) { p.over(s, true, now) }

func (p PullPort) over(s KVSource, left bool, now vtime.Time) {
	e := p.e
	if e.released != nil {
		return
	}
	d := e.connector.disaggregation
	if s.Number <= d.gone { // it went with the instance, or before its restart
		return
	}
	if k := slices.Index(d.revoked, s.Number); k >= 0 && !left {
		d.revoked = slices.Delete(d.revoked, k, k+1)
		return
	}
	if d.at(s.Slot).hold != s.Number {
		if !left {
			d.counts.StalePulls++
		}
		return
	}
	d.over = append(d.over, over{s.Slot, left})
	e.passes.wake(now)
}

// Ended takes in at now that a pull has ended of which that was not known (Disaggregation.SharedLink). lasted is how long
// it took once it had its turn.
func (p PullPort) Ended(number int64, lasted vtime.Duration, now vtime.Time) {
	p.ended(number, now.Add(-lasted), false, now)
}

// Failed takes in at now that a pull that was under way has failed.
func (p PullPort) Failed(number int64, now vtime.Time) { p.ended(number, vtime.Never, true, now) }

// ended takes in at now that a pull has ended that began at start; vtime.Never: when it was put on its way.
func (p PullPort) ended(number int64, start vtime.Time, failed bool, now vtime.Time) {
	if p.e.released == nil && p.e.connector.disaggregation.endNow(number, start, failed, now) {
		p.e.passes.wake(now)
	}
}

// Revoke takes in that an Over of s, which is on its way, is void: that pull does not end, or it fails.
func (p PullPort) Revoke(s KVSource) {
	if p.e.released != nil {
		return
	}
	if d := p.e.connector.disaggregation; s.Number > d.gone {
		d.revoked = append(d.revoked, s.Number)
	}
}

// Lost takes in at now that the KV is gone of which lost says so by KVSource.From: pulls of it that are under way
// fail now, later ones after the time of a pull of no blocks.
func (p PullPort) Lost(lost func(from int64) bool, now vtime.Time) {
	if p.e.released != nil {
		return
	}
	d := p.e.connector.disaggregation
	for i := range d.slots {
		h := d.at(int32(i))
		if h.source.Blocks == 0 || !lost(h.source.From) {
			continue
		}
		if h.source.Gone = true; !h.fails {
			h.fails = true
			d.failing++
		}
		d.noteLink(h)
	}
	p.cutOff(lost, now)
}

// SharesChange takes in at now that PullFaults.Share has changed: pulls that are under way from where nothing
// comes any more fail now.
func (p PullPort) SharesChange(now vtime.Time) {
	if p.e.released != nil {
		return
	}
	d := p.e.connector.disaggregation
	for i := range d.slots {
		d.noteLink(d.at(int32(i)))
	}
	p.cutOff(func(from int64) bool { return d.cfg.Faults.Share(from) == 0 }, now)
}

// cutOff lets the pulls fail at now by which something comes then, from where fails says.
func (p PullPort) cutOff(fails func(from int64) bool, now vtime.Time) {
	d := p.e.connector.disaggregation
	var list []int64
	for i := range d.moving {
		if x := &d.moving[i]; x.end >= now && !x.empty && fails(x.from) {
			list = append(list, x.number)
		}
	}
	for _, number := range list {
		p.Failed(number, now)
	}
}

// FirstFailed returns a time before which no request fails since its pull does: vtime.Never if none can.
func (p PullPort) FirstFailed() vtime.Time {
	e := p.e
	if e.connector == nil || !e.connector.disaggregation.fails() {
		return vtime.Never
	}
	at, _ := e.agenda.at.next()
	return at
}

// Awaiting returns the number of prefills whose KV awaits its pull.
func (p PullPort) Awaiting() int {
	if p.e.connector == nil || p.e.connector.disaggregation == nil {
		return 0
	}
	return p.e.connector.disaggregation.awaiting
}

// What an instance tells the other side does so no earlier than it says, if nothing more is delivered
// to it: vtime.Never if nothing can make it. Each kind has its own time.

// FirstPrefilled returns a time before which no prefill ends.
func (p PullPort) FirstPrefilled() vtime.Time {
	e := p.e
	if e.connector == nil || e.connector.disaggregation == nil || e.connector.disaggregation.computing == 0 {
		return vtime.Never
	}
	at := vtime.Never
	for k, t := range e.agenda.at {
		if b := e.inFlight.executing(); event(k) != eventStep || b == nil || !b.mayEnd {
			t = t.Add(e.batcher.pace.minStep)
		}
		at = min(at, t)
	}
	return at
}

// FirstPull returns a time before which no pull begins.
func (p PullPort) FirstPull() vtime.Time {
	e := p.e
	if e.connector == nil || e.connector.disaggregation == nil || e.connector.disaggregation.wanting == 0 {
		return vtime.Never
	}
	at, _ := e.agenda.at.next()
	return at
}

// FirstReleased returns a time before which no blocks are let go that await their pull.
func (p PullPort) FirstReleased() vtime.Time {
	if p.Awaiting() == 0 { // a message may say that they are not needed, or nobody pulls
		if first := p.FirstPrefilled(); first != vtime.Never {
			return first.Add(p.e.cfg.Disaggregation.HoldTimeout)
		}
		return vtime.Never
	}
	at, _ := p.e.agenda.at.next()
	return at
}

// FirstLeft returns a time before which the instance tells of nobody who left before the pull.
func (p PullPort) FirstLeft() vtime.Time {
	e := p.e
	if e.connector == nil || e.connector.disaggregation == nil {
		return vtime.Never
	}
	at, _ := e.agenda.at.next()
	switch d := e.connector.disaggregation; {
	case len(d.left) > 0:
		return at
	case d.wanting == 0:
		return vtime.Never
	case len(e.overdue) == 0:
		return max(at, e.agenda.at[eventTimeout])
	}
	return at
}
