package engine

import "blis/vtime"

// What ranks can say of their future; bounds.go says of what use that is. A rank in lock-step ends no
// step before it would alone, so the bounds of a single engine hold for it.

// any reports whether a request is here, queued or not.
func (r *requests) any() bool { return r.count[pending] > 0 || r.unfinished() }

// FirstEnd returns a time before which no request of the ranks can end, vtime.Never if they hold none.
func (r *Ranks) FirstEnd() vtime.Time {
	r.renew()
	at := vtime.Never
	for _, e := range r.list {
		if e.requests.any() {
			at = min(at, e.FirstEnd())
		}
	}
	return at
}

// FirstChange returns a key (time and class) before which no wait queue and no running list changes its
// length, vtime.Never if nothing can change one.
func (r *Ranks) FirstChange() (at vtime.Time, class uint8) {
	r.renew()
	at, class = vtime.Never, vtime.ClassStep
	for _, e := range r.list {
		if !e.requests.any() {
			continue
		}
		if t, c := e.FirstChange(); t < at || t == at && c < class {
			at, class = t, c
		}
	}
	return at, class
}

// FirstStepState returns a time before which no StepState of an endpoint changes, vtime.Never if
// nothing can change one. With lengths only their Waiting and Running stay.
func (r *Ranks) FirstStepState(lengths bool) vtime.Time {
	r.renew()
	at := vtime.Never
	for _, e := range r.list {
		at = min(at, e.FirstStepState(lengths), r.firstQueuedElsewhere(e))
	}
	return at
}

// firstQueuedElsewhere returns a time before which no request that waits at e to be queued shows in the
// StepState of another rank: vtime.Never if e says so itself.
func (r *Ranks) firstQueuedElsewhere(e *Engine) vtime.Time {
	queued := e.agenda.at[eventQueued]
	switch g := r.group; {
	case g != nil && g.rests: // a step that is no event ends at that time or later
		return queued
	case g != nil || r.cfg.Local == 1:
		return vtime.Never // all ranks end a step together; there is no other rank
	case e.connector != nil:
		return queued // a pass without a batch ends at once
	}
	return queued.Add(e.batcher.pace.minStep)
}

// FirstPrefilled returns a time before which no prefill of a rank ends, as that of a PullPort.
func (r *Ranks) FirstPrefilled() vtime.Time { return r.first(PullPort.FirstPrefilled) }

// FirstPull returns a time before which no pull of a rank begins.
func (r *Ranks) FirstPull() vtime.Time { return r.first(PullPort.FirstPull) }

// FirstReleased returns a time before which no rank lets go of blocks that await their pull.
func (r *Ranks) FirstReleased() vtime.Time { return r.first(PullPort.FirstReleased) }

// FirstLeft returns a time before which no rank tells of somebody who left before the pull.
func (r *Ranks) FirstLeft() vtime.Time { return r.first(PullPort.FirstLeft) }

// FirstFailed returns a time before which no request of the ranks fails since its pull does.
func FirstFailed(r *Ranks) vtime.Time { return r.first(PullPort.FirstFailed) }

func (r *Ranks) first(of func(PullPort) vtime.Time) vtime.Time {
	r.renew()
	at := vtime.Never
	for _, e := range r.list {
		at = min(at, of(e.Pulls))
	}
	return at
}

// FirstSubmission returns a time before which no rank submits an operation to a storage tier, as that
// of a StoragePort.
func (r *Ranks) FirstSubmission() vtime.Time {
	r.renew()
	at := vtime.Never
	for _, e := range r.list {
		at = min(at, e.Storage.FirstSubmission())
	}
	return at
}

// Awaits reports whether a rank has something to do once an answer of a storage tier comes that has not.
func (r *Ranks) Awaits() bool {
	for _, e := range r.list {
		if e.Storage.Awaits() {
			return true
		}
	}
	return false
}

// renew brings the times of events up to date.
func (r *Ranks) renew() {
	if r.group != nil {
		r.group.renew()
	}
}
