package latency

import "math"

// CapacityInput is the load and the limits of one instance.
type CapacityInput struct {
	Input, Output float64 // mean prompt and output tokens per request, L and O; below 1 counts as 1
	MaxSeqs       int64   // max-num-seqs
	Tokens        int64   // max-num-batched-tokens
	Blocks        int64   // KV blocks
	BlockSize     int64   // tokens per block

	// Computed is how many tokens of a prompt are computed here, its last ones: the KV of the
	// others comes from elsewhere. 0: all.
	Computed float64
}

// Limit names the resource that bounds the rate of an instance.
type Limit string

// Limits.
const (
	MaxSeqs       Limit = "seats"        // max_num_seqs requests are in the batch
	KVCache       Limit = "KV"           // every KV block is in use
	TokenBudget   Limit = "token budget" // every step has max_num_batched_tokens tokens
	LatencyItself Limit = "latency"      // no limit is reached: more requests at once would only be slower
)

// CapacityEstimate is the highest rate that one instance sustains.
type CapacityEstimate struct {
	Rate     float64 // requests per second, finite and above 0
	Requests int64   // in the batch at that rate
	StepTime float64 // mean time of a step at that rate, µs
	Binds    Limit   // that is reached at that rate
}

// Capacity estimates the highest request rate that one instance can sustain.
//
// In a steady state with n requests in the batch and a of them new per step,
// each is in O batches: one ends its prefill and yields the first token, O − 1
// decode. So a = n/O, a step holds n − a decodes and, on average, a·L prefill
// tokens, and the rate is a per step time:
//
//	rate(n) = n / (O·T(n))
//
// The largest over all n within the limits is the capacity. The limits: n requests
// in the batch; n times the blocks of a request half-way through its output, ⌈(L + O/2)/B⌉;
// n − a + a·L tokens per step. The α part of a model delays requests, but not
// the instance, and does not enter.
//
// Some steps have several prefills, others none, and the time of a step is not linear
// in them: memory bounds a step without prefill, compute one with several. So T(n) is
// the mean over the number of prefills in a step; see meanStep.
//
// Not modelled: prompts of unequal length, hits in the prefix cache, preemption, and
// seats of requests whose prefill takes several steps. The rate is within a few
// percent of a simulated backlog (see the test).
func Capacity(m Model, in CapacityInput) CapacityEstimate {
	in.Input, in.Output = atLeastOne(in.Input), atLeastOne(in.Output)
	if !(in.Computed >= 1 && in.Computed < in.Input) {
		in.Computed = in.Input
	}
	in.Tokens = max(1, min(in.Tokens, math.MaxInt32)) // no step holds more, and no sum overflows
	limit, binds := in.limit()
	best := CapacityEstimate{}
	var b Batch // reused: a pointer that a Model is given is on the heap
	// Every n up to 64, then steps of a sixty-fourth (a maximum is flat), and
	// always the limit itself.
	for n := int64(1); ; n = min(limit, n+1+n/64) {
		t := in.meanStep(m, &b, n)
		if rate := float64(float64(n) / float64(in.Output*t) * 1e6 * in.served(n)); rate > best.Rate {
			best = CapacityEstimate{Rate: rate, Requests: n, StepTime: t, Binds: LatencyItself}
		}
		if n == limit {
			break
		}
	}
	if best.Requests == limit {
		best.Binds = binds
	}
	return best
}

// atLeastOne also bounds x so that no sum below leaves int64.
func atLeastOne(x float64) float64 {
	if !(x >= 1) {
		return 1
	}
	return min(x, 1e6)
}

// midway returns the tokens of a request half-way through its output, L + O/2.
func (in *CapacityInput) midway() float64 { return in.Input + float64(in.Output/2) }

