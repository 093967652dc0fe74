package study

import (
	"context"
	"math"

	"blis/actors"
	"blis/setup"
	"blis/study/certify"
	"blis/vtime"
)

// CapacityOutcome is how a search for a capacity ended.
type CapacityOutcome string

// Outcomes. For requests that are the same every time an end is not certified but exact.
const (
	CapacityFound    CapacityOutcome = "found"
	NoLoadHolds      CapacityOutcome = "no_load"       // not even the lightest load of the range
	EveryLoadHolds   CapacityOutcome = "every_load"    // even the heaviest load of the range
	CapacityNotKnown CapacityOutcome = "not_certified" // an end could not be certified, or the search was interrupted
)

// CapacityResult is the answer to a Capacity.
type CapacityResult struct {
	Outcome CapacityOutcome
	Partial bool // interrupted: the ends are what was known
	Exact   bool // all windows of a load are the same: one run of each, no chance

	Holds, Fails *CapacityEnd // nil: none is known
	Longer       *certify.End // the end that holds, with windows of twice the length

	// Warmup and Length are the window: the requests that arrive in Length after Warmup. Both
	// are 0 if the whole workload is the window. Scale is by how much longer the windows of
	// the ends became than the pilot had them, in which case Length is of the longer ones.
	Warmup, Length vtime.Duration
	Scale          int

	Windows        int // that were consumed
	Tried          []TriedLoad
	Contradictions [][2]float64
	Refused        []RefusedRung
	Latency        LatencyChoice
	Setup          actors.Setup // of a load that can run
	Notes          []string
}

// TriedLoad is what windows of a load gave in the search, before both ends were certified.
// The search leaves a load as soon as it has seen enough of it.
type TriedLoad struct {
	Value           float64 // of the axis
	Scale           int     // length of the windows, in lengths of the pilot's
	Passes, Windows int
}

// RefusedRung is a value of the axis that cannot run.
type RefusedRung struct {
	Value float64
	Err   error
}

// CapacityEnd is one end of the answer.
type CapacityEnd struct {
	Value     float64 // of the axis
	Certified bool    // by fresh windows; false for exact results too
	Passes    int     // of Windows
	Windows   int     // of the last attempt, those that the claim rests on
	Attempts  int

	Requests int64     // mean over the windows
	Lost     int64     // of all windows together
	Grew     int       // windows that failed because the backlog grew, whatever else they missed
	Measured []float64 // of the SLOs, mean over the windows; infinite where one is
	Worst    []float64 // of the SLOs, over the windows

	// Cost per million output tokens, nil without a price; GPUs of the cluster.
	CostPerMillion *float64
	GPUs           int

	Config   actors.Config // effective
	Repeat   setup.Config  // that repeats the decisive run, without what is derived
	Setup    actors.Setup
	Decisive *DecisiveRun // nil: there is none
}

// DecisiveRun is a window that went the way of the claim. A run of its configuration repeats it.
type DecisiveRun struct {
	Seed     uint64
	Requests int64 // that arrive until the last of the window has ended; 0: all of the workload
	Pass     bool
}

// end describes an end from the windows of its last attempt.
func (s *capacitySearch) end(ctx context.Context, rung int, windows []*Window, pass bool, seeds []uint64) (*CapacityEnd, error) {
	value := s.Over.Values[s.usable[rung]]
	e := &CapacityEnd{Value: value, Windows: len(windows), Measured: make([]float64, len(s.SLOs)), Worst: make([]float64, len(s.SLOs))}
	tokens, seconds := int64(0), 0.0
	for i, w := range windows {
		if w.Pass {
			e.Passes++
		}
		if w.Pass == pass {
			e.Decisive = &DecisiveRun{Seed: seeds[i], Pass: w.Pass}
		}
		e.Requests += w.Requests
		e.Lost += w.Lost
		if w.Grew {
			e.Grew++
		}
		tokens += w.OutputTokens
		seconds += w.Seconds
		for j, x := range w.Values {
			e.Measured[j] += x / float64(len(windows))
			if i == 0 || s.SLOs[j].worse(x, e.Worst[j]) {
				e.Worst[j] = x
			}
		}
	}
	if len(windows) > 0 {
		e.Requests /= int64(len(windows))
	}
	cfg, err := s.config(s.usable[rung]), error(nil)
	if e.Decisive != nil {
		if cfg, err = s.repeatable(ctx, cfg, e.Decisive); err != nil {
			return nil, err
		}
	}
	effective, summary, err := actors.Check(cfg)
	if err != nil {
		return nil, err
	}
	effective.Execution = actors.Execution{}
	e.Config, e.Repeat, e.Setup = effective, cfg.Config, summary
	e.GPUs = setup.GPUs(&effective.Config)
	if price := hourlyPrice(&effective); price > 0 && tokens > 0 {
		cost := float64(price * seconds / 3600 / float64(tokens) * 1e6)
		e.CostPerMillion = &cost
	}
	return e, nil
}

// repeatable is a configuration whose run repeats a window, to the end of its last request.
func (s *capacitySearch) repeatable(ctx context.Context, cfg actors.Config, d *DecisiveRun) (actors.Config, error) {
	cfg = s.seeded(cfg, d.Seed, s.result.Scale)
	if s.extent.whole() || ctx.Err() != nil {
		return cfg, nil
	}
	n, err := countArrivals(ctx, cfg, s.scaled(s.result.Scale))
	cfg.NumRequests, d.Requests = n, n
	if ctx.Err() != nil {
		return cfg, nil // the answer is partial
	}
	return cfg, err
}

// worse reports whether x is worse than y. What was not measured is the worst.
func (s *SLO) worse(x, y float64) bool {
	switch {
	case math.IsNaN(y):
		return false
	case math.IsNaN(x):
		return true
	case s.Operator == "<" || s.Operator == "<=":
		return x > y
	}
	return x < y
}

// hourlyPrice is the price of the cluster per hour; 0: none is known, or the number of
// instances changes.
func hourlyPrice(c *actors.Config) float64 {
	if setup.Scales(&c.Config) {
		return 0
	}
	return setup.HourlyPrice(&c.Config)
}
