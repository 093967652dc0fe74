package latency

// Model computes times in microseconds: of a request from delivery to the wait queue
// (α), of one step (β), and the delay until the client sees a token or the end of a
// request. A Model is pure: equal inputs, equal answers, no state. Callers convert
// answers to ticks by vtime.Truncate.
type Model interface {
	// Queueing is the time between delivery and queued.
	Queueing(in QueueInput) float64
	// Step is the time of one step over the batch b, which is not empty.
	Step(b *Batch) float64
	// TokenOverhead is added to TTFT and to each ITL, client side only.
	TokenOverhead() float64
	// RequestOverhead is added once, after decoding.
	RequestOverhead() float64
}

// DefaultGamma is the weight of the newest step in the preemption average,
// where no other is given.
const DefaultGamma = 0.3

// Averager is a Model that chooses the weight γ of the newest step in the
// preemption average that it reads: average = γ·preempted/max(1, running) +
// (1−γ)·average before, starting at 0. γ is above 0 and at most 1. For other
// Models γ is DefaultGamma.
type Averager interface{ Gamma() float64 }

// Gamma returns the weight γ of m: its own if it is an Averager, else DefaultGamma.
func Gamma(m Model) float64 {
	if a, ok := m.(Averager); ok {
		return a.Gamma()
	}
	return DefaultGamma
}

// QueueInput is the state in which a request is delivered to an instance.
type QueueInput struct {
	Input   int64 // L, prompt tokens
	Running int64 // requests in the running list
	Waiting int64 // requests in the wait queue

	UsedBlocks, FreeBlocks int64   // of the KV cache
	CachedTokens           int64   // cumulative, of prompts at their first admission
	PromptTokens           int64   // cumulative, of prompts at their first admission
	PreemptionEMA          float64 // average of preemptions per running request; see Averager
}

// Batch is the composition of one step as running sums, all integers, so that
// a decode run updates it in O(1) per step.
type Batch struct {
	PrefillTokens   int64 // scheduled tokens of requests in prefill
	DecodeTokens    int64 // scheduled tokens of requests in decode
	PrefillRequests int64
	DecodeRequests  int64
	PrefillPairs    int64 // Σ over prefill of c·p + c(c+1)/2, chunk c after p computed tokens
	PrefillContext  int64 // Σ p over prefill
	DecodeContext   int64 // Σ (C + 1) over decode, C computed tokens: keys read, the new token's own key included
	DecodeBlocks    int64 // Σ KV blocks over decode
	Preempted       int64 // requests preempted in this formation
	Transferred     int64 // blocks transferred for this step
	CPUBlocks       int64 // CPU-resident blocks read
	SampledRows     int64 // requests that yield a token
	PreemptionEMA   float64

	// GroupTokens is the tokens that all data-parallel ranks schedule in this step, if they share
	// experts and step together; a rank that schedules none counts as one. 0: no such ranks, or as many
	// for each rank as here. GroupPrefill is those of requests in prefill.
	GroupTokens, GroupPrefill int64
}

// Scheduled is the number of tokens in the batch.
func (b *Batch) Scheduled() int64 { return b.PrefillTokens + b.DecodeTokens }

// Floor is implemented by models with lower bounds of their answers, in µs. No answer
// is ever below its bound. The bounds give the parallel simulation its lookahead;
// for models without Floor it assumes one tick.
type Floor interface {
	MinQueueing(input int64) float64 // minimum of Queueing, for a prompt of input tokens
	MinStep() float64                // minimum of Step, for any batch
}
