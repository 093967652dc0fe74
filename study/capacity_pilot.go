package study

import (
	"context"
	"fmt"
	"math"

	"blis/actors"
	"blis/study/certify"
	"blis/vtime"
)

// The pilot settles what windows are, before the search and with seeds of its own: the
// warm-up and the length that make a window speak of the load, not of how it was started.
const (
	pilotRequests  = 2000
	pilotWarmup    = 400 // of these are not looked at
	warmupE2Es     = 5   // mean E2E latencies: longer than a queue near the knee takes to settle
	lengthE2Es     = 30
	pilotRounds    = 2
	aloneRequests  = 200
	longestWindow  = 1e13 // µs, a third of a year
	chanceRequests = 200
)

// pilot settles the window: from runs just below the knee, found by one run at each load.
func (s *capacitySearch) pilot(ctx context.Context) error {
	if err := s.alone(ctx); err != nil {
		return err
	}
	s.extent = extent{first: pilotWarmup, last: pilotRequests}
	for range pilotRounds {
		knee, err := s.knee(ctx)
		if err != nil {
			return err
		}
		if err := s.settle(knee); err != nil {
			return err
		}
	}
	s.result.Warmup, s.result.Length = vtime.Duration(s.extent.from), s.extent.to.Sub(s.extent.from)
	return nil
}

// Warmup returns the time after which a run of the configuration is past its beginning: five
// times the mean E2E of a pilot run with another seed, as windows of a Capacity have it. Its
// errors are those of actors.Run, and an *actors.InputError if no request completes, or if
// none arrives after it.
func Warmup(ctx context.Context, cfg actors.Config) (vtime.Duration, error) {
	if cfg.Custom.Source != nil {
		return 0, &actors.InputError{Text: "--measure-from auto: a custom source cannot be run more than once"}
	}
	seed := certify.PilotSeed(cfg.Seed, 0)
	cfg.Seed, cfg.WorkloadSeed = seed, &seed
	w, err := runWindow(ctx, cfg, nil, extent{})
	if err != nil {
		return 0, err
	}
	warmup := usualWarmup(w)
	switch {
	case w.MeanE2E == 0:
		return 0, &actors.InputError{Text: "--measure-from auto: no request of a pilot run completes"}
	case w.Arriving <= warmup.Seconds():
		return 0, &actors.InputError{Text: fmt.Sprintf("--measure-from auto: the warm-up takes %v, and all requests arrive within %.3g s: want more requests, or a time", warmup, w.Arriving)}
	}
	return warmup, nil
}

// usualWarmup is the warm-up after a window like this one.
func usualWarmup(w *Window) vtime.Duration {
	warmup := vtime.Duration(warmupE2Es * math.Ceil(w.MeanE2E))
	if warmup > vtime.Second {
		warmup = (warmup + vtime.Millisecond - 1) / vtime.Millisecond * vtime.Millisecond
	}
	return warmup
}

// knee returns the window of the highest load that passes, or of the lightest if none does.
func (s *capacitySearch) knee(ctx context.Context) (*Window, error) {
	windows := map[int]*Window{}
	at := func(rung int) (*Window, error) {
		w, err := s.window(ctx, certify.Window{Rung: rung, Scale: 1, Seed: certify.PilotSeed(s.Base.Seed, 0)})
		windows[rung] = w
		return w, err
	}
	last, err := certify.Bisect(len(s.usable), s.start, s.bound, func(rung int) (bool, error) {
		w, err := at(rung)
		if err != nil {
			return false, err
		}
		return w.Pass, nil
	})
	if err != nil {
		return nil, err
	}
	s.start = max(last, 0)
	if windows[s.start] != nil {
		return windows[s.start], nil
	}
	return at(s.start)
}

// settle chooses the warm-up and the length of windows from a run near the knee.
func (s *capacitySearch) settle(w *Window) error {
	switch unknown := w.MeanE2E == 0 || w.Requests == 0 || !(w.Arriving > 0); {
	case unknown && s.extent.to > 0: // even the lightest load is far too much: what the round before found will do
		return nil
	case unknown:
		return &actors.InputError{Text: fmt.Sprintf("--over: no request completes at %s", s.Over.Text(s.usable[s.start]))}
	}
	warmup := usualWarmup(w)
	if s.Warmup >= 0 {
		warmup = s.Warmup
	}
	length := float64(s.Length.Time)
	perRequest := float64(w.Arriving*1e6) / float64(w.Requests)
	switch {
	case s.Length.Requests > 0:
		length = float64(float64(s.Length.Requests) * perRequest)
	case length == 0:
		length = s.usualLength(w, perRequest)
	}
	if !(length < longestWindow) {
		return &actors.InputError{Text: fmt.Sprintf("--window: %.3g s of virtual time are too long: the SLOs, the precision or the rarest class ask for it: want --window", length/1e6)}
	}
	const round = vtime.Millisecond
	s.extent = extent{from: vtime.Time(warmup), to: vtime.Time(warmup).Add(max(1, vtime.Duration(math.Ceil(length))/round*round+round))}
	return nil
}

