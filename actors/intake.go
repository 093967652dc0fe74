package actors

import (
	"blis/setup"
	"blis/vtime"
	"blis/workload"
	"blis/workload/traces"
)

// incoming is the requests that come from the workload.
type incoming struct {
	intake  intake
	next    workload.Request // pulled, not arrived yet
	more    bool             // there is a next one
	arrived int64            // requests injected
	numbers uint64           // the sum of their numbers
	ties    ties             // requests that arrived together

	numbered bool // Index of the requests is their number, as they are a part of all
}

func newIncoming(source workload.Source) incoming {
	_, numbered := source.(*partRequests)
	return incoming{intake: newIntake(source), numbered: numbered}
}

// number returns the number of the request that arrives next.
func (in *incoming) number(r *workload.Request) int64 {
	if in.numbered {
		return int64(r.Index)
	}
	return in.arrived
}

// intake pulls requests from the source, some before the router asks for them:
// nothing waits then for a file to be read or lengths to be drawn. The router gets
// the same requests however far ahead the intake is.
type intake struct {
	source workload.Source
	ended  bool // the source has nothing more, or failed

	known workload.Known // labels before the first request
	names Names          // of these

	ring   []pulled // nil until first prepared, then of length ringSize
	filled uint64   // pulls put into the ring
	taken  uint64   // pulls taken out of the ring by the router, ≤ filled ≤ taken + ringSize − 1

	last  *workload.Request // pulled last without the ring, while its spans are memory of the source
	spans []workload.Span   // memory of last.Spans after that
}

// pulled is the result of one pull.
type pulled struct {
	request workload.Request
	spans   []workload.Span // memory of request.Spans
	more    bool
	err     error
}

// ringSize is more than the requests that 1,000 busy instances get in a refresh
// interval of 50 ms. It is a power of two.
const ringSize = 1 << 12

func newIntake(source workload.Source) intake {
	l := source.Labels()
	l.NameUsual()
	return intake{source: source, known: l.Known(), names: Names{Tenants: l.Tenants.List(), Classes: l.Classes.List(), Models: l.Models.List()}}
}

// check reports why the source may not yield r, or nil: r must be legal, and its
// names in the source's table before the run. Names that came with a request
// would be there earlier or later as the intake is ahead or not, and other
// processes read the table meanwhile.
func (in *intake) check(r *workload.Request) error {
	if err := r.Validate(); err != nil {
		return err
	}
	return in.known.Check(&r.Tags, in.source.Labels())
}

// pull is Source.Pull.
func (in *intake) pull(r *workload.Request) (bool, error) {
	if in.taken == in.filled {
		in.last = r
		more, err := in.source.Pull(r)
		in.ended = !more || err != nil
		return more, err
	}
	p := &in.ring[in.taken%ringSize]
	in.taken++
	*r = p.request
	return p.more, p.err
}

// prepare fills the ring, but not the place of the pull taken last: its spans are
// still read.
func (in *intake) prepare() {
	if in.ended || in.filled-in.taken >= ringSize-1 {
		return
	}
	if in.ring == nil {
		in.ring = make([]pulled, ringSize)
	}
	if in.last != nil {
		in.spans = append(in.spans[:0], in.last.Spans...)
		in.last.Spans, in.last = in.spans, nil
	}
	for !in.ended && in.filled-in.taken < ringSize-1 {
		p := &in.ring[in.filled%ringSize]
		p.more, p.err = in.source.Pull(&p.request)
		p.spans = append(p.spans[:0], p.request.Spans...)
		p.request.Spans = p.spans
		in.ended = !p.more || p.err != nil
		in.filled++
	}
}

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
func noteTies(p *setup.Plan, s *Setup, tied, arrived int64) {
	if _, replayed := p.Source.(*traces.Trace); !replayed || p.Config.SpreadTies || tied*mostTied <= arrived {
		return
	}
	s.Note("%d of %d requests arrive at the same µs as another: bursts, unless the clock was coarse; --spread-ties moves them apart", tied, arrived)
}
