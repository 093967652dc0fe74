package actors

import (
	"io"

	"blis/metrics"
	"blis/setup"
	"blis/vtime"
)

// Config is a run: its settings, and how it is executed.
type Config struct {
	setup.Config
	// Execution changes no result and is not part of it.
	Execution `json:"-"`
}

// DefaultConfig is the configuration of `blis run` without flags: four instances of
// Llama-3.1-8B on H100 under 1,000 generated requests.
func DefaultConfig() Config { return Config{Config: setup.DefaultConfig()} }

// What a caller of Run reads and catches; see package setup.
type (
	Setup      = setup.Summary
	InputError = setup.InputError
	Custom     = setup.Custom
)

// Execution is how a run is executed. None of it changes a result.
type Execution struct {
	Workers int `json:"-" default:"0" group:"Run" help:"Goroutines that run instances; 0: one per core."`

	Sequential bool `json:"-" kong:"-"` // the sequential twin: one event at a time, engines read directly
	StepByStep bool `json:"-" kong:"-"` // no decode runs
	EveryTick  bool `json:"-" kong:"-"` // gateways execute every tick, also those that can do nothing
	Together   bool `json:"-" kong:"-"` // one control plane even for deployments that share nothing: another digest, all else alike
	Inline     int  `json:"-" kong:"-"` // lookahead.Config.InlineBelow
	Ahead      int  `json:"-" kong:"-"` // deliveries that the router may be ahead of the instances; 0: a default

	// MaxEvents is how many requests and steps a run may have; one of more ends with a
	// *TooManyEvents, soon where it runs on one goroutine, else at its end. 0: no limit.
	MaxEvents int64 `json:"-" kong:"-"`

	Row      func(*Row)                       `json:"-" kong:"-"` // every request in order of arrival; nil: none
	Record   io.Writer                        `json:"-" kong:"-"` // every frame, as msgpack; nil: none
	Begin    func(*Config, *Setup)            `json:"-" kong:"-"` // once, before the first event, with everything derived; neither may be changed or kept
	Progress func(now vtime.Time, done int64) `json:"-" kong:"-"` // now and then, with the requests that arrived
	Inspect  *Inspection                      `json:"-" kong:"-"` // what Verify records
	Tracing  Tracing                          `json:"-" kong:"-"` // decision traces

	Curves bool `json:"-" kong:"-"` // the report has the distributions of latencies: see metrics.Curves

	// TimeSeries asks for what each instance did over time: see Result.TimeSeries.
	TimeSeries []metrics.TimeSeriesOptions `json:"-" kong:"-"`
}

// check checks the number of workers.
func (x *Execution) check() error {
	if x.Workers < 0 || x.Workers > 4096 {
		return inputErrorf("--workers is %d: want 1 to 4096, 0 for one per core", x.Workers)
	}
	return nil
}
