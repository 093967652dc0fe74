package engine

import (
	"fmt"
	"slices"

	"blis/metrics"
	"blis/vtime"
)

// What instances of a scenario with prefill and decode instances may not do.

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
