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

// Names are the labels in outcomes and reports.
type Names struct {
	Tenants, Classes, Models, Instances []string
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
