package bench

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"blis/setup"
)

// Schema names the form of a Report as JSON.
const Schema = "blis.bench/v1"

// Options say what Run measures. The zero value is what `blis bench` does
// without flags.
//
// The command line calls the package like this:
//
//	blis bench            r, err := bench.Run(ctx, options); then r.WriteText(stdout) or r.WriteJSON(stdout);
//	                      exit 1 when len(r.Failures()) > 0, each a line for stderr
//	blis bench calibrate  c := bench.Calibrate(); c.WriteText(stdout), or c.WriteJSON(stdout) with --format json
//
// Run starts `BINARY run --format json …` and `BINARY bench calibrate
// --format json`, so both must be commands of the binary that calls it.
type Options struct {
	// Scenarios are names (see Names), groups of names ("line3", "growth") or
	// "all"; empty: lines 1 to 3 of the budget.
	Scenarios []string
	// CPUs are the values of GOMAXPROCS to run with; empty: 1. With several,
	// the speed-up over the first is reported and the digests must be equal.
	CPUs []int
	// Runs is how often each figure is taken; the median counts. 0: 5.
	Runs int
	// Compare is an earlier report as JSON; empty: none.
	Compare string
	// Against is another blis binary that runs the same scenarios in turn with
	// Binary; empty: none. Only one of Compare and Against may be given.
	Against string
	// FailAbove is the share by which a figure may exceed the figure of Compare or
	// Against before it is a failure. 0: never.
	FailAbove Share
	// Binary is the blis binary to start; empty: the running one.
	Binary string
	// Progress is called before each scenario; nil: not called.
	Progress func(done, total int, scenario string)
}

// Run measures. Errors are *setup.InputError for options and files that do not fit,
// the context's when it was cancelled, or say which child process failed.
func Run(ctx context.Context, o Options) (*Report, error) {
	m, err := newMeasurement(&o)
	if err != nil {
		return nil, err
	}
	return m.run(ctx)
}

func inputErrorf(format string, args ...any) error {
	return &setup.InputError{Text: fmt.Sprintf(format, args...)}
}

// Share is a part of a whole, written as 20% or 0.2.
type Share float64

// UnmarshalText reads either form.
func (s *Share) UnmarshalText(text []byte) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(string(text)), "%")
	f, err := strconv.ParseFloat(number, 64)
	if percent {
		f /= 100
	}
	if err != nil || !(f >= 0 && f <= 100) {
		return fmt.Errorf("%q is not a share: want 20%% or 0.2", text)
	}
	*s = Share(f)
	return nil
}

// Report holds the measurements. It has wall times and facts of the machine,
// which results of simulations never do.
type Report struct {
	Schema      string          `json:"schema"`
	Machine     Machine         `json:"machine"`
	ReferenceNS float64         `json:"reference_ns"` // calibration score for which budgets hold as written
	Scenarios   []ScenarioTimes `json:"scenarios"`
	Growth      []Growth        `json:"growth"`
	Comparison  []Change        `json:"comparison"`
	FailAbove   *float64        `json:"fail_above"`
}

// Machine is where a report was made.
type Machine struct {
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	CPUs  int    `json:"cpus"`
	Go    string `json:"go"`
	Model string `json:"model"` // of the processor; empty where it is not known
}

// ScenarioTimes are the figures of one scenario.
type ScenarioTimes struct {
	Name      string  `json:"name"`
	Title     string  `json:"title"`
	Requests  int64   `json:"requests"`
	Instances int     `json:"instances"`
	BudgetS   float64 `json:"budget_s"` // one quiet core of the reference; 0: none
	// LatencyModel and CoefficientSet are what measured virtual time: physics,
	// roofline, blackbox or custom, and the name of its coefficients, null where it
	// has none.
	LatencyModel   string  `json:"latency_model"`
	CoefficientSet *string `json:"coefficient_set"`
	// Calibration has the scores just before and just after the runs. The
	// scales are their means over the reference, for wall and for CPU time: a
	// budget times its scale counts.
	Calibration [2]Calibration `json:"calibration"`
	WallScale   float64        `json:"wall_scale"`
	CPUScale    float64        `json:"cpu_scale"`
	Cores       []Times        `json:"cores"` // one per value of Options.CPUs
	// AllocationsPerRequest is (mallocs at 2n − mallocs at n requests)/n in
	// one process; null where it was not measured.
	AllocationsPerRequest *float64 `json:"allocations_per_request"`
	// InProcessDigest is the digest of the same run in the measuring process, which
	// shows that the child ran the scenario; empty where it was not run.
	InProcessDigest string `json:"in_process_digest"`
}

