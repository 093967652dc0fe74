package actors

import (
	"blis/engine"
	"blis/policy"
	"blis/vtime"
)

// sideSnapshots are snapshots of signals with another cadence than the load
// snapshots: KV use every 50 ms beside an immediate queue depth, or the hit rate
// every 10 ms. Most runs have none.
type sideSnapshots struct {
	snapshots *snapshots[loadDetail]
	signals   policy.Signals // that they carry
	onDemand  bool           // the router reads the engine as it is, not as the instance publishes it
	refresh   int64          // last refresh that the view shows; −1: none
}

// loadDetail is everything that an instance can publish. Signals that the side
// snapshots do not carry are 0 in it.
type loadDetail struct {
	load
	policy.Service
}

// loadDetail is what the instance publishes of the signals of f.
func (p *instance) loadDetail(f *sideSnapshots) loadDetail {
	state := p.state(f.onDemand)
	var d loadDetail
	if f.signals&policy.QueueDepth != 0 {
		d.waiting = state.Waiting
	}
	if f.signals&policy.BatchSize != 0 {
		d.running = state.Running
	}
	if f.signals&policy.KVUse != 0 {
		d.used = state.Used
	}
	if f.signals&policy.RecentLatency != 0 {
		d.Service = p.recent.sums
	}
	if f.signals&policy.EstimatedWait != 0 {
		d.WaitingTokens, d.PrefillTokens, d.PrefillMicros = state.WaitingTokens, state.PrefillTokens, state.PrefillMicros
	}
	if f.signals&policy.HitRate != 0 {
		d.CachedTokens, d.LookedUpTokens = state.CachedTokens, state.LookedUpTokens
	}
	return d
}

// state is the state of the engine: as it is with onDemand, else as the instance
// publishes it.
func (p *instance) state(asked bool) engine.State {
	if p.perStep && !asked {
		return p.engine.StepState()
	}
	return p.engine.State()
}

// show enters d in the view, as clusterView.show does with a load.
func (f *sideSnapshots) show(view *policy.View, i int, d loadDetail) {
	slot, service := view.Slot(i), view.Service(i)
	if slot.Phase == policy.Gone {
		return
	}
	if f.signals&policy.QueueDepth != 0 {
		slot.Queue = d.waiting
	}
	if f.signals&policy.BatchSize != 0 {
		slot.Batch = d.running
	}
	if f.signals&policy.KVUse != 0 {
		slot.Used = d.used
	}
	if f.signals&policy.RecentLatency != 0 {
		service.TTFT, service.TTFTs, service.TPOT, service.TPOTs = d.TTFT, d.TTFTs, d.TPOT, d.TPOTs
		service.Judged, service.Attained = d.Judged, d.Attained
	}
	if f.signals&policy.EstimatedWait != 0 {
		service.WaitingTokens, service.PrefillTokens, service.PrefillMicros = d.WaitingTokens, d.PrefillTokens, d.PrefillMicros
	}
	if f.signals&policy.HitRate != 0 {
		service.CachedTokens, service.LookedUpTokens = d.CachedTokens, d.LookedUpTokens
	}
	view.Set(i, slot)
	view.ShowService(i, service)
}

// look makes the view show what a decision at now may see of these signals.
func (f *sideSnapshots) look(s *clusterView, now vtime.Time) {
	switch b := f.snapshots; {
	case b.cadence != immediate:
		if k := b.before(now); k > f.refresh && !s.takesRefreshes() {
			for _, i := range s.view.Present() {
				f.show(&s.view, int(i), b.at(int(i), k))
			}
			f.refresh = k
		}
	case s.engines != nil:
		f.readEngines(s)
	default:
		b.takeChanged(func(i int, d loadDetail) { f.show(&s.view, i, d) })
	}
}

// readEngines is look for the sequential twin.
func (f *sideSnapshots) readEngines(s *clusterView) {
	for i, p := range s.engines {
		f.show(&s.view, i, p.loadDetail(f))
	}
}
