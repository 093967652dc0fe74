package study

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/actors"
	"blis/internal/testsize"
)

// A server whose steps take the same time whatever is in them, and whose requests take one
// step each, is a queue that theory knows. With one seat it is M/D/1: a mean wait of
// ρD/(2(1−ρ)). With b seats it is a bulk queue: whoever waits when a step ends, b at most, is
// in the next one. Both can be simulated in a few lines that share nothing with BLIS, so the
// share of windows that pass is known at every rate.
type theoryQueue struct {
	seats  int
	step   float64 // µs
	slo    string
	share  float64
	window int64 // requests
}

var theoryQueues = []theoryQueue{
	{1, 1000, "mean_e2e=2ms", 0.9, 1000},
	{4, 10_000, "mean_e2e=20ms", 0.9, 1000},
	{1, 1000, "p99_e2e=8ms", 0.9, 1000},
	{1, 1000, "mean_e2e=3ms", 0.9, 2000},
	{1, 500, "p90_e2e=2ms", 0.75, 1000},
	{1, 1000, "mean_e2e=1500us", 0.5, 1000},
	{8, 10_000, "p90_e2e=18ms", 0.9, 1000},
	{16, 20_000, "p99_e2e=60ms", 0.9, 1000},
	{32, 10_000, "p50_e2e=16ms", 0.75, 1000},
	{2, 1000, "p99_e2e=6ms", 0.95, 1000},
}

// config is such a queue in BLIS.
func (q *theoryQueue) config() actors.Config {
	cfg := actors.DefaultConfig()
	cfg.NumInstances, cfg.TotalKVBlocks = 1, 1<<20
	cfg.AlphaCoeffs, cfg.BetaCoeffs = []float64{0, 0, 0}, []float64{q.step, 0, 0}
	cfg.MaxNumSeqs, cfg.AsyncScheduling = int32(q.seats), new(false)
	cfg.PromptTokens, cfg.PromptTokensStdev, cfg.OutputTokens, cfg.OutputTokensStdev, cfg.OutputTokensMin = 2, 0, 1, 0, 1
	return cfg
}

// passes is the share of windows that pass at a rate, of n windows that are simulated here.
func (q *theoryQueue) passes(r *CapacityResult, slo *SLO, rate float64, n int, draw *rand.Rand) float64 {
	passed := 0
	for range n {
		if slo.keeps(q.window1(r, slo, rate, draw)) {
			passed++
		}
	}
	return float64(passed) / float64(n)
}

// window1 simulates one window after its warm-up, and returns the measure of the bound.
func (q *theoryQueue) window1(r *CapacityResult, slo *SLO, rate float64, draw *rand.Rand) float64 {
	from, to := float64(r.Warmup), float64(r.Warmup+r.Length)
	var waiting, latencies []float64 // times of arrival; E2E of those in the window
	gap := 1e6 / rate
	next := draw.ExpFloat64() * gap
	for now := 0.0; ; {
		for next <= now {
			waiting = append(waiting, next)
			next += draw.ExpFloat64() * gap
		}
		if len(waiting) == 0 {
			now = next
			continue
		}
		if waiting[0] >= to {
			break
		}
		now += q.step
		batch := min(q.seats, len(waiting))
		for _, at := range waiting[:batch] {
			if at >= from && at < to {
				latencies = append(latencies, now-at)
			}
		}
		waiting = slices.Delete(waiting, 0, batch)
	}
	of, _ := sampledOf(&slo.Measure)
	if of.percent == 0 {
		sum := 0.0
		for _, x := range latencies {
			sum += x
		}
		return sum / float64(len(latencies))
	}
	slices.Sort(latencies)
	at := float64(of.percent) / 100 * float64(len(latencies)-1)
	low := latencies[int(at)]
	return low + (latencies[min(int(at)+1, len(latencies)-1)]-low)*(at-math.Floor(at))
}

// TestCapacityAgainstTheory: both claims hold of the true share of windows, in queues that are
// simulated independently; and the answer lies where the formula of M/D/1 has it.
func TestCapacityAgainstTheory(t *testing.T) {
	const seed = 5
	queues := theoryQueues[:testsize.Of(1, 2, len(theoryQueues))]
	for i := range queues {
		q := &queues[i]
		slo := bounds(t, q.slo)
		full := float64(q.seats) / q.step * 1e6
		c := NewCapacity(q.config(), SearchAxis{}, slo...)
		c.Over, _ = ParseSearchAxis("rate="+(&SearchAxis{}).Value(math.Round(full/20))+".."+(&SearchAxis{}).Value(math.Round(full)), DefaultPrecision)
		c.Share, c.Length.Requests = q.share, q.window
		r := find(t, c)
		if r.Outcome != CapacityFound {
			t.Fatalf("%+v: %s, %v to %v", q, r.Outcome, r.Holds, r.Fails)
		}
		draw, n := rand.New(rand.NewPCG(seed, uint64(i))), 1500
		low, high := q.passes(r, &slo[0], r.Holds.Value, n, draw), q.passes(r, &slo[0], r.Fails.Value, n, draw)
		noise := 3 * math.Sqrt(q.share*(1-q.share)/float64(n))
		t.Logf("%d seats, %s, share %v: holds at %v (%.3f pass), not at %v (%.3f pass); windows of %v after %v, %d windows", q.seats, q.slo, q.share, r.Holds.Value, low, r.Fails.Value, high, r.Length, r.Warmup, r.Windows)
		if low < q.share-noise || high > q.share+noise {
			t.Errorf("seed %d: %d seats, %s: %.3f of windows pass at %v, and %.3f at %v; want at least %v, and fewer", seed, q.seats, q.slo, low, r.Holds.Value, high, r.Fails.Value, q.share)
		}
		if of, _ := sampledOf(&slo[0].Measure); q.seats == 1 && of.percent == 0 {
			// D + ρD/(2(1−ρ)) = bound, solved for ρ.
			wait := slo[0].Bound - q.step
			rate := 2 * wait / (q.step + 2*wait) * full
			if !(r.Holds.Value < rate && r.Fails.Value > 0.8*rate && r.Fails.Value < 1.2*rate) {
				t.Errorf("M/D/1, %s: %v holds and %v does not; the mean is at the bound at %.1f", q.slo, r.Holds.Value, r.Fails.Value, rate)
			}
		}
	}
}
