package actors

import (
	"blis/engine"
	"blis/policy"
	"blis/vtime"
)

// feed is a board of its own for signals that are not as fresh as the load
// signals, which most runs read alone: KV use every 50 ms beside a queue depth
// as it is, or the hit rate every 10 ms.
type feed struct {
	board   *board[detail]
	signals policy.Signals // that it carries
	asked   bool           // the router asks the instance, rather than read what that publishes
	refresh int64          // the last one that the router took over, −1: none
}

// detail is a reading with everything that an instance can show. What a feed
// does not carry is 0 in it.
type detail struct {
	reading
	policy.Service
}

// detail is what the instance shows of the signals of f.
func (p *instance) detail(f *feed) detail {
	state := p.state(f.asked)
	var d detail
	if f.signals&policy.QueueDepth != 0 {
		d.queue = state.Waiting
	}
	if f.signals&policy.BatchSize != 0 {
		d.batch = state.Running
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

// state is that of the engine: as it is for who asks, else as the instance
// publishes it.
func (p *instance) state(asked bool) engine.State {
	if p.perStep && !asked {
		return p.engine.StepState()
	}
	return p.engine.State()
}

// enter shows a reading of a feed in the view, as sight.show does.
func (f *feed) enter(view *policy.View, i int, d detail) {
	slot, service := view.Slot(i), view.Service(i)
	if slot.Phase == policy.Gone {
		return
	}
	if f.signals&policy.QueueDepth != 0 {
		slot.Queue = d.queue
	}
	if f.signals&policy.BatchSize != 0 {
		slot.Batch = d.batch
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

// look brings the view up to what a decision at now may see of the feed.
func (f *feed) look(s *sight, now vtime.Time) {
	switch b := f.board; {
	case b.cadence != immediate:
		if k := b.before(now); k > f.refresh && !s.takesRefreshes() {
			for _, i := range s.view.Present() {
				f.enter(&s.view, int(i), b.seen(int(i), k))
			}
			f.refresh = k
		}
	case s.engines != nil:
		f.readEngines(s)
	default:
		b.news(func(i int, d detail) { f.enter(&s.view, i, d) })
	}
}

// readEngines is look for the strictest twin.
func (f *feed) readEngines(s *sight) {
	for i, p := range s.engines {
		f.enter(&s.view, i, p.detail(f))
	}
}
