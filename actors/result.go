package actors

import (
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"blis/latency"
	"blis/lookahead"
	"blis/metrics"
	"blis/vtime"
)

// Result is what a run yields. It is a function of the configuration alone,
// Stats excepted.
type Result struct {
	Report *metrics.Report
	Config Config // effective: feeding it back repeats the run
	Setup  Setup
	Names  Names

	Fitness    *metrics.FitnessScore // nil without Config.FitnessWeights
	Objectives []metrics.Objective   // the weighed measures, or the usual ones

	Digest  string     // hexadecimal; empty when Partial
	Partial bool       // the run was cancelled; the result is of what ended until then
	Began   vtime.Time // first arrival; 0 without any
	End     vtime.Time
	// BeyondFit says where the run went farther than the data that its coefficients
	// were fitted to, in words for the user; empty: nowhere, as far as is known.
	BeyondFit string

	Scaling *Scaling // nil: the number of instances could not change

	Sessions *Sessions // nil: none began
	Users    *Users    // nil: no closed loop, or none of its requests ended

	Stats lookahead.Stats // of the execution; not a result
	Waits []Wait          // what kept processes from running in parallel

	latency latency.Model // of an instance
}

// Sessions counts the sessions of a workload. Each request of a session follows
// from the answer to the one before.
type Sessions struct {
	Begun      int64 // their first request arrived
	Completed  int64 // every request was answered
	EndedEarly int64 // one was rejected, dropped, timed out or aborted
	Unfinished int64 // cut off by the end of the run
	NotSent    int64 // requests of sessions that ended early, never sent
}

// Users counts the requests of users in closed loops.
type Users struct {
	Ended   int64 // requests that ended
	Refused int64 // requests among them that ended without an answer: rejected, dropped, timed out or aborted
}

// Setup is what followed from the configuration before the run.
type Setup struct {
	Model    string // Hugging Face id
	Hardware string
	TP       int
	Latency  string // the latency model, and its stated error

	// LatencyModel is the kind of latency model: physics, roofline, blackbox or
	// custom. CoefficientSet is what it was fitted to, by name; "given" for
	// coefficients on the command line, empty where there are none. Only runs that
	// agree in both compare.
	LatencyModel, CoefficientSet string

	KVBlocks    int64 // per instance
	MaxModelLen int32 // effective
	Capacity    float64
	Binds       latency.Limit
	Workload    string
	Requests    int64 // of a trace; 0 for other workloads
	Policies    string
	Chance      Chance   // what the seeds decide
	Notes       []string // what was derived or fitted that a user may not expect
	Warnings    []string // what makes the run hardly worth reading, known before it
}

// Names are the labels in outcomes and reports.
type Names struct {
	Tenants, Classes, Models, Instances []string
}

// InputError is an error in the user's input: one line that says what is wrong,
// where, and what would be right. The command exits with 2 for it.
type InputError struct{ Text string }

// Error is that line.
func (e *InputError) Error() string { return e.Text }

func inputErrorf(format string, args ...any) error {
	return &InputError{fmt.Sprintf(format, args...)}
}

// digest folds what every process executed, in the order of ids, with the
// metrics: two runs with one digest had the same events in the same order.
func (c *cluster) digest() string {
	d := xxhash.New()
	word := func(w uint64) {
		var buf [8]byte
		binary.LittleEndian.PutUint64(buf[:], w)
		d.Write(buf[:])
	}
	for _, p := range c.simulation.Digest() {
		word(uint64(p.ID))
		word(p.Messages)
		word(p.Hash)
	}
	word(c.router.recorder.Fold())
	for _, n := range c.instances {
		word(n.recorder.Fold())
		word(n.engine.Counters.Fold())
	}
	return fmt.Sprintf("%016x", d.Sum64())
}
