package actors

import (
	"context"
	"math"
	"os"
	"testing"

	"blis/internal/testsize"
	"blis/metrics"
)

// TestMooncakeRewardsPrefixRouting is what the index is for: on the Mooncake
// conversation trace, served by eight instances of a 70B model, the router finds
// most of what caches of this size have, and the first token comes much earlier
// than with round-robin.
func TestMooncakeRewardsPrefixRouting(t *testing.T) {
	const path = "../../shared/data/traces/mooncake_fast25_conversation_trace.jsonl"
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	testsize.Long(t)
	run := func(routing string) (hits, expected, ttft float64) {
		cfg := DefaultConfig()
		cfg.Model, cfg.TP, cfg.NumInstances = "Llama-3.1-70B", 8, 8
		cfg.Trace, cfg.SpreadTies, cfg.RoutingPolicy = path, true, routing
		r, err := Run(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		o := r.Report.Overall
		if o.ExpectedHitRate != nil {
			expected = *o.ExpectedHitRate
		}
		return *o.CacheHitRate, expected, o.TTFT.Mean
	}
	_, _, turns := run("round-robin")
	hits, expected, ttft := run("weighted")
	t.Logf("%.1f %% found, %.1f %% expected, mean TTFT %.0f µs, %.3f of round-robin's", 100*hits, 100*expected, ttft, ttft/turns)
	if math.Abs(expected-hits) > 0.02 {
		t.Errorf("%.1f %% expected, %.1f %% found: want them within 2 points", 100*expected, 100*hits)
	}
	if hits < 0.27 || ttft > 0.75*turns {
		t.Errorf("weighted finds %.1f %%, want at least 27; mean TTFT is %.3f of round-robin's, want at most 0.75", 100*hits, ttft/turns)
	}
}

// TestRealTraces replays two published traces whole: nothing is lost, no token
// is counted twice, and the prefix cache finds what an unbounded cache must
// find.
func TestRealTraces(t *testing.T) {
	testsize.Long(t)
	const dir = "../../shared/data/traces/"
	for _, c := range []struct {
		name, file        string
		instances         int
		blocks            int64
		requests, in, out int64
		cached            int64
		hit               float64
	}{
		{"Azure conversation", "azure_llm_2023_conv.csv", 8, 0, 19_366, 22_361_870, 4_088_665, 0, 0},
		{"Mooncake conversation", "mooncake_fast25_conversation_trace.jsonl", 1, 10_000_000, 12_031, 144_793_823, 4_122_048, 54_097_440, 0.3736},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := os.Stat(dir + c.file); err != nil {
				t.Skip(err)
			}
			cfg := DefaultConfig()
			cfg.NumInstances, cfg.TotalKVBlocks, cfg.Trace = c.instances, c.blocks, dir+c.file
			r, err := Run(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			o := r.Report.Overall
			if o.States != (metrics.StateCounts{metrics.Completed: c.requests}) {
				t.Errorf("states %v, want %d completed and nothing else", o.States, c.requests)
			}
			if o.InputTokens != c.in || o.OutputTokens != c.out || o.CachedTokens != c.cached {
				t.Errorf("tokens in, out, cached %d, %d, %d; want %d, %d, %d", o.InputTokens, o.OutputTokens, o.CachedTokens, c.in, c.out, c.cached)
			}
			if math.Abs(*o.CacheHitRate-c.hit) > 0.00005 {
				t.Errorf("hit rate %v, want %v", *o.CacheHitRate, c.hit)
			}
		})
	}
}
