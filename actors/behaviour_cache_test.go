package actors

import (
	"testing"

	"blis/workload"
)

// K = 32 tokens, all of them cached in 2 blocks: the last token is always
// computed, and whole blocks are what is hit, so 16 are computed and not 1.
// With 10 µs per prefill token on top of 1,000 the second prefill takes 1,160.
func TestFullyCachedPromptComputesItsLastBlock(t *testing.T) {
	c := plain()
	c.BetaCoeffs = []float64{1000, 10, 0}
	same := workload.Span{Content: 1, Length: 32}
	s := serve(t, c, prompt(request(0, 32, 1), same), prompt(request(10_000, 32, 1), same))
	wantFates(t, s, completed(0, 1320, 1320, 1), completed(10_000, 11_160, 11_160, 1))
	if got := s.rows[1].Cached; got != 16 {
		t.Errorf("%d tokens cached, want 16", got)
	}
	if k := &s.Report.Overall.Resources.Counters; k.LookedUpTokens != 64 || k.CachedTokens != 16 || k.ScheduledTokens != 48 {
		t.Errorf("%d looked up, %d cached, %d scheduled; want 64, 16, 48", k.LookedUpTokens, k.CachedTokens, k.ScheduledTokens)
	}
}

// Keys are chained: a block of equal content behind another prefix is another
// block.
func TestSameLastTokensAfterDifferentPrefixesDoNotHit(t *testing.T) {
	same := workload.Span{Content: 9, Length: 16}
	s := serve(t, plain(),
		prompt(request(0, 40, 1), workload.Span{Content: 1, Length: 16}, same),
		prompt(request(10_000, 40, 1), workload.Span{Content: 2, Length: 16}, same),
		prompt(request(20_000, 40, 1), workload.Span{Content: 1, Length: 16}, same))
	for i, want := range []int32{0, 0, 32} {
		if got := s.rows[i].Cached; got != want {
			t.Errorf("request %d: %d tokens cached, want %d", i, got, want)
		}
	}
}

// A prefix of 1,024 blocks lies on the free list, its end in front. A prompt
// of 204 blocks takes the 75 blocks that were never used, the first request's
// own last block, and 128 of the prefix: from its end. The next request of
// that prefix hits the 896 before them.
func TestPressureEvictsTheEndOfASharedPrefix(t *testing.T) {
	c := plain()
	c.TotalKVBlocks, c.MaxNumBatchedTokens = 1100, 20_000
	prefix := workload.Span{Content: 1, Length: 1024 * 16}
	s := serve(t, c,
		prompt(request(0, prefix.Length+1, 1), prefix),
		request(10_000, 204*16, 1),
		prompt(request(20_000, prefix.Length+1, 1), prefix))
	for i, want := range []int32{0, 0, 896 * 16} {
		if got := s.rows[i].Cached; got != want {
			t.Errorf("request %d: %d tokens cached, want %d", i, got, want)
		}
	}
}

// Blocks that a step fills are keyed when they are allocated: a request that
// is scheduled later in the same step hits them already.
func TestRequestsOfOneStepShareTheirPrefix(t *testing.T) {
	same := workload.Span{Content: 1, Length: 64}
	s := serve(t, plain(), prompt(request(0, 70, 1), same), prompt(request(0, 70, 1), same))
	wantFates(t, s, completed(0, 1000, 1000, 1), completed(0, 1000, 1000, 1))
	if a, b := s.rows[0].Cached, s.rows[1].Cached; a != 0 || b != 64 {
		t.Errorf("%d and %d tokens cached, want 0 and 64", a, b)
	}
	if peak := s.Report.Overall.Resources.Counters.PeakBlocks; peak != 6 {
		t.Errorf("%d blocks in use, want 4 shared and 2 own", peak)
	}
}

// The output of a turn fills blocks too. 20 in + 29 out: the KV of the last
// token is never computed, so 48 tokens exist, 3 blocks. The next turn repeats
// all 49 and adds to them.
func TestNextTurnHitsTheOutputOfTheOneBefore(t *testing.T) {
	ask, answer := workload.Span{Content: 1, Length: 20}, workload.Span{Content: 2, Length: 29}
	first := prompt(request(0, 20, 29), ask)
	first.OutputContent = answer.Content
	for _, async := range []bool{false, true} {
		c := plain()
		c.AsyncScheduling = &async
		s := serve(t, c, first, prompt(request(100_000, 60, 1), ask, answer))
		if got := s.rows[1].Cached; got != 48 {
			t.Errorf("async %v: %d tokens cached, want 48", async, got)
		}
	}
}

// Without prefix caching nothing is hit.
func TestNothingHitsWithoutPrefixCaching(t *testing.T) {
	c := plain()
	c.EnablePrefixCaching = false
	same := workload.Span{Content: 1, Length: 64}
	s := serve(t, c, prompt(request(0, 70, 1), same), prompt(request(10_000, 70, 1), same))
	if got := s.rows[1].Cached; got != 0 {
		t.Errorf("%d tokens cached, want 0", got)
	}
}

// The hit rate is of first admissions. Two of 34 tokens in 6 blocks with a
// prefix of 32: the second, hitting 32, is preempted when the first needs a
// block of its own, and comes back; what it hits then is counted apart.
func TestHitRateCountsFirstAdmissionsOnly(t *testing.T) {
	c := plain()
	c.TotalKVBlocks = 5
	same := workload.Span{Content: 1, Length: 32}
	// Both hold the 2 shared blocks and one of their own; one is free. At
	// K = 49 (after 15 tokens) the first takes it, the second has none.
	s := serve(t, c, prompt(request(0, 34, 20), same), prompt(request(0, 34, 20), same))
	k := &s.Report.Overall.Resources.Counters
	if k.Preemptions != 1 || k.LookedUpTokens != 68 || k.CachedTokens != 32 {
		t.Errorf("%d preemptions, %d of %d tokens cached; want 1, 32 of 68", k.Preemptions, k.CachedTokens, k.LookedUpTokens)
	}
	// It comes back with 34 + 15 = 49 tokens known. Its own third block was
	// keyed (tokens 33 to 48) and may be hit: 48 of 49.
	if k.RelookedTokens != 49 || k.RecachedTokens != 48 || s.rows[1].Recomputed != 0 {
		t.Errorf("%d of %d tokens cached when it came back, %d recomputed; want 48 of 49, 0", k.RecachedTokens, k.RelookedTokens, s.rows[1].Recomputed)
	}
}
