package actors

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"blis/internal/testsize"
	"blis/vtime"
)

// drawLarge is a configuration with hundreds of instances, so that sets of
// instances and trees over them have several words and levels.
func drawLarge(seed uint64) *trial {
	rng := rand.New(rand.NewPCG(seed, 77))
	c := DefaultConfig()
	c.Seed = seed
	c.NumInstances = 100 + rng.IntN(500)
	c.NumRequests = int64(c.NumInstances) * int64(1+rng.IntN(4))
	c.AlphaCoeffs = []float64{float64(rng.IntN(3000)), 3, 1000}
	c.BetaCoeffs = []float64{float64(2000 + rng.IntN(6000)), 20, 3}
	c.Rate = float64(c.NumInstances) * (5 + 60*rng.Float64())
	c.PromptTokens, c.PromptTokensStdev, c.PromptTokensMax = 128, 64, 512
	c.OutputTokens, c.OutputTokensStdev, c.OutputTokensMin, c.OutputTokensMax = 24, 20, 1, 100
	c.TotalKVBlocks, c.MaxNumSeqs, c.MaxNumBatchedTokens = 40+rng.Int64N(200), 8, 256
	c.RoutingPolicy = []string{"round-robin", "least-loaded", "weighted"}[rng.IntN(3)]
	if c.RoutingPolicy == "weighted" {
		c.RoutingScorers = []string{"", "queue-depth:1", "kv-utilization:2,queue-depth:1", "prefix-affinity:1,load-balance:1"}[rng.IntN(4)]
		c.PrefixTokens = int32(16 * rng.IntN(5))
	}
	c.SnapshotRefreshInterval = []vtime.Duration{0, 0, 5 * vtime.Millisecond, 50 * vtime.Millisecond}[rng.IntN(4)]
	if c.SnapshotRefreshInterval > 0 && rng.IntN(2) == 0 {
		c.InFlight = "periodic"
	}
	if rng.IntN(3) == 0 {
		c.Timeout = vtime.Duration(50+rng.IntN(1000)) * vtime.Millisecond
	}
	return &trial{Config: c}
}

// largeExecutors are the sequential twin, which comes first, and numbers of
// workers on both sides of the number of cores, each with all windows shared
// and as a run decides it.
func largeExecutors() []Executor {
	list := []Executor{{"one event at a time", Execution{Workers: 1, Sequential: true}}}
	for _, w := range []int{1, 2, 3, 4, 8, 16} {
		list = append(list, Executor{fmt.Sprintf("workers: %d", w), Execution{Workers: w}})
	}
	return append(list, Executor{"2 workers, all windows shared", Execution{Workers: 2, Inline: -1}},
		Executor{"3 workers, 200 ahead", Execution{Workers: 3, Ahead: 200}})
}

// TestEqualityLarge: with hundreds of instances one digest, whatever the
// workers and however often garbage is collected. BLIS_EQUALITY_LARGE sets the
// number of configurations, BLIS_EQUALITY_SEED the first seed.
func TestEqualityLarge(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	cases, first := fromEnvironment(t, "BLIS_EQUALITY_LARGE", testsize.Of(1, 2, 6)), uint64(fromEnvironment(t, "BLIS_EQUALITY_SEED", 1))
	t.Logf("seeds %d to %d", first, first+uint64(cases)-1)
	for seed := first; seed < first+uint64(cases); seed++ {
		debug.SetGCPercent([]int{20, -1}[seed%2])
		mustAgree(t, drawLarge(seed), largeExecutors())
	}
}
