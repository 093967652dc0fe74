package engine

import (
	"blis/kv"
	"blis/latency"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// Config says how one instance serves. Counts are tokens unless named
// otherwise; the caller has validated it (latency, policy and actors do).
type Config struct {
	Args
	BlockSize int32

	Async         bool // async scheduling: the next batch is formed while one executes
	StepByStep    bool // the twin without decode runs
	KeepStepState bool // keep the state at step ends for StepState
	KeepBacklog   bool // keep what State says of waiting and prefilled tokens

	Warmup Warmup

	Model     latency.Model
	Gamma     float64 // weight of the newest step in the preemption average; 0: as the model chooses
	Scheduler policy.Scheduler
	Cache     kv.Cache
	Sink      Sink

	Passes    Passes     // with Offload or Disaggregation
	Offload   *Offload   // nil: no tier below the GPU, or Threshold
	Threshold *Threshold // nil: no tier that blocks move to. Not with Offload

	Disaggregation *Disaggregation // nil: none. Not with Threshold

	// BlockEvents, if set, is called at the end of each step, with a tier of each
	// pass, when vLLM publishes its KV events: with the blocks and entries of named
	// content that can be hit now, or no longer, since it was called last, in the
	// order in which that happened. With it the engine goes step by step.
	BlockEvents func(now vtime.Time, changes []BlockChange)

	// TimeSeries are kept of the instance, also over a Restart.
	TimeSeries []*metrics.TimeSeries

	// Observer, if set, sees each formation on its own, so that there are no decode
	// runs. Nil: none.
	Observer Observer
}

// BlockChange is a block of the GPU, or an entry of a lower tier, that is cached now,
// or no longer.
type BlockChange struct {
	Key    uint64 // by the blocks or entries of the medium
	Stored bool
	Medium kv.Medium
}

// Reach is the largest prompt and step of an instance, for the warning that a latency
// model was not fitted to such sizes. It is no part of a digest.
type Reach struct {
	Context    int64 // tokens of the longest prompt with its output, of requests that were scheduled
	StepTokens int64 // most tokens in a step
}

// Sink takes what an instance yields. Group and ITL are metrics.Recorder's.
type Sink interface {
	// Group is the ITL group of a request, -1 when it is not measured.
	Group(class, model workload.Label, arrival vtime.Time) int
	// ITL takes n inter-token gaps of one group, without client overhead.
	ITL(group int, gap vtime.Duration, n int)
	// Done takes the outcome of a request at virtual time now; o is valid
	// during the call.
	Done(o *metrics.Outcome, now vtime.Time)
}

// EffectiveMaxModelLen returns the length at which a request is finished: MaxModelLen,
// at most what the cache holds, and with chunked prefill off at most the token
// budget.
func (c *Config) EffectiveMaxModelLen() int32 {
	n := int64(c.Cache.Total()) * int64(c.BlockSize)
	if c.MaxModelLen > 0 {
		n = min(n, int64(c.MaxModelLen))
	}
	if !c.EnableChunkedPrefill {
		n = min(n, int64(c.MaxNumBatchedTokens))
	}
	return int32(min(n, 1<<31-1))
}

// Livelock is the error of a run in which an instance preempts for ever.
type Livelock struct {
	At vtime.Time
}

// TooLong is the value of the panic of a run in which steps take so long that an
// integral over virtual time, such as the integral of blocks in use, would not fit
// 64 bits.
type TooLong struct {
	At vtime.Time
}

// Error says when the run ended, and what would help.
func (l *TooLong) Error() string {
	return "at " + l.At.String() + " of virtual time: the use of an instance, KV blocks or requests times µs, would pass 2⁶²: want faster steps (--beta-coeffs), or an earlier end (--horizon)"
}

// Error says when the run ended, and what would help.
func (l *Livelock) Error() string {
	return "at " + l.At.String() + ": 10,000 consecutive preemptions without a token delivered: equal priorities preempt each other; give more KV blocks, reserve the full prompt at admission, or use fcfs"
}
