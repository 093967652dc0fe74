package actors

import (
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
)

// signalGroup is a set of signals that instances publish together, with the snapshots
// that carry them. There are three uses, each with a group for every cadence:
//   - signals of the router with another cadence than its load snapshots, such as KV
//     use every 50 ms beside an immediate queue depth;
//   - signals on demand, which are as the engine has them when the router decides;
//   - all signals that the autoscaler reads.
//
// Load snapshots, which most runs have alone, are smaller and cost less.
type signalGroup struct {
	snapshots *snapshots[policy.InstanceState]
	signals   policy.Signals // that they carry
	onDemand  bool           // the state of the engine as it is, not as the instance publishes it
	checks    bool           // for the autoscaler alone: the kernel runs its checks after all events before them
	refresh   int64          // last refresh that the view shows; −1: none
}

// show enters s in the view, as clusterView.show does with a load.
func (f *signalGroup) show(view *policy.View, i int, s *policy.InstanceState) {
	if view.Phase(i) != policy.Gone {
		view.ShowSignals(i, s, f.signals)
	}
}

// update makes the view of s show what a decision at now may see of these signals.
func (f *signalGroup) update(s *clusterView, now vtime.Time) {
	switch b := f.snapshots; {
	case b.cadence != immediate:
		if k := b.before(now); k > f.refresh && !s.readsAtRefreshes() {
			for _, i := range s.view.Present() {
				state := b.at(int(i), k)
				f.show(&s.view, int(i), &state)
			}
			f.refresh = k
		}
	case s.engines != nil:
		f.readEngines(s)
	default:
		b.takeChanged(func(i int, state policy.InstanceState) { f.show(&s.view, i, &state) })
	}
}

// readEngines is update for the sequential twin, which reads engines in place of
// snapshots.
func (f *signalGroup) readEngines(s *clusterView) {
	for i, p := range s.engines {
		state := p.observe(f)
		f.show(&s.view, i, &state)
	}
}

// recent sums the latencies of the last RecentCompletions requests that completed on
// an instance, with the overheads that clients see.
type recent struct {
	options metrics.Options // overheads and targets
	ring    [policy.RecentCompletions]policy.Service
	next    int // index in ring of the next request
	sums    policy.Service
}

// add adds request o if it completed.
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
	oldest, s := &r.ring[r.next], &r.sums
	s.TTFT += c.TTFT - oldest.TTFT
	s.TPOT += c.TPOT - oldest.TPOT
	s.TTFTs += c.TTFTs - oldest.TTFTs
	s.TPOTs += c.TPOTs - oldest.TPOTs
	s.Judged += c.Judged - oldest.Judged
	s.Attained += c.Attained - oldest.Attained
	*oldest = c
	r.next = (r.next + 1) % len(r.ring)
}

// fill enters the sums in s.
func (r *recent) fill(s *policy.Service) {
	s.TTFT, s.TTFTs, s.TPOT, s.TPOTs, s.Judged, s.Attained = r.sums.TTFT, r.sums.TTFTs, r.sums.TPOT, r.sums.TPOTs, r.sums.Judged, r.sums.Attained
}
