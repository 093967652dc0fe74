package engine

import (
	"slices"
	"testing"
)

// Of the moves between phases only those of the table are made; each other one
// panics and changes nothing.
func TestPhasesFollowTheTable(t *testing.T) {
	allowed := map[phase][]phase{
		vacant:     {pending},
		pending:    {waiting, leaving},
		waiting:    {running, leaving},
		running:    {waiting, decoding, completing, leaving},
		decoding:   {running},
		completing: {leaving},
		leaving:    {vacant, holding},
		holding:    {vacant},
	}
	for from := range phases {
		for to := range phases {
			r := requests{slots: make([]slot, 1)}
			r.slots[0].phase = from
			r.count[from] = 1
			refused := func() (refused bool) {
				defer func() { refused = recover() != nil }()
				r.to(0, to)
				return false
			}()
			want := [phases]int32{}
			if refused {
				want[from] = 1
			} else {
				want[to] = 1
			}
			if refused == slices.Contains(allowed[from], to) || r.count != want {
				t.Errorf("from %d to %d: refused %v, counts %v", from, to, refused, r.count)
			}
		}
	}
}

// Runs: in the running list or about to complete.
func TestWhichPhasesCountAsRunning(t *testing.T) {
	for p := range phases {
		r := requests{}
		r.count[p] = 1
		if p.runs() != (r.running() == 1) {
			t.Errorf("phase %d runs: %v, counted: %d", p, p.runs(), r.running())
		}
	}
}

// A queue that grows is copied a few times, not every few requests; requests within the
// seats take little more room than they need.
func TestTableOfRequestsDoublesBeyondTheSeats(t *testing.T) {
	r := requests{cfg: &Config{Args: Args{MaxNumSeqs: 256}}}
	copies := 0
	for n := range 100_000 {
		before := cap(r.slots)
		r.add()
		switch {
		case n < 256 && cap(r.slots) > n+1+max(leastSlots, n/4):
			t.Fatalf("%d slots for %d requests", cap(r.slots), n+1)
		case n >= 256 && cap(r.slots) > before:
			copies++
		}
	}
	if copies > 9 { // 100,000 is less than 2⁹ times the seats
		t.Errorf("%d copies", copies)
	}
}
