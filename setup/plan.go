package setup

import (
	"slices"

	"blis/latency"
	"blis/metrics"
	"blis/policy"
	"blis/workload"
)

// Plan is a checked configuration with everything derived that it leaves open: what
// a run is made of. A plan is for one run, as its source yields requests once.
type Plan struct {
	Config  Config // effective: resolving it again gives the same plan
	Summary Summary

	// Pools are all instances: at least one pool, in the order of deployments, of two the one
	// that computes prompts first. Deployments are at least one.
	Pools       []*Pool
	Deployments []Deployment

	// NodePools are the nodes on which instances are placed; none: GPUs are unlimited. Placed are the
	// nodes of the instances that the run begins with, one for each rank.
	NodePools []NodePool
	Placed    map[*Pool][][]Node

	Source   workload.Source
	Failures *Failures // nil: nothing fails
	Gateway  *Gateway  // nil: requests are routed when they are admitted

	// Models are the deployments, by number, that serve the requests of a model, by its label; none:
	// such requests are dropped. nil: all deployments serve all requests.
	Models [][]int

	Forced map[int64]int // instances of requests that the user routes, by number of arrival

	Targets []metrics.ClassTargets
	Fitness metrics.Fitness
}

// Tiered reports whether instances of a pool of a plan have a CPU tier.
func Tiered(p *Plan) bool {
	return slices.ContainsFunc(p.Pools, func(s *Pool) bool { return s.CPUTier != nil })
}

// Summary is what a user is told of a plan before the run.
type Summary struct {
	Model    string // Hugging Face id
	Hardware string
	TP       int
	Ranks    int    // data-parallel ranks of an instance; what is said per instance is of each
	Latency  string // the latency model, and the next best

	// Accuracy is what is known of the error of the latency model; nil: nothing is,
	// as of blackbox and of coefficients on the command line.
	Accuracy *latency.Accuracy

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
	Pools       []PoolSummary // nil: one pool, and what stands above is of it
	Chance      Chance        // what the seeds decide
	Notes       []string      // what was derived or fitted that a user may not expect
	Warnings    []string      // what makes the run hardly worth reading, known before it
}

// PoolSummary is what a user is told of one of several pools. Where the Summary has a number of
// an instance, it is that of the last pool.
type PoolSummary struct {
	Name                            string // prefill
	Instances                       int    // that the run begins with
	Hardware                        string
	TP, Ranks                       int   // Ranks as in Summary
	KVBlocks                        int64 // per instance
	MaxModelLen                     int32 // effective
	MaxNumSeqs, MaxNumBatchedTokens int32
	Latency                         string // the latency model, and the next best
	Accuracy                        *latency.Accuracy
	LatencyModel, CoefficientSet    string
	Policies                        string  // of the pool
	Price                           float64 // of an instance per hour, in any currency; 0: none is given
}

// Chance says what the seeds of a run decide. Where they decide nothing all runs of
// a configuration are the same, so one is enough.
type Chance struct {
	// Traffic: another workload seed is other traffic. False for a trace that
	// has its own arrivals.
	Traffic bool
	// Decisions: another seed may be other decisions under the same traffic.
	// A policy draws, or a lognormal load time is drawn.
	Decisions bool
}

// chanceOf returns what the seeds decide in a plan whose policies are complete. Custom
// policies may draw; a custom source does not depend on the seeds.
func chanceOf(p *resolver) Chance {
	c := &p.Config
	fixed, replayed := p.Source.(interface{ Paced() bool })
	chance := Chance{Traffic: c.Custom.Source == nil && !(replayed && !fixed.Paced())}
	b, custom := &c.Policies, &c.Custom
	chance.Decisions = custom.Admission != nil || custom.Priority != nil || custom.Routing != nil || custom.Autoscale != nil || custom.Scheduler != nil ||
		b.Draws(policy.AdmissionKind) || b.Draws(policy.PriorityKind) || p.Failures != nil && p.Failures.Random()
	parts := p.parts
	if parts == nil {
		parts = []*resolver{p}
	}
	for _, q := range parts {
		c, b := &q.Config, &q.Config.Policies
		chance.Decisions = chance.Decisions || b.Draws(policy.SchedulerKind) ||
			q.pool.Scaling != nil && (b.Draws(policy.AutoscaleKind) || c.ProvisioningDelay.CV > 0 || c.ModelLoadTime.CV > 0) ||
			(q.pool.Scaling != nil || q.pool.Instances > 1) && b.Draws(policy.RoutingKind)
	}
	for i := range p.Deployments {
		chance.Decisions = chance.Decisions || p.Deployments[i].PD != nil && p.Deployments[i].PD.FailureRate > 0
	}
	return chance
}
