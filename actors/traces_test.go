package actors

import (
	"context"
	"math"
	"os"
	"testing"

	"blis/metrics"
)

// TestRealTraces replays two published traces whole: nothing is lost, no token
// is counted twice, and the prefix cache finds what an unbounded cache must
// find.
func TestRealTraces(t *testing.T) {
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
