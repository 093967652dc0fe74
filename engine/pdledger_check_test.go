package engine

import (
	"fmt"
	"slices"

	"blis/metrics"
	"blis/vtime"
)

// What instances of a scenario with prefill and decode instances may not do, and when they hear of aborts.

// record takes in the outcome of a request, which arrived in the scenario and not at the instance.
func (s *pdSide) record(o *metrics.Outcome) {
	s.overs[o.ID] = o.HandOver
	if k := slices.IndexFunc(s.w.sc.Requests, func(r scenarioRequest) bool { return r.ID == o.ID }); k >= 0 {
		x := *o
		x.Arrival = vtime.Time(s.w.sc.Requests[k].Arrival)
		x.Admitted = x.Arrival
		s.w.recorder.Record(&x)
	}
}

// promise takes in what the instance says of its future. It may say no less than before.
func (s *pdSide) promise() vtime.Time {
	now := [4]vtime.Time{s.e.Pulls.FirstPrefilled(), s.e.Pulls.FirstPull(), s.e.Pulls.FirstLeft(), s.e.Pulls.FirstReleased()}
	first := vtime.Never
	for k := range now {
		s.first[k] = max(s.first[k], now[k])
		if k < 3 { // nobody does anything because blocks are let go
			first = min(first, s.first[k])
		}
	}
	return first
}

// tells checks that the instance said that it might tell something of a kind at now.
func (s *pdSide) tells(kind int, now vtime.Time) {
	if now < s.first[kind] {
		panic(fmt.Sprintf("%s tells something of kind %d at %v; it said not before %v", s.name, kind, now, s.first[kind]))
	}
}

// pdAbort is the abort of a request on an instance.
type pdAbort struct {
	side    string
	request int64
}

// pdHearing is when an instance hears of an abort, if not at once. It takes requests in when it forms a
// pass, and an abort of a request that it has not taken in is lost.
type pdHearing uint8

const (
	// A pass that is formed at the instant of the abort takes the request in, and then the abort is heard. If
	// it were heard at once, the request could leave with an empty pass that was formed before and ends at this
	// instant (async scheduling), and not with the next one, which ends then too: the same result in another
	// row. So all modes play it as the first one did.
	heardAfterPass pdHearing = 1 + iota
	neverHeard
)
