package actors

import (
	"blis/engine"
	"blis/vtime"
)

// engines is what runs in an instance: one engine, or with data-parallel ranks those of all. A single
// one is called directly, since this is where runs spend their time.
type engines struct {
	engine *engine.Engine // nil with ranks
	ranks  *engine.Ranks  // nil: there is one engine
}

// next is Engine.Next.
func (s *engines) next() (vtime.Time, uint8) {
	if s.ranks != nil {
		return s.ranks.Next()
	}
	return s.engine.Next()
}

// act is Engine.Act.
func (s *engines) act(until vtime.Time, class uint8) {
	if s.ranks != nil {
		s.ranks.Act(until, class)
		return
	}
	s.engine.Act(until, class)
}

// all returns the engines of the ranks, to be read.
func (s *engines) all() []*engine.Engine {
	if s.ranks != nil {
		return s.ranks.Engines()
	}
	return []*engine.Engine{s.engine}
}

// of returns the engine of rank k, to be read.
func (s *engines) of(k int) *engine.Engine {
	if s.ranks != nil {
		return s.ranks.Engines()[k]
	}
	return s.engine
}

// rank returns the engine of rank k just before an event of a class at now, for what reaches it alone.
func (s *engines) rank(k int, now vtime.Time, class uint8) *engine.Engine {
	if s.ranks != nil {
		return s.ranks.Rank(k, now, class)
	}
	return s.engine
}

// now is Engine.Now.
func (s *engines) now() vtime.Time {
	if s.ranks != nil {
		return s.ranks.Now()
	}
	return s.engine.Now()
}

// busy reports whether something is left to do.
func (s *engines) busy() bool {
	at, _ := s.next()
	if s.ranks != nil {
		return at != vtime.Never || s.ranks.Awaits()
	}
	return at != vtime.Never || s.engine.Storage.Awaits()
}

// deliver is Engine.Deliver.
func (s *engines) deliver(d *engine.Delivery, now vtime.Time) {
	if s.ranks != nil {
		s.ranks.Endpoints[d.Endpoint].Deliver(d, now)
		return
	}
	s.engine.Deliver(d, now)
}

// resume is Engine.Resume.
func (s *engines) resume(d *engine.Delivery, p *engine.Progress, now vtime.Time) {
	if s.ranks != nil {
		s.ranks.Endpoints[d.Endpoint].Resume(d, p, now)
		return
	}
	s.engine.Resume(d, p, now)
}

// prefill is PullPort.Prefill.
func (s *engines) prefill(d *engine.Delivery, now vtime.Time) {
	if s.ranks != nil {
		s.ranks.Endpoints[d.Endpoint].Prefill(d, now)
		return
	}
	s.engine.Pulls.Prefill(d, now)
}

// pull is PullPort.Pull.
func (s *engines) pull(d *engine.Delivery, from engine.KVSource, fails bool, now vtime.Time) {
	if s.ranks != nil {
		s.ranks.Endpoints[d.Endpoint].Pull(d, from, fails, now)
		return
	}
	s.engine.Pulls.Pull(d, from, fails, now)
}

// prefillAgain is PullPort.PrefillAgain.
func (s *engines) prefillAgain(d *engine.Delivery, p *engine.Progress, now vtime.Time) {
	if s.ranks != nil {
		s.ranks.Endpoints[d.Endpoint].PrefillAgain(d, p, now)
		return
	}
	s.engine.Pulls.PrefillAgain(d, p, now)
}

// pullAgain is PullPort.PullAgain.
func (s *engines) pullAgain(d *engine.Delivery, p *engine.Progress, from engine.KVSource, fails bool, now vtime.Time) {
	if s.ranks != nil {
		s.ranks.Endpoints[d.Endpoint].PullAgain(d, p, from, fails, now)
		return
	}
	s.engine.Pulls.PullAgain(d, p, from, fails, now)
}

// evict is engine.Evict.
func (s *engines) evict(request int64, now vtime.Time) {
	if s.ranks != nil {
		engine.EvictFrom(s.ranks, request, now)
		return
	}
	engine.Evict(s.engine, request, now)
}

// abort is Engine.Abort.
func (s *engines) abort(now vtime.Time) {
	if s.ranks != nil {
		s.ranks.Abort(now)
		return
	}
	s.engine.Abort(now)
}

// handBack is Engine.HandBack, with the rank that had a request.
func (s *engines) handBack(now vtime.Time, f func(rank int, d *engine.Delivery, p *engine.Progress)) {
	if s.ranks != nil {
		s.ranks.HandBack(now, f)
		return
	}
	s.engine.HandBack(now, func(d *engine.Delivery, p *engine.Progress) { f(0, d, p) })
}

// cutOff is engine.CutOff, with the rank that had a request.
func (s *engines) cutOff(now vtime.Time, f func(rank int, d *engine.Delivery, p *engine.Progress, lost int32)) {
	if s.ranks != nil {
		s.ranks.CutOff(now, f)
		return
	}
	engine.CutOff(s.engine, now, func(d *engine.Delivery, p *engine.Progress, lost int32) { f(0, d, p, lost) })
}

// restart is engine.Restart, with a configuration for each rank.
func (s *engines) restart(config func(rank int) engine.Config) {
	if s.ranks != nil {
		s.ranks.Restart(config)
		return
	}
	engine.Restart(s.engine, config(0))
}

// warmUp is engine.WarmUp.
func (s *engines) warmUp(now vtime.Time) {
	if s.ranks != nil {
		s.ranks.WarmUp(now)
		return
	}
	engine.WarmUp(s.engine, now)
}

// slow is engine.Slow.
func (s *engines) slow(factor float64, now vtime.Time) {
	if s.ranks != nil {
		s.ranks.Slow(factor, now)
		return
	}
	engine.Slow(s.engine, factor)
}

// release is Engine.Release.
func (s *engines) release(gone vtime.Time) bool {
	if s.ranks != nil {
		return s.ranks.Release(gone)
	}
	return s.engine.Release(gone)
}

// finish is Engine.Finish.
func (s *engines) finish(end, gone vtime.Time) {
	if s.ranks != nil {
		s.ranks.Finish(end, gone)
		return
	}
	s.engine.Finish(end, gone)
}

// check is Engine.Check.
func (s *engines) check() error {
	if s.ranks != nil {
		return s.ranks.Check()
	}
	return s.engine.Check()
}

// fold is Engine.Fold.
func (s *engines) fold() uint64 {
	if s.ranks != nil {
		return s.ranks.Fold()
	}
	return s.engine.Fold()
}
