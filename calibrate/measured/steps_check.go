package measured

import "fmt"

// contradiction finds what in a step cannot be true of any: the column, and what
// would be right; an empty want for none.
func (s *Step) contradiction() (column int, want string) {
	switch {
	case s.PrefillTokens == 0 && s.DecodeTokens == 0:
		return stepPrefillTokens, "a step that schedules tokens, as batch.decode_tokens is 0 too"
	case s.PrefillTokens > 0 && s.PrefillRequests == 0:
		return stepPrefillTokens, "0, as batch.num_prefill_reqs is"
	case s.PrefillTokens < s.PrefillRequests:
		return stepPrefillTokens, fmt.Sprintf("at least 1 for each of the batch.num_prefill_reqs %d", s.PrefillRequests)
	case s.DecodeTokens > 0 && s.DecodeRequests == 0:
		return stepDecodeTokens, "0, as batch.num_decode_reqs is"
	case s.DecodeTokens < s.DecodeRequests:
		return stepDecodeTokens, fmt.Sprintf("at least 1 for each of the batch.num_decode_reqs %d", s.DecodeRequests)
	case s.ScheduledTokens != s.PrefillTokens+s.DecodeTokens:
		return stepScheduled, fmt.Sprintf("%d, as batch.prefill_tokens + batch.decode_tokens is", s.PrefillTokens+s.DecodeTokens)
	case s.BlocksFree > s.BlocksTotal:
		return stepBlocksFree, fmt.Sprintf("at most kv.blocks_total_gpu %d", s.BlocksTotal)
	case !s.HasSums:
		return 0, ""
	}
	return s.sumContradiction()
}

// sumContradiction: c·p + c(c+1)/2 over prefills is at least Σ c, and without p
// at most what one prefill of all the tokens has.
func (s *Step) sumContradiction() (column int, want string) {
	tokens := float64(s.PrefillTokens) // the bound of pairs need not fit an integer
	switch {
	case s.PrefillPairs < s.PrefillTokens:
		return stepPairs, fmt.Sprintf("at least batch.prefill_tokens %d", s.PrefillTokens)
	case s.PrefillRequests == 0 && s.PrefillPairs > 0:
		return stepPairs, "0, as batch.num_prefill_reqs is"
	case s.PrefillRequests == 0 && s.PrefillContext > 0:
		return stepPrefillContext, "0, as batch.num_prefill_reqs is"
	case s.PrefillContext == 0 && float64(s.PrefillPairs) > tokens*(tokens+1)/2:
		return stepPairs, fmt.Sprintf("at most %.0f, a prefill of all tokens at once, as prefill_context is 0", tokens*(tokens+1)/2)
	case s.DecodeRequests == 0 && s.DecodeContext > 0:
		return stepDecodeContext, "0, as batch.num_decode_reqs is"
	case s.DecodeContext < s.DecodeTokens:
		return stepDecodeContext, fmt.Sprintf("at least batch.decode_tokens %d", s.DecodeTokens)
	case s.SampledRows < s.DecodeRequests:
		return stepSampled, fmt.Sprintf("at least batch.num_decode_reqs %d: all of them yield a token", s.DecodeRequests)
	case s.SampledRows > s.PrefillRequests+s.DecodeRequests:
		return stepSampled, fmt.Sprintf("at most the %d requests of the batch", s.PrefillRequests+s.DecodeRequests)
	}
	return 0, ""
}
