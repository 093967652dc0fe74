package engine

import (
	"fmt"
	"slices"
	"testing"
)

// What users of other simulators reported: a CPU tier that is asked only when GPU memory
// is short, and reloads that cover all of a prompt or nothing.

// TestEveryAdmissionLooksIntoTheTier: five prompts of 29 tokens come one after the other
// to a GPU with memory for all of them. They have 24 tokens in common, six entries. With
// prefix caching off each but the first loads these; with it on the GPU has them, and the
// tier is asked for the rest.
func TestEveryAdmissionLooksIntoTheTier(t *testing.T) {
	for _, x := range []struct {
		caching                                 bool
		loads, blocks, fromTier, asked, allHits int64
	}{
		{false, 4, 24, 4 * 24, 5 * 29, 4 * 24},
		{true, 0, 0, 0, 29 + 4*5, 4 * 24},
	} {
		var requests []scenarioRequest
		for k := range int64(5) {
			requests = append(requests, ask(k, 10_000*k, 3, [2]int64{10, 24}, [2]int64{20 + k, 5}))
		}
		sc := example(400, [2]float64{100, 20.5}, [2]float64{150, 25.25}, requests...)
		sc.Config.Caching = x.caching
		eachMode(t, sc, func(p *kvPlayer) error {
			k := &p.e.Tier
			if k.Loads != x.loads || k.LoadedBlocks != x.blocks || k.CachedTokens != x.fromTier || k.MissedTokens != x.asked || p.e.Counters.CachedTokens != x.allHits {
				return fmt.Errorf("caching %v: %d loads of %d blocks, %d of %d tokens found in the tier, %d in both; want %d, %d, %d, %d, %d", x.caching,
					k.Loads, k.LoadedBlocks, k.CachedTokens, k.MissedTokens, p.e.Counters.CachedTokens, x.loads, x.blocks, x.fromTier, x.asked, x.allHits)
			}
			return nil
		})
	}
}

// TestWaitingRequestsAreLookedUpAtEveryPass: request 1 does not fit beside request 0, at
// ten passes. That is ten lookups of its four entries, and an eleventh when it is
// admitted: they are stored by then, also for a threshold of eleven, and not for twelve.
func TestWaitingRequestsAreLookedUpAtEveryPass(t *testing.T) {
	for threshold, want := range map[int]int64{2: 4, 11: 4, 12: 0} {
		sc := example(10, [2]float64{100, 20.5}, [2]float64{150, 25.25}, ask(0, 0, 11, [2]int64{10, 24}), ask(1, 500, 2, [2]int64{11, 16}))
		sc.Config.Offload.Threshold = threshold
		eachMode(t, sc, func(p *kvPlayer) error {
			if got := p.e.Tier.Stored; got != want {
				return fmt.Errorf("threshold %d: %d entries stored, want %d", threshold, got, want)
			}
			return nil
		})
	}
}

// TestReloadOfAPartOfThePrompt: the GPU has 12 tokens of a prompt of 37, the tier 32, in
// entries of 8. The second entry is there in part already: five blocks are loaded, in
// 150 + 25.25 · 5 µs, and five tokens are computed, in 1,000 + 10.5 · 5.
func TestReloadOfAPartOfThePrompt(t *testing.T) {
	requests := []scenarioRequest{ask(0, 0, 3, [2]int64{10, 32}), ask(1, 10_000, 3, [2]int64{11, 66}), ask(9, 40_000, 2, [2]int64{10, 32}, [2]int64{12, 5})}
	sc := example(20, [2]float64{100, 20.5}, [2]float64{150, 25.25}, requests...)
	sc.Config.Offload.BlockSize = 8
	eachMode(t, sc, func(p *kvPlayer) error {
		if want := [5]any{"load", 9.0, 5.0, 40_000.0, 40_276.0}; !slices.Contains(p.at(40_000).Xfers, want) {
			return fmt.Errorf("loads submitted at 40,000: %v, want %v", p.at(40_000).Xfers, want)
		}
		if r := p.at(40_276); !slices.Contains(r.Scheduled, [2]int64{9, 5}) || r.End != 41_328 {
			return fmt.Errorf("at 40,276 %v until %d, want five tokens until 41,328", r.Scheduled, r.End)
		}
		if k := &p.e.Tier; k.Loaded != 3 || k.CachedTokens != 20 || p.e.Counters.CachedTokens != 32 {
			return fmt.Errorf("%d entries read, %d tokens from the tier, %d from both; want 3, 20, 32", k.Loaded, k.CachedTokens, p.e.Counters.CachedTokens)
		}
		return nil
	})
}
