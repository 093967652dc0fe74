package setup

import (
	"blis/engine"
	"blis/latency"
	"blis/vtime"
)

// Deployment is a model that is served by one pool of instances, or by two of which one
// computes prompts and the other goes on (prefill/decode disaggregation).
type Deployment struct {
	ID      string          // empty in a run without a file of deployments
	Serving *Pool           // where requests end: all instances, or those that decode
	Prefill *Pool           // nil: Serving computes prompts itself
	PD      *Disaggregation // nil without Prefill
}

// Role is what the instances of a pool do.
type Role string

// Roles of pools.
const (
	Monolithic  Role = ""        // they serve requests from the first token to the last
	PrefillRole Role = "prefill" // they compute prompts and keep the KV until it is pulled
	DecodeRole  Role = "decode"  // they pull the KV of prompts and go on; they can serve requests alone
)

// Pools returns the pools of the deployment in the order of their instances.
func (d *Deployment) Pools() []*Pool {
	if d.Prefill == nil {
		return []*Pool{d.Serving}
	}
	return []*Pool{d.Prefill, d.Serving}
}

// RoleOf returns the role of one of its pools.
func (d *Deployment) RoleOf(p *Pool) Role {
	switch {
	case d.Prefill == nil:
		return Monolithic
	case p == d.Prefill:
		return PrefillRole
	}
	return DecodeRole
}

// PoolName returns the name of one of its pools: chat, chat/decode, or decode where the deployment
// has no name. Empty: it is all instances of the run.
func (d *Deployment) PoolName(p *Pool) string {
	role := string(d.RoleOf(p))
	if d.ID == "" || role == "" {
		return d.ID + role
	}
	return d.ID + "/" + role
}

// Capacity estimates the requests per second, with the given mean tokens, that the deployment
// sustains with so many instances of each pool, counted by their ranks, and what bounds it: that of the weaker pool.
func (d *Deployment) Capacity(input, output float64, ranks func(*Pool) float64) (rate float64, binds latency.Limit) {
	for i, p := range d.Pools() {
		e := p.capacity(d.RoleOf(p), input, output)
		if of := float64(e.Rate * ranks(p)); i == 0 || of < rate {
			rate, binds = of, e.Binds
		}
	}
	return rate, binds
}

// capacity estimates the requests per second that one rank sustains. A prefill instance
// computes prompts alone, a decode instance their last tokens and the output.
func (p *Pool) capacity(r Role, input, output float64) latency.CapacityEstimate {
	in := latency.CapacityInput{
		Input: input, Output: output, MaxSeqs: int64(p.MaxNumSeqs), Tokens: int64(p.MaxNumBatchedTokens),
		Blocks: p.Blocks, BlockSize: int64(p.BlockSize),
	}
	switch r {
	case PrefillRole:
		in.Output = 1
	case DecodeRole:
		in.Computed = 1
	}
	return latency.Capacity(p.Latency, in)
}

// Disaggregation is how the two pools of a deployment share the work.
type Disaggregation struct {
	Decider         string         // DecideAlways, DecideNever, DecidePrefixThreshold or DecideDirect
	PrefixThreshold int32          // tokens: prompts of which more is not expected to be cached are disaggregated, with DecidePrefixThreshold
	DirectThreshold int32          // tokens: prompts of as many and more are disaggregated, with DecideDirect
	AtHandOver      bool           // the decode instance is chosen when the prefill has ended; false: before the prefill instance
	HandOffLatency  vtime.Duration // from the end of a prefill to the delivery to the decode instance, or to its choice; at least 1 µs
	NotifyLatency   vtime.Duration // from the end of a pull to the knowledge of the prefill instance
	FailureRate     float64        // share of pulls that fail
	PrefillPasses   engine.Passes  // of the prefill instances
	DecodePasses    engine.Passes
	Backpressure    int // prefills of an instance that await their pull, from which on a hand-over counts as an anomaly

	// The engine's part. Its Pull and MaxModelLen are those of the decode pool; Notices is left
	// to the run. HoldTimeout and MaxHeld count in the prefill pool, the others in the decode pool.
	engine.Disaggregation
}

// Deciders: which requests are disaggregated.
const (
	DecideAlways          = "always"
	DecideNever           = "never"
	DecidePrefixThreshold = "prefix-threshold"
	DecideDirect          = "direct-to-decode"
)
