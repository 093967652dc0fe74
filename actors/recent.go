package actors

import (
	"blis/metrics"
	"blis/policy"
)

// recent sums the latencies of the last requests that completed on an
// instance, as their clients see them.
type recent struct {
	options metrics.Options // overheads and targets
	ring    [policy.RecentCompletions]policy.Service
	next    int // place in ring
	sums    policy.Service
}

// add adds a request that completed; it ignores others.
func (r *recent) add(o *metrics.Outcome) {
	if o.State != metrics.Completed {
		return
	}
	var c policy.Service // of this one request
	if d, ok := o.TTFT(r.options.TokenOverhead); ok {
		c.TTFT, c.TTFTs = int64(d), 1
	}
	if d, ok := o.TPOT(r.options.TokenOverhead, r.options.RequestOverhead); ok {
		c.TPOT, c.TPOTs = int64(d), 1
	}
	if judged, attained := r.options.Attained(o); judged {
		c.Judged = 1
		if attained {
			c.Attained = 1
		}
	}
	out, s := &r.ring[r.next], &r.sums
	s.TTFT += c.TTFT - out.TTFT
	s.TPOT += c.TPOT - out.TPOT
	s.TTFTs += c.TTFTs - out.TTFTs
	s.TPOTs += c.TPOTs - out.TPOTs
	s.Judged += c.Judged - out.Judged
	s.Attained += c.Attained - out.Attained
	*out = c
	r.next = (r.next + 1) % len(r.ring)
}

// fill enters the sums in s.
func (r *recent) fill(s *policy.Service) {
	s.TTFT, s.TTFTs, s.TPOT, s.TPOTs, s.Judged, s.Attained = r.sums.TTFT, r.sums.TTFTs, r.sums.TPOT, r.sums.TPOTs, r.sums.Judged, r.sums.Attained
}