// limit returns the largest n, at least 1, that max_num_seqs, KV cache and token
// budget allow, and which of them binds.
func (in *CapacityInput) limit() (n int64, binds Limit) {
	n, binds = max(1, in.MaxSeqs), MaxSeqs
	perRequest := int64(math.Ceil(in.midway() / float64(max(1, in.BlockSize))))
	if kv := max(1, in.Blocks/perRequest); kv < n {
		n, binds = kv, KVCache
	}
	// n·(O − 1 + L)/O tokens per step.
	if budget := max(1, int64(float64(in.Tokens)*in.Output/(in.Computed+in.Output-1))); budget < n {
		n, binds = budget, TokenBudget
	}
	return n, binds
}

// manyPieces is the mean number of prefills per step above which its spread is
// ignored.
const manyPieces = 16

// meanStep returns T(n). With c the token budget less the decodes, a prefill is
// computed in pieces of min(L, c) tokens. Each of the n requests is in prefill with
// the same probability, so the number of pieces in a step is binomial. The budget cuts
// the largest of these steps; some full steps are added so that a·L tokens are
// prefilled on average.
func (in *CapacityInput) meanStep(m Model, b *Batch, n int64) float64 {
	arriving := float64(n) / in.Output
	decodes := int64(math.Round(float64(n) - arriving))
	room := max(1, in.Tokens-decodes)
	piece := min(max(1, int64(math.Round(in.Computed))), room)
	wanted := min(float64(arriving*in.Computed), float64(room))
	pieces := wanted / float64(piece)
	chance := pieces / float64(n)
	if pieces > manyPieces || chance >= 1 {
		return in.step(m, b, decodes, int64(math.Round(wanted)), piece)
	}

	// By multiplications alone: math.Exp and math.Pow differ between machines.
	weight := power(1-chance, n) // of k pieces, starting with none
	odds := chance / (1 - chance)
	var total, tokens, time float64
	for k := int64(0); k <= n && k <= 4*manyPieces; k++ {
		prefill := min(k*piece, room)
		total += weight
		tokens += float64(weight * float64(prefill))
		time += float64(weight * in.step(m, b, decodes, prefill, piece))
		if prefill == room {
			break
		}
		weight = float64(weight * (float64(n-k) / float64(k+1) * odds))
	}
	tokens, time = tokens/total, time/total
	if float64(room)-tokens < 1 || tokens >= wanted {
		return time
	}
	full := (wanted - tokens) / (float64(room) - tokens)
	return float64((1-full)*time) + float64(full*in.step(m, b, decodes, room, piece))
}

// served returns the share of its work that the steps of n requests do: less than 1 for a single
// one whose prompt takes more steps than it has output tokens. More requests fit the budget.
func (in *CapacityInput) served(n int64) float64 {
	if n > 1 {
		return 1
	}
	arriving := 1 / in.Output
	room := max(1, in.Tokens-int64(math.Round(1-arriving)))
	return min(1, float64(room)/float64(arriving*in.Computed))
}

// step returns the time of one step, at least 1 µs as in the engine. The step has
// decodes half-way through their output, and prefill tokens in pieces.
func (in *CapacityInput) step(m Model, b *Batch, decodes, prefill, piece int64) float64 {
	if decodes+prefill == 0 {
		decodes = 1 // an empty batch is no step
	}
	context := int64(in.midway())
	length := max(1, int64(math.Round(in.Input)))
	computed := max(1, int64(math.Round(in.Computed)))
	*b = Batch{
		PrefillTokens:   prefill,
		DecodeTokens:    decodes,
		PrefillRequests: (prefill + piece - 1) / piece,
		DecodeRequests:  decodes,
		// A prompt token sees (L + 1)/2 keys on average, however it is cut;
		// a piece starts after (L − piece)/2 tokens on average. Both are more where
		// only the last tokens are computed.
		PrefillPairs:  prefill * (2*length - computed + 1) / 2,
		DecodeContext: decodes * (context + 1),
		DecodeBlocks:  decodes * (context/max(1, in.BlockSize) + 1),
		SampledRows:   decodes + prefill/computed,
	}
	b.PrefillContext = b.PrefillRequests * (2*length - computed - min(computed, piece)) / 2
	if t := m.Step(b); t > 1 {
		return t
	}
	return 1
}
