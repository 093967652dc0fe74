package engine

import (
	"math"

	"blis/vtime"
)

// How long the copies stay as they are that front ends have of the lengths of ranks.
const (
	copiesStay   = 100 * vtime.Millisecond // while the ranks step together
	copiesSettle = 50 * vtime.Millisecond  // after their last step
	copiesReset  = 5 * vtime.Second        // of ranks that publish nothing
)

// frontEnds is the API processes of one endpoint. A request comes through one of them, which chooses
// its rank by what it knows of the ranks: copies that are old, and what it did since. So with several
// front ends and short steps ranks get unequal numbers of requests, as in vLLM.
//
// The copies are renewed for all front ends at once: at the end of the first step of the group at
// least 100 ms after they were renewed last, if lengths have changed, with the lengths after the step
// before that one, which are those that all ranks have sent by then. 50 ms after the last step they
// get the last lengths. Ranks that step on their own send nothing: their copies become 0 every 5 s.
type frontEnds struct {
	n       int       // front ends
	copies  []lengths // by front end and rank
	silent  bool      // the ranks send nothing
	counted int64     // requests that were delivered

	last    []lengths // after the last step of the group
	news    bool      // they changed since those that were copied
	renewed vtime.Time
	stopped vtime.Time // the end of the last step before a pause, until the copies are renewed; else vtime.Never
}

// lengths are the requests in the wait queue and in the running list of a rank.
type lengths struct{ waiting, running int64 }

func newFrontEnds(n int, ranks []*Engine, lockStep bool) frontEnds {
	return frontEnds{
		n: n, copies: make([]lengths, n*len(ranks)), silent: !lockStep,
		last: make([]lengths, len(ranks)), stopped: vtime.Never,
	}
}

// take returns the front end of the next request.
func (f *frontEnds) take() int32 {
	f.counted++
	return int32((f.counted - 1) % int64(f.n))
}

// choose returns the rank for a request that is queued at now and came through a front end. That adds
// to its copy as many waiting requests as there are front ends, since the others choose too.
func (f *frontEnds) choose(front int32, now vtime.Time) int {
	f.settle(now)
	ranks := len(f.last)
	mine := f.copies[int(front)*ranks:][:ranks]
	best, least := 0, int64(math.MaxInt64)
	for k, at := 0, int(front)*ranks/f.n; k < ranks; k++ {
		if score := 4*mine[at].waiting + mine[at].running; score < least {
			best, least = at, score
		}
		if at++; at == ranks {
			at = 0
		}
	}
	mine[best].waiting += int64(f.n)
	return best
}

// settle renews the copies if that was due by now without a step.
func (f *frontEnds) settle(now vtime.Time) {
	if f.silent {
		if reset := now - now%vtime.Time(copiesReset); reset > f.renewed {
			f.renew(reset)
		}
		return
	}
	if f.stopped != vtime.Never && now >= f.stopped.Add(copiesSettle) {
		f.renew(f.stopped.Add(copiesSettle))
		f.stopped = vtime.Never
	}
}

// renew gives all front ends the last lengths.
func (f *frontEnds) renew(at vtime.Time) {
	for k := 0; k < len(f.copies); k += len(f.last) {
		copy(f.copies[k:], f.last)
	}
	f.renewed, f.news = at, false
}

// stepEnds takes in the lengths of the ranks at the end of a step of the group.
func (f *frontEnds) stepEnds(ranks []*Engine, now vtime.Time) {
	f.stepEndsAlike(now)
	for i, e := range ranks {
		if l := (lengths{int64(e.Waiting()), int64(e.Running())}); l != f.last[i] {
			f.last[i], f.news = l, true
		}
	}
}

// stepEndsAlike takes in that the lengths at the end of a step are those after the one before.
func (f *frontEnds) stepEndsAlike(now vtime.Time) {
	if f.news && now.Sub(f.renewed) >= copiesStay {
		f.renew(now)
	}
}

// pauses takes in that the step that ends at now is the last for now.
func (f *frontEnds) pauses(now vtime.Time) { f.stopped = now }

// starts takes in that the ranks step again.
func (f *frontEnds) starts() { f.stopped = vtime.Never }
