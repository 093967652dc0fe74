package actors

import (
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
)

// recent sums the latencies of the last requests that completed on an
// instance, as their clients see them.
type recent struct {
	token, request vtime.Duration // the latency model's overheads
	ring           [policy.RecentCompletions]completion
	next           int // place in the ring
	sums           policy.Service
}

// completion is what one request adds to the sums.
type completion struct {
	ttft, tpot       int64
	hasTTFT, hasTPOT int32 // 1 or 0
}

// add takes an outcome in, if the request completed.
func (r *recent) add(o *metrics.Outcome) {
	if o.State != metrics.Completed {
		return
	}
	var c completion
	if d, ok := o.TTFT(r.token); ok {
		c.ttft, c.hasTTFT = int64(d), 1
	}
	if d, ok := o.TPOT(r.token, r.request); ok {
		c.tpot, c.hasTPOT = int64(d), 1
	}
	out := &r.ring[r.next]
	s := &r.sums
	s.TTFT += c.ttft - out.ttft
	s.TPOT += c.tpot - out.tpot
	s.TTFTs += c.hasTTFT - out.hasTTFT
	s.TPOTs += c.hasTPOT - out.hasTPOT
	*out = c
	r.next = (r.next + 1) % len(r.ring)
}
