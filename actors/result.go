package actors

import (
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
	"blis/workload"
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

	KVTiers   []metrics.KVTier    // CPU tiers by instance; nil: there are none
	KVStorage []metrics.KVStorage // storage tiers; nil: there are none

	Scaling     *Scaling      // nil: the number of instances could not change, or there are several pools
	PoolScaling []PoolScaling // of each pool whose number of instances could change

	Failures *FailureResult // nil: nothing could fail

	Sessions *Sessions // nil: none began
	Users    *Users    // nil: no closed loop, or none of its requests ended

	Stats lookahead.Stats // of the execution; not a result
	Waits []Wait          // what kept processes from running in parallel

	rest restOfResult
}

// restOfResult is what methods of a result tell.
type restOfResult struct {
	deployments []setup.Deployment // of the plan; nil: a result of no run
	nodePools   []NodePoolUse      // none: GPUs are unlimited
	nodes       []string           // of each instance, by its number
	printed     []Printed
	gateways    []Gateway        // nil without flow control
	series      []InstanceSeries // of each instance; nil without Execution.TimeSeries
	storage     []StorageSeries
	notSent     []NotSent
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

// NotSent is a part of Sessions.NotSent.
type NotSent struct {
	Tenant, Class string
	Requests      int64
}

// NotSent lists the requests of Sessions.NotSent by tenant and SLO class. Both may come twice.
func (r *Result) NotSent() []NotSent { return r.rest.notSent }

// Users counts the requests of users in closed loops.
type Users struct {
	Ended   int64 // requests that ended
	Refused int64 // requests among them that ended without an answer: rejected, dropped, timed out or aborted
}

// Names are the labels in outcomes and reports.
type Names struct {
	Tenants, Classes, Models []string

	Instances []string // those that requests end on: with data-parallel ranks each rank
	Servers   []string // instances as they fail and scale; without ranks the same
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
		for i, e := range n.engines.all() {
			word(n.ranks[i].recorder.Fold())
			word(e.Counters.Fold())
			if n.server.pool.plan.CPUTier != nil {
				word(e.Tier.Fold())
			}
		}
	}
	for _, s := range c.storage {
		for _, places := range s.places {
			for _, t := range places {
				word(t.Fold())
			}
		}
	}
	return fmt.Sprintf("%016x", d.Sum64())
}

// foldDigests is the digest of a run in several clusters.
func foldDigests(list []string) string {
	d := xxhash.New()
	for _, text := range list {
		d.WriteString(text)
	}
	return fmt.Sprintf("%016x", d.Sum64())
}

// Row is one request as Execution.Row gets it: its outcome, the names behind its
// labels, and its latencies as the client sees them, with the overheads of the
// latency model. It is valid during the call.
type Row struct {
	*metrics.Outcome

	labels  *workload.Labels
	options *metrics.Options
	names   rowNames

	dispatched vtime.Time // by the gateway, in the last attempt; vtime.Never: not
}

// rowNames are names that rows have.
type rowNames struct {
	pools    []poolName                // of the run
	instance func(instance int) string // nil: that of instances without data-parallel ranks
	nodes    *nodeNames                // nil: GPUs are unlimited
	gateway  *setup.Gateway            // nil: there is none
}

// of is the name of an instance, by its number.
func (n *rowNames) of(instance int32) string {
	if n.instance == nil {
		return instanceName(int(instance))
	}
	return n.instance(int(instance))
}

// TenantName is the name of the request's tenant.
func (r *Row) TenantName() string { return r.labels.Tenants.Name(r.Tenant) }

// ClassName is the name of the request's SLO class.
func (r *Row) ClassName() string { return r.labels.Classes.Name(r.Class) }

// ModelName is the model that the request asked for; empty when it named none.
func (r *Row) ModelName() string { return r.labels.Models.Name(r.Model) }

// InstanceName is the name of the request's instance; empty when it never
// reached one.
func (r *Row) InstanceName() string {
	if r.Instance < 0 {
		return ""
	}
	return r.names.of(r.Instance)
}

// clientOf is what the client of a request adds per token and per request; 0 for a row of no run.
func clientOf(r *Row) (token, request vtime.Duration) {
	if r.options == nil {
		return 0, 0
	}
	return r.options.TokenOverhead, r.options.RequestOverhead
}

