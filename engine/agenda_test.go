package engine

import (
	"math/rand/v2"
	"testing"

	"blis/latency"
	"blis/metrics"
	"blis/vtime"
)

// recounted is the times of an agenda from a look at every request.
func recounted(e *Engine) times {
	want := times{vtime.Never, e.agenda.at[eventStep], vtime.Never}
	if b := e.inFlight.executing(); b != nil {
		want[eventStep] = b.end
	}
	for i := range int32(len(e.requests.slots)) {
		s := e.requests.at(i)
		if s.phase != vacant && !s.overdue {
			want[eventTimeout] = min(want[eventTimeout], s.deadline)
		}
	}
	for _, a := range e.agenda.arrivals {
		if e.requests.is(a.member, pending) {
			want[eventQueued] = min(want[eventQueued], vtime.Time(a.at))
		}
	}
	return want
}

// phasesOf counts the phases of all requests, and the pending ones that will be
// refused.
func phasesOf(e *Engine) (count [phases]int32, refusable int32) {
	for i := range e.requests.slots {
		s := &e.requests.slots[i]
		count[s.phase]++
		if s.phase == pending && s.refusal != metrics.NoReason {
			refusable++
		}
	}
	return count, refusable
}

// The stored times and the counts of phases are those of the requests that are
// there, after each delivery, each event and each decode run.
func TestAgendaAndPhasesEqualARecount(t *testing.T) {
	first := rand.Uint64N(1 << 32)
	var met struct{ queued, step, timeout, runs int }
	for seed := first; seed < first+200; seed++ {
		x := drawCrowded(seed)
		e, _ := instance(t, delayed{x.config.Model.(linear)}, func(c *Config) { c.Async, c.MaxNumSeqs = x.config.Async, x.config.MaxNumSeqs })
		check := func() {
			if want := recounted(e); e.agenda.at != want {
				t.Fatalf("seed %d at %v: the agenda says %v, want %v", seed, e.now, e.agenda.at, want)
			}
			if count, refusable := phasesOf(e); count != e.requests.count || refusable != e.requests.refusable {
				t.Fatalf("seed %d at %v: phases counted %v and %d refusable, want %v and %d", seed, e.now, e.requests.count, e.requests.refusable, count, refusable)
			}
		}
		advance := func(until vtime.Time) {
			for at, class := e.Next(); at < until; at, class = e.Next() {
				steps := e.Counters.Steps
				e.Act(until, vtime.ClassDelivery)
				check()
				switch class {
				case vtime.ClassQueued:
					met.queued++
				case vtime.ClassTimeout:
					met.timeout++
				default:
					met.step++
				}
				if e.Counters.Steps > steps+1 {
					met.runs++
				}
			}
		}
		for k := range x.requests {
			d := &x.requests[k]
			if k%11 == 0 {
				d.Input = 5000 // longer than the cache: refused
			}
			if k%3 == 0 {
				d.Deadline = d.Arrival + vtime.Time(k%7)*15_000 // some pass before the request is queued
			}
			advance(d.Arrival)
			e.Deliver(d, d.Arrival)
			check()
		}
		advance(vtime.Never)
	}
	if met.queued < 1000 || met.step < 1000 || met.timeout < 500 || met.runs < 100 {
		t.Errorf("seeds from %d: the trials meet too little: %+v", first, met)
	}
}

// delayed is a model with queueing delays of very different lengths.
type delayed struct{ linear }

func (delayed) Queueing(in latency.QueueInput) float64 { return float64(in.Input * 997 % 40_000) }