// Times are medians over the runs of one scenario at one GOMAXPROCS, whole
// process from start to exit.
type Times struct {
	CPUs      int     `json:"cpus"`
	Runs      int     `json:"runs"`
	WallS     float64 `json:"wall_s"`
	WallMinS  float64 `json:"wall_min_s"`
	WallMaxS  float64 `json:"wall_max_s"`
	UserS     float64 `json:"user_s"`
	SystemS   float64 `json:"system_s"`
	CPUS      float64 `json:"cpu_s"`      // user + system
	PeakBytes int64   `json:"peak_bytes"` // largest resident set of any run; 0 where the system does not tell
	Digest    string  `json:"digest"`     // of all runs; "differs" when they do not agree
	Met       *bool   `json:"met"`        // wall within budget × wall scale; null without a budget and on several cores
	MetCPU    *bool   `json:"met_cpu"`    // CPU time within budget × CPU scale: no other process can spoil it
	Speedup   float64 `json:"speedup"`    // wall of the first of CPUs over this wall

	// Efficiency is the speed-up per core that was added: 1 when twice the
	// cores of the first of CPUs take half its time.
	Efficiency float64 `json:"efficiency"`
}

// Growth relates the CPU time of two scenarios, where a limit was set for it.
type Growth struct {
	Name    string  `json:"name"`
	Against string  `json:"against"`
	Factor  float64 `json:"factor"`
	AtMost  float64 `json:"at_most"`
	Met     bool    `json:"met"`
}

// Change relates a figure to the earlier report, each divided by its scale, or
// to the other binary, whose runs took turns, as it is: CPU time on one core,
// wall time on several.
type Change struct {
	Name        string  `json:"name"`
	CPUs        int     `json:"cpus"`
	BeforeS     float64 `json:"before_s"`
	NowS        float64 `json:"now_s"`
	Factor      float64 `json:"factor"`
	SameDigest  bool    `json:"same_digest"`
	WithinLimit bool    `json:"within_limit"`
}

// Failures are the checks that failed, a line each: digests that differ, and
// what is slower than the earlier report by more than Options.FailAbove. A
// missed budget is reported in the table and fails nothing: it depends on the
// machine.
func (r *Report) Failures() []string {
	var list []string
	for i := range r.Scenarios {
		list = append(list, r.Scenarios[i].failures()...)
	}
	for _, c := range r.Comparison {
		if !c.WithinLimit {
			list = append(list, fmt.Sprintf("%s on %d cores: %.4g s, %.0f %% more than %.4g s before", c.Name, c.CPUs, c.NowS, 100*(c.Factor-1), c.BeforeS))
		}
	}
	return list
}

// differs stands for the digest of runs that do not agree.
const differs = "differs"

func (s *ScenarioTimes) failures() []string {
	var list []string
	for _, t := range s.Cores {
		switch first := s.Cores[0]; {
		case t.Digest == differs:
			list = append(list, fmt.Sprintf("%s: runs on %d cores do not give one digest", s.Name, t.CPUs))
		case t.Digest != first.Digest && first.Digest != differs:
			list = append(list, fmt.Sprintf("%s: digest %s on %d cores, %s on %d", s.Name, t.Digest, t.CPUs, first.Digest, first.CPUs))
		case s.InProcessDigest != "" && t.Digest != s.InProcessDigest:
			list = append(list, fmt.Sprintf("%s: digest %s of the process, %s of the library", s.Name, t.Digest, s.InProcessDigest))
		}
	}
	return list
}
