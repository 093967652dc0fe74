package study

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"blis/actors"
	"blis/setup"
	"blis/study/certify"
	"blis/vtime"
)

// Capacity asks how much a cluster serves within its SLOs: the highest rate, or the fewest
// instances, at which a share of all windows of traffic keeps every SLO. Start from
// NewCapacity.
type Capacity struct {
	// Base is the cluster and its workload. The setting of Over is replaced, and so are the
	// seeds, from which those of the windows are drawn.
	Base actors.Config
	SLOs []SLO // all must be kept
	Over SearchAxis

	Share      float64 // of windows that pass, above 0 and below 1
	Precision  float64 // how near the ends of the answer are, for rates; above 0, at most 0.5
	Confidence float64 // that both ends of the answer are right; from 0.5 to 0.9999
	MaxWindows int     // for the search and both ends

	Length WindowLength
	Warmup vtime.Duration // before the window; negative: five times the mean E2E

	Pool Pool // Progress is called with the windows so far, of MaxWindows

	// Observe is told what the search is at; nil: nobody is.
	Observe func(CapacityProgress)
}

// WindowLength is the length of a window: a number of requests, or a time. Both 0: chosen by
// a pilot.
type WindowLength struct {
	Requests int64
	Time     vtime.Duration
}

// CapacityProgress is what the search for a capacity is at.
type CapacityProgress struct {
	Phase   certify.Phase
	Load    string // the axis and its value: rate 138
	Windows int
}

// Defaults of a capacity search.
const (
	DefaultShare      = 0.9
	DefaultPrecision  = 0.03
	DefaultMaxWindows = 2000
)

// NewCapacity is a search with the defaults.
func NewCapacity(base actors.Config, over SearchAxis, slos ...SLO) Capacity {
	return Capacity{Base: base, SLOs: slos, Over: over, Share: DefaultShare, Precision: DefaultPrecision, Confidence: DefaultConfidence, MaxWindows: DefaultMaxWindows, Warmup: -1}
}

// Find carries the search out. The result depends on the Capacity alone, not on the number of
// workers. Errors: those of actors.Run, *NoLoad when one request alone misses an SLO. When ctx
// is cancelled the error is ctx's, and the result is what was known, marked Partial; nil if
// nothing was.
func (c Capacity) Find(ctx context.Context) (*CapacityResult, error) {
	s, err := newCapacitySearch(&c)
	if err != nil {
		return nil, err
	}
	if s.result.Exact {
		return s.exact(ctx)
	}
	return s.certified(ctx)
}

// NoLoad says that not even the lightest load keeps the SLOs.
type NoLoad struct {
	SLO   SLO
	Value float64 // of its measure
}

// Error is one line.
func (e *NoLoad) Error() string {
	return fmt.Sprintf("no load meets %s: requests that are alone in the cluster have %s", e.SLO.Text(), (&SLO{Constraint: e.SLO.Constraint}).valueText(e.Value))
}

// valueText is a value in the unit of the bound.
func (s *SLO) valueText(x float64) string {
	if sampled, _ := sampledOf(&s.Measure); sampled.latency != nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
		return fmt.Sprintf("%.4g ms", x/1e3)
	}
	return fmt.Sprintf("%.4g", x)
}

// capacitySearch is the state of Find.
type capacitySearch struct {
	*Capacity
	latency LatencyChoice
	refused []error // of each rung: why it cannot run; nil: it can
	usable  []int   // rungs that can run, in order of load; certify counts these
	bound   int     // of usable: the first that should not hold, by the work of requests
	start   int     // of usable: where the answer is expected
	extent  extent
	result  CapacityResult
}

// newCapacitySearch checks everything before the first run.
func newCapacitySearch(c *Capacity) (*capacitySearch, error) {
	s := &capacitySearch{Capacity: c}
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := s.chooseLatency(); err != nil {
		return nil, err
	}
	if err := s.checkRungs(); err != nil {
		return nil, err
	}
	if err := s.checkClasses(); err != nil {
		return nil, err
	}
	s.expect()
	return s, nil
}