// usualLength is the longest of: enough requests of the rarest class for its percentiles,
// thirty mean E2E latencies, and the time in which an overload of one precision breaks the
// longest latency SLO.
func (s *capacitySearch) usualLength(w *Window, perRequest float64) float64 {
	length := float64(lengthE2Es * w.MeanE2E)
	for i := range s.SLOs {
		share := float64(w.OfClass[i]) / float64(w.Requests)
		if share > 0 {
			length = max(length, float64(s.SLOs[i].rarest()/share*perRequest))
		}
		if of, _ := sampledOf(&s.SLOs[i].Measure); of.latency != nil {
			length = max(length, 2*s.SLOs[i].Bound/s.Precision)
		}
	}
	return length
}

// alone fails with *NoLoad if requests that have the cluster for themselves miss an SLO. It is
// of rates alone: no other axis has a load at which requests are alone.
func (s *capacitySearch) alone(ctx context.Context) error {
	if s.Over.Name != "rate" {
		return nil
	}
	one, err := runWindow(ctx, s.seeded(s.config(s.usable[0]), certify.PilotSeed(s.Base.Seed, 1), 1), s.SLOs, extent{first: 0, last: 1})
	if err != nil || one.MeanE2E == 0 {
		return err
	}
	cfg := s.seeded(s.config(s.usable[0]), certify.PilotSeed(s.Base.Seed, 1), 1)
	cfg.Rate = min(cfg.Rate, 1e6/(30*one.MeanE2E))
	many, err := runWindow(ctx, cfg, s.SLOs, extent{first: 0, last: aloneRequests})
	if err != nil {
		return err
	}
	for i, x := range many.Values {
		if !s.SLOs[i].keeps(x) {
			return &NoLoad{s.SLOs[i], x}
		}
	}
	return nil
}

// settleExact finds out whether the answer is exact, where that depends on the traffic.
func (s *capacitySearch) settleExact(ctx context.Context) error {
	if s.result.Exact {
		return nil
	}
	chance, err := s.isChance(ctx)
	s.result.Exact = err == nil && !chance
	return err
}

// isChance finds out whether windows differ at all: whether requests arrive or end at other
// times under another seed.
func (s *capacitySearch) isChance(ctx context.Context) (bool, error) {
	var first uint64
	for i := range 2 {
		cfg := s.seeded(s.config(s.usable[s.start]), certify.PilotSeed(s.Base.Seed, i), 1)
		if s.Base.Trace == "" {
			cfg.NumRequests = chanceRequests
		}
		var hash uint64
		cfg.Row = func(r *actors.Row) {
			for _, x := range [...]uint64{uint64(r.Arrival), uint64(r.Finished), uint64(r.State), uint64(r.Input), uint64(r.Generated)} {
				hash = vtime.Mix(hash ^ x)
			}
		}
		if _, err := actors.Run(ctx, cfg); err != nil {
			return false, err
		}
		if i == 1 {
			return hash != first, nil
		}
		first = hash
	}
	return true, nil
}

// seeded gives a configuration the seed of a window.
func (s *capacitySearch) seeded(cfg actors.Config, seed uint64, scale int) actors.Config {
	cfg.Seed, cfg.WorkloadSeed = seed, &seed
	if s.extent.to > 0 {
		cfg.MeasureFrom, cfg.MeasureTo = vtime.Duration(s.extent.from), vtime.Duration(s.scaled(scale).to)
	}
	return cfg
}

// scaled is the extent of windows of so many times the length.
func (s *capacitySearch) scaled(scale int) extent {
	e := s.extent
	if e.to > 0 {
		e.to = e.from.Add(vtime.Duration(scale) * e.to.Sub(e.from))
	}
	return e
}

// window runs one window.
func (s *capacitySearch) window(ctx context.Context, w certify.Window) (*Window, error) {
	cfg := s.seeded(s.config(s.usable[w.Rung]), w.Seed, w.Scale)
	if !s.result.Exact { // several windows run at a time
		cfg.Workers = 1
	}
	window, err := runWindow(ctx, cfg, s.SLOs, s.scaled(w.Scale))
	if err != nil {
		return nil, err
	}
	if window.EndedEarly {
		return nil, &actors.InputError{Text: fmt.Sprintf("--window: the workload ends within a window, after %d of its requests: want a shorter --window, or a workload without an end", window.Requests)}
	}
	return window, nil
}
