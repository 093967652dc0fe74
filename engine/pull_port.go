package engine

import "blis/vtime"

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
	if d.at(s.Slot).hold != s.Number {
		if !left && s.Number > d.gone {
			d.counts.StalePulls++
		}
		return
	}
	d.over = append(d.over, over{s.Slot, left})
	e.passes.wake(now)
}

// Ended takes in at now that a pull has ended, of which that was not known, or that has failed.
func (p PullPort) Ended(number int64, failed bool, now vtime.Time) {
	e := p.e
	if e.released != nil {
		return
	}
	if e.connector.disaggregation.ends(number, failed, now) {
		e.passes.wake(now)
	}
}

// Awaiting returns the number of prefills whose KV awaits its pull.
func (p PullPort) Awaiting() int {
	if p.e.connector == nil || p.e.connector.disaggregation == nil {
		return 0
	}
	return p.e.connector.disaggregation.awaiting
}