// TTFT is metrics.Outcome.TTFT with the run's overhead.
func (r *Row) TTFT() (vtime.Duration, bool) {
	token, _ := clientOf(r)
	return r.Outcome.TTFT(token)
}

// TotalITL is metrics.Outcome.TotalITL with the run's overhead.
func (r *Row) TotalITL() (total vtime.Duration, samples int64) {
	token, _ := clientOf(r)
	return r.Outcome.TotalITL(token)
}

// TPOT is metrics.Outcome.TPOT with the run's overheads.
func (r *Row) TPOT() (vtime.Duration, bool) { return r.Outcome.TPOT(clientOf(r)) }

// E2E is metrics.Outcome.E2E with the run's overheads.
func (r *Row) E2E() (vtime.Duration, bool) { return r.Outcome.E2E(clientOf(r)) }

// Measured reports whether the request counts in the report: whether it
// arrived in the measured window.
func (r *Row) Measured() bool { return r.options.InWindow(r.Arrival) }

// Attained is metrics.Options.Attained: whether the request's class has
// targets, and whether it completed within every one of them.
func (r *Row) Attained() (judged, attained bool) { return r.options.Attained(r.Outcome) }

// Scaling is how the number of instances changed; nil in runs in which it
// could not.
type Scaling struct {
	Events   []ScaleEvent // changes of the wanted number, in order of time
	Replicas []Replica    // by instance

	// NoCapacity counts the times that instances were wanted for which no node had room; Shortages
	// are the changes of their number.
	NoCapacity int64
	Shortages  []Shortage

	Checks int64 // evaluations of the autoscaler

	// ReplicaMicros is the time that instances were paid for, each from when its
	// machine was there. It is a whole number, exact up to 285 years, and can pass
	// 2⁶³ where many instances wait for a late request.
	ReplicaMicros float64

	// Watch is how near the signal of the autoscaler came to its upper threshold;
	// without a name for policies without a single threshold.
	Watch policy.Watch

	First        int32      // instances at the start
	Peak, Least  int32      // most and fewest instances, without draining ones and those for which no node had room
	Began        vtime.Time // first arrival: costs count from then on
	Redirected   int64      // times that requests were returned and went on on other instances
	Oscillations int        // changes of direction within OscillationWindow
}

// PoolScaling is how the number of instances of a pool changed.
type PoolScaling struct {
	Pool      string  // empty: it has all instances
	Instances []int32 // in Names.Servers, by their place in Replicas
	*Scaling
}

// OscillationWindow is a minute, the usual cooldown: a change within it after one
// in the other direction is an oscillation.
const OscillationWindow = vtime.Minute

// Replica is the life of one instance. Times that did not come are vtime.Never.
type Replica struct {
	Asked, Billed, Ready, Warm, Draining, Gone vtime.Time
}

// Mean is the time-weighted mean number of instances paid for in a run that ended
// at end, with draining ones; 0 for a run that took no time.
func (s *Scaling) Mean(end vtime.Time) float64 {
	if end <= s.Began {
		return 0
	}
	return s.ReplicaMicros / float64(end.Sub(s.Began))
}

// Hours is replica-hours.
func (s *Scaling) Hours() float64 { return s.ReplicaMicros / float64(vtime.Hour) }

// turns reports whether a change after e is an oscillation.
func (e ScaleEvent) turns(next ScaleEvent) bool {
	return (next.To > next.From) != (e.To > e.From) && next.At.Sub(e.At) <= OscillationWindow
}

// scaling closes the book of a run that ended at end.
func (b *replicas) scaling(a *autoscaler, end vtime.Time) *Scaling {
	initial := int32(b.pool.Instances)
	s := &Scaling{Events: b.events, NoCapacity: b.short, Shortages: b.shortages, Checks: a.checks, Began: b.began, Redirected: b.returned, First: initial, Peak: b.peak, Least: initial}
	if w, ok := a.policy.(policy.Watched); ok {
		s.Watch = w.Watched()
	}
	for i, e := range b.events {
		s.Least = min(s.Least, e.To) // instances that are pending are gone first
		if i > 0 && b.events[i-1].turns(e) {
			s.Oscillations++
		}
	}
	for i := range b.list {
		r := &b.list[i]
		s.ReplicaMicros += float64(r.cost(b.began, end))
		s.Replicas = append(s.Replicas, Replica{r.requested, r.billed, r.ready, r.warm, r.draining, r.gone})
	}
	return s
}