// check refuses settings that are out of range or that the windows decide.
func (c *Capacity) check() error {
	bad := func(format string, args ...any) error { return &actors.InputError{Text: fmt.Sprintf(format, args...)} }
	b := &c.Base
	switch {
	case len(c.SLOs) == 0:
		return bad("--slo: want at least one bound, like p99_ttft=500ms")
	case len(c.Over.Values) == 0:
		return bad("--over: want a range, like rate=20..600")
	case !(c.Share > 0 && c.Share < 1):
		return bad("--share is %v: want a share above 0 and below 1, like 0.9", c.Share)
	case !(c.Precision > 0 && c.Precision <= 0.5):
		return bad("--precision is %v: want from above 0 to 0.5, like 3%%", c.Precision)
	case !(c.Confidence >= 0.5 && c.Confidence <= 0.9999):
		return bad("--confidence is %v: want from 0.5 to 0.9999", c.Confidence)
	case c.MaxWindows < 1:
		return bad("--max-windows is %d: want at least 1", c.MaxWindows)
	case c.Length.Requests < 0 || c.Length.Time < 0:
		return bad("--window: want a number of requests or a duration, above 0")
	case c.Pool.Workers < 0 || c.Pool.Workers > 4096:
		return bad("--workers is %d: want 1 to 4096, 0 for one per core", c.Pool.Workers)
	case b.Custom.Source != nil:
		return bad("a custom source cannot be run more than once")
	case b.Trace == "" && (b.MeasureFrom != 0 || b.MeasureTo != 0):
		return bad("--measure-from, --measure-to: windows decide what is measured: want --warmup and --window")
	case b.Trace == "" && b.Horizon != 0:
		return bad("--horizon is %v: windows decide how long runs take: want --window", b.Horizon)
	case b.Trace == "" && b.NumRequests != 0:
		return bad("--num-requests is %d: windows decide how many requests there are: want --window", b.NumRequests)
	case b.Trace != "" && c.Length != WindowLength{}:
		return bad("--window: the whole trace is the window: want --trace-offset and --trace-limit")
	case c.Over.Supply() && b.Rate == 0 && b.Concurrency == 0 && b.Trace == "" && b.WorkloadSpec == "" && b.Scenario == "":
		return bad("--over %s: want --rate, --concurrency or --trace: what the cluster is to serve", c.Over.Name)
	case c.Over.Name == "concurrency" && b.Rate != 0, c.Over.Name == "rate" && b.Concurrency != 0:
		return bad("--over: users in a closed loop have no rate: want one of --rate and --concurrency")
	}
	if err := setup.OpenDeployments(&b.Config); err != nil { // once: it may be a pipe
		return err
	}
	return c.Over.check(&b.Config)
}

// chooseLatency takes one latency model for all rungs.
func (s *capacitySearch) chooseLatency() error {
	configs := []setup.Config{s.config(0).Config}
	if s.Over.Name == "tp" { // to latency models all other rungs are alike
		for i := range s.Over.Values[1:] {
			configs = append(configs, s.config(1+i).Config)
		}
	}
	var err error
	s.latency, err = ChooseLatency(configs, s.Over.Text)
	s.result.Latency = s.latency
	return err
}

// config is the configuration of a rung.
func (s *capacitySearch) config(rung int) actors.Config {
	cfg := s.Base
	cfg.Execution = actors.Execution{Workers: s.Pool.Workers}
	s.Over.apply(&cfg.Config, s.Over.Values[rung])
	s.latency.Apply(&cfg.Config)
	return cfg
}

// checkRungs finds out which rungs can run. For rates all are alike.
func (s *capacitySearch) checkRungs() error {
	s.refused = make([]error, len(s.Over.Values))
	n := len(s.refused)
	if s.Over.Name != "tp" {
		n = 1
	}
	var first error
	for i := range n {
		_, summary, err := actors.Check(s.config(i))
		if s.refused[i] = err; err != nil {
			first = cmp.Or(first, err)
			continue
		}
		s.result.Setup = summary
	}
	for i := n; i < len(s.refused); i++ {
		s.refused[i] = s.refused[0]
	}
	for i, err := range s.refused {
		if err == nil {
			s.usable = append(s.usable, i)
		}
	}
	if len(s.usable) == 0 {
		return first
	}
	if s.Over.Name == "tp" {
		for i, err := range s.refused {
			if err != nil {
				s.result.Refused = append(s.result.Refused, RefusedRung{s.Over.Values[i], err})
			}
		}
	}
	return nil
}

// checkClasses refuses SLOs that no request can be judged by.
func (s *capacitySearch) checkClasses() error {
	for i := range s.SLOs {
		if s.SLOs[i].Measure.Name == "slo_attainment" && s.Base.SLOTargets == "" && s.Base.WorkloadSpec == "" && s.Base.Scenario == "" {
			return &actors.InputError{Text: "--slo: slo_attainment needs --slo-targets, the targets of single requests"}
		}
	}
	chance := s.result.Setup.Chance
	s.result.Exact = !chance.Traffic && !chance.Decisions
	return nil
}

// boundSlack is by how much a rate may be above the estimated capacity before it is not tried
// unless lower ones hold: the estimate is good to a few percent, and prefix hits add to it.
const boundSlack = 1.25

// expect finds where to begin, and where not to go, from the capacity that the latency model
// gives for the mean lengths of requests.
func (s *capacitySearch) expect() {
	capacity, n := s.result.Setup.Capacity, len(s.usable)
	instances := setup.Instances(new(s.config(s.usable[0]).Config)) // that the capacity is of
	s.bound, s.start = n, n/2
	if !(capacity > 0) {
		return
	}
	first := func(more float64) int {
		i := slices.IndexFunc(s.usable, func(rung int) bool {
			return s.Over.load(s.Over.Values[rung], &s.Base.Config, instances) > float64(capacity*more)
		})
		if i < 0 {
			return n
		}
		return i
	}
	s.bound = max(1, first(boundSlack))
	s.start = min(max(0, first(0.8)-1), n-1)
}

// workers is how many windows run at a time.
func (c *Capacity) workers() int { return cmp.Or(c.Pool.Workers, runtime.GOMAXPROCS(0)) }
