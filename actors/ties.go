package actors

import (
	"blis/setup"
	"blis/vtime"
	"blis/workload/traces"
)

// ties counts requests that arrive at the same µs as another. A trace with coarse
// timestamps has many: bursts that were none.
type ties struct {
	last  vtime.Time // last arrival
	group int64      // requests that arrived at last
	tied  int64      // requests of groups of two or more
}

// count counts a request that arrives at now.
func (t *ties) count(now vtime.Time) {
	if t.group == 0 || now != t.last {
		t.last, t.group = now, 1
		return
	}
	if t.group++; t.group == 2 {
		t.tied++
	}
	t.tied++
}

// mostTied: a note says so if more than one request in mostTied is tied.
const mostTied = 10

// noteTies notes that the timestamps of the trace are coarse.
func (r *router) noteTies(p *setup.Plan, s *Setup) {
	if _, replayed := p.Source.(*traces.Trace); !replayed || p.Config.SpreadTies || r.arrivals.ties.tied*mostTied <= r.arrivals.arrived {
		return
	}
	s.Note("%d of %d requests arrive at the same µs as another: bursts, unless the clock was coarse; --spread-ties moves them apart", r.arrivals.ties.tied, r.arrivals.arrived)
}
