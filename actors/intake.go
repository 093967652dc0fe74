package actors

import "blis/workload"

// intake pulls requests from the source, some of them before the router asks
// for them: reading a file or drawing lengths is work that nobody waits for
// then. What the router gets, and what the digest sees of the source, is the
// same however far ahead the intake is.
type intake struct {
	source workload.Source
	ended  bool // the source has nothing more, or failed

	ring   []pulled // a power of two; nil until first prepared
	taken  uint64   // pulls that the router has had off the ring …
	filled uint64   // … of so many

	ahead bool              // the source is further on than the router …
	fold  uint64            // … after whose last pull it was this
	last  *workload.Request // what the router pulled from the source itself
	spans []workload.Span   // and its spans, if the source has gone on since
}

// pulled is the outcome of one pull.
type pulled struct {
	request workload.Request
	spans   []workload.Span // memory of request.Spans
	more    bool
	err     error
	fold    uint64
}

// ringSize is how many requests an intake is ahead at most, some more than
// 1,000 busy instances get in a refresh interval of 50 ms.
const ringSize = 1 << 12

// pull is Source.Pull. Spans are valid until the next pull.
func (in *intake) pull(r *workload.Request) (bool, error) {
	if in.taken == in.filled {
		in.ahead, in.last = false, r
		more, err := in.source.Pull(r)
		in.ended = !more || err != nil
		return more, err
	}
	p := &in.ring[in.taken%ringSize]
	in.taken++
	in.fold = p.fold
	*r = p.request
	return p.more, p.err
}

// prepare fills the ring. The entry taken last stays as it is: its spans are
// still read.
func (in *intake) prepare() {
	if in.ended || in.filled-in.taken >= ringSize-1 {
		return
	}
	if in.ring == nil {
		in.ring = make([]pulled, ringSize)
	}
	if !in.ahead {
		in.ahead, in.fold = true, in.source.Fold()
		if in.last != nil {
			in.spans = append(in.spans[:0], in.last.Spans...)
			in.last.Spans = in.spans
		}
	}
	for !in.ended && in.filled-in.taken < ringSize-1 {
		p := &in.ring[in.filled%ringSize]
		p.more, p.err = in.source.Pull(&p.request)
		p.spans = append(p.spans[:0], p.request.Spans...)
		p.request.Spans = p.spans
		p.fold = in.source.Fold()
		in.ended = !p.more || p.err != nil
		in.filled++
	}
}

// state is the fold of the source as of the router's last pull.
func (in *intake) state() uint64 {
	if in.ahead {
		return in.fold
	}
	return in.source.Fold()
}
