package study

import (
	"context"
	"slices"

	"blis/study/certify"
	"blis/vtime"
)

// certified searches and certifies where windows differ by chance.
func (s *capacitySearch) certified(ctx context.Context) (*CapacityResult, error) {
	if err := s.settleExact(ctx); err != nil {
		return nil, err
	}
	if s.result.Exact {
		return s.exact(ctx)
	}
	if s.Base.Trace == "" {
		if err := s.pilot(ctx); err != nil {
			return nil, err
		}
	}
	runner := newAheadRunner(s.workers(), s.window)
	defer runner.stop()
	search := certify.Search{
		Rungs: len(s.usable), Start: s.start, Bound: s.bound, Share: s.Share, Confidence: s.Confidence, MaxWindows: s.MaxWindows,
		Seed: s.Base.Seed, Observe: s.observe, OneLength: s.extent.whole(),
	}
	answer, err := certify.Find(ctx, search, runner)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	described := s.describe(ctx, &answer, runner)
	s.result.Partial = err != nil
	if described != nil {
		return nil, described
	}
	return &s.result, err
}

// observe passes progress on.
func (s *capacitySearch) observe(p certify.Progress) {
	if s.Observe != nil {
		s.Observe(CapacityProgress{p.Phase, s.Over.Text(s.usable[p.Rung]), p.Windows})
	}
	if s.Pool.Progress != nil {
		s.Pool.Progress(p.Windows, s.MaxWindows)
	}
}

// describe makes the result of an answer.
func (s *capacitySearch) describe(ctx context.Context, a *certify.Answer, runner *aheadRunner) error {
	r := &s.result
	r.Scale, r.Windows, r.Longer = a.Scale, a.Windows, a.Longer
	r.Length *= vtime.Duration(a.Scale)
	r.Outcome = map[certify.Outcome]CapacityOutcome{
		certify.Answered: CapacityFound, certify.NothingHolds: NoLoadHolds, certify.EverythingHolds: EveryLoadHolds, certify.NotCertified: CapacityNotKnown,
	}[a.Outcome]
	for _, t := range a.Rungs {
		r.Tried = append(r.Tried, TriedLoad{s.Over.Values[s.usable[t.Rung]], t.Scale, t.Passes, t.Windows})
	}
	for _, pair := range a.Contradictions() {
		r.Contradictions = append(r.Contradictions, [2]float64{s.Over.Values[s.usable[pair[0].Rung]], s.Over.Values[s.usable[pair[1].Rung]]})
	}
	var err error
	if r.Holds, err = s.describeEnd(ctx, a.Lower, true, runner); err != nil {
		return err
	}
	r.Fails, err = s.describeEnd(ctx, a.Upper, false, runner)
	s.oneIsEnough()
	return err
}

// describeEnd makes an end of the result from the windows of its last attempt.
func (s *capacitySearch) describeEnd(ctx context.Context, end *certify.End, pass bool, runner *aheadRunner) (*CapacityEnd, error) {
	if end == nil {
		return nil, nil
	}
	var windows []*Window
	var seeds []uint64
	for _, w := range end.Tried {
		windows, seeds = append(windows, runner.result(w)), append(seeds, w.Seed)
	}
	e, err := s.end(ctx, end.Rung, windows, pass, seeds)
	if err != nil {
		return nil, err
	}
	e.Certified, e.Attempts = end.Certified, end.Attempts
	return e, nil
}

// oneIsEnough turns an answer that everything in the range holds into a found one where there
// is nothing beyond the range: fewer than one instance, or a smaller TP than one that fits.
func (s *capacitySearch) oneIsEnough() {
	r := &s.result
	if r.Outcome != EveryLoadHolds || !s.Over.Supply() {
		return
	}
	least := s.Over.Values[s.usable[len(s.usable)-1]]
	smallest := 1.0
	if s.Over.Name == "num-instances" {
		smallest = float64(fewest(&s.Base.Config))
	}
	if least == smallest || slices.ContainsFunc(r.Refused, func(x RefusedRung) bool { return x.Value < least }) {
		r.Outcome = CapacityFound
	}
}

// exact searches where every window of a load is the same: one run for each.
func (s *capacitySearch) exact(ctx context.Context) (*CapacityResult, error) {
	if s.Base.Trace == "" {
		if err := s.pilot(ctx); err != nil {
			return nil, err
		}
	}
	s.result.Scale = 1
	windows := map[int]*Window{}
	seed := s.Base.Seed
	last, err := certify.Bisect(len(s.usable), s.start, s.bound, func(rung int) (bool, error) {
		w, err := s.window(ctx, certify.Window{Rung: rung, Scale: 1, Seed: seed})
		if err != nil {
			return false, err
		}
		windows[rung] = w
		tried := TriedLoad{Value: s.Over.Values[s.usable[rung]], Scale: 1, Windows: 1}
		if w.Pass {
			tried.Passes = 1
		}
		s.result.Tried = append(s.result.Tried, tried)
		s.result.Windows++
		s.observe(certify.Progress{Phase: certify.Searching, Rung: rung, Windows: s.result.Windows})
		return w.Pass, nil
	})
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	interrupted := err
	s.result.Partial, s.result.Outcome = err != nil, exactOutcome(last, len(s.usable))
	if err != nil {
		s.result.Outcome = CapacityNotKnown
	}
	for rung, w := range windows { // in any order: an end is one rung
		end, pass := &s.result.Holds, true
		if rung == last+1 {
			end, pass = &s.result.Fails, false
		} else if rung != last {
			continue
		}
		if *end, err = s.end(ctx, rung, []*Window{w}, pass, []uint64{seed}); err != nil {
			return nil, err
		}
	}
	s.oneIsEnough()
	return &s.result, interrupted
}

func exactOutcome(last, rungs int) CapacityOutcome {
	switch last {
	case -1:
		return NoLoadHolds
	case rungs - 1:
		return EveryLoadHolds
	}
	return CapacityFound
}
