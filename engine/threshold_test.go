package engine

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blis/internal/testsize"
	"blis/kv"
	"blis/latency"
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// thresholdModes are the ways to serve with a threshold, which must agree.
var thresholdModes = []struct {
	name           string
	stepwise, slow bool
	pause          vtime.Time // 0: none
}{
	{name: "runs"}, {name: "runs, paused", pause: 700}, {name: "step by step", stepwise: true}, {name: "twins", stepwise: true, slow: true},
}

// withThreshold serves from blocks of 4 tokens. The tier has room for so many entries; above the
// share, blocks move down. Blocks come back in 100 µs, and 1 µs for 2 tokens.
func withThreshold(t *testing.T, blocks, entries int, share float64, slow, stepwise bool) (*Engine, *outcomeLog) {
	l := &outcomeLog{}
	e, _ := instance(t, linear{1000, 10, 20}, func(c *Config) {
		tier := kv.TierConfig{Capacity: entries, Eviction: kv.LRU}
		c.BlockSize, c.Cache, c.Threshold, c.Sink, c.StepByStep = 4, kv.NewPool(blocks, 4, true), &Threshold{kv.NewTier(tier), share, 100, 2}, l, stepwise
		if slow {
			c.Cache, c.Threshold.Tier = kv.NewNaivePool(blocks, 4, true), kv.NewNaiveTier(tier)
		}
	})
	return e, l
}

// outcomeLog keeps what became of each request.
type outcomeLog struct {
	log
	list []metrics.Outcome
}

func (l *outcomeLog) Done(o *metrics.Outcome, _ vtime.Time) { l.list = append(l.list, *o) }

// spoken is a request for named content, each of so many tokens.
func spoken(id int64, at vtime.Time, output int32, spans ...workload.Span) *Delivery {
	d := &Delivery{Admitted: at}
	input := int32(0)
	for _, s := range spans {
		input += s.Length
	}
	d.Request = workload.NewRequest(at, input, output)
	d.ID, d.Spans, d.Deadline = id, spans, vtime.Never
	return d
}

// serve delivers requests in order and serves them.
func serve(t *testing.T, e *Engine, pause vtime.Time, requests ...*Delivery) {
	t.Helper()
	now := vtime.Time(0)
	for _, d := range requests {
		for ; pause > 0 && now < d.Arrival; now += pause {
			e.Advance(now, vtime.ClassStep)
		}
		e.Advance(d.Arrival, vtime.ClassDelivery)
		e.Deliver(d, d.Arrival)
		now = d.Arrival
	}
	for ; pause > 0 && e.Waiting()+e.Running() > 0; now += pause {
		e.Advance(now, vtime.ClassStep)
	}
	e.Advance(vtime.Never, 255)
	e.Finish(e.Now(), vtime.Never)
	if err := e.Check(); err != nil {
		t.Fatal(err)
	}
}

func span(content workload.ContentID, length int32) workload.Span {
	return workload.Span{Content: content, Length: length}
}

// A prompt of 8 tokens leaves two keyed blocks at the end of the free list of a GPU with six. A
// second one, of 16 tokens, takes the four others. That is more than half of the GPU, so when its
// step ends the two blocks move down, and the GPU has them no more. The third asks for them
// again: they come back, which the step waits for.
func TestWorkedExampleOfAThreshold(t *testing.T) {
	for _, c := range []struct {
		name      string
		entries   int
		share     float64
		gpu, tier int32      // tokens that the third request has from GPU and tier
		first     vtime.Time // its first token
		stored    int64
	}{
		{"room for both", 3, 0.5, 0, 8, 5000 + 1000 + 10 + 100 + 4, 2},
		{"room for the deeper one", 1, 0.5, 4, 4, 5000 + 1000 + 10 + 100 + 2, 1},
		{"not above the share", 3, 4. / 6, 4, 0, 5000 + 1000 + 10*5, 0}, // request 1's last token evicts a block
	} {
		for _, m := range thresholdModes {
			e, l := withThreshold(t, 6, c.entries, c.share, m.slow, m.stepwise)
			serve(t, e, m.pause, spoken(0, 0, 1, span(1, 8)), spoken(1, 2000, 2, span(2, 16)), spoken(2, 5000, 2, span(1, 8), span(3, 1)))
			o, k := &l.list[2], &e.Tier
			if o.Cached-o.CachedCPU != c.gpu || o.CachedCPU != c.tier || o.FirstToken != c.first {
				t.Errorf("%s, %s: %d tokens from the GPU, %d from the tier, first token at %v; want %d, %d, %v", c.name, m.name, o.Cached-o.CachedCPU, o.CachedCPU, o.FirstToken, c.gpu, c.tier, c.first)
			}
			if ends := []vtime.Time{l.list[0].Finished, l.list[1].Finished, o.Finished}; !slices.Equal(ends, []vtime.Time{1080, 4180, c.first + 1020}) {
				t.Errorf("%s, %s: requests end at %v", c.name, m.name, ends)
			}
			back := int64(c.tier / 4)
			want := metrics.KVTier{
				Capacity: int64(c.entries), EntryBlocks: 1, PeakUsed: c.stored, UsedMicros: c.stored * (5000 - 3160), Stored: c.stored, Loaded: back,
				CachedTokens: int64(c.tier), MissedTokens: 8 + 16 + 9 - int64(c.gpu), StoredBlocks: c.stored, LoadedBlocks: back,
			}
			if c.stored > 0 {
				want.Stores, want.Loads, want.LoadMicros = 1, 1, 100+2*back
			}
			if diff := cmp.Diff(want, *k); diff != "" {
				t.Errorf("%s, %s: counters (-want +got):\n%s", c.name, m.name, diff)
			}
		}
	}
}

// Two requests whose blocks move back in one step wait for one latency. A prompt that the tier
// has as a whole leaves its last block to be computed.
func TestBlocksMoveBackTogether(t *testing.T) {
	for _, m := range thresholdModes {
		e, l := withThreshold(t, 8, 9, 0.5, m.slow, m.stepwise)
		serve(t, e, m.pause, spoken(0, 0, 1, span(1, 8)), spoken(1, 0, 1, span(3, 4)), spoken(2, 2000, 2, span(2, 20)),
			spoken(3, 5000, 1, span(1, 8)), spoken(4, 5000, 1, span(3, 4), span(4, 1)))
		want := vtime.Time(5000 + 1000 + 10*(4+1) + 100 + 2*2)
		for _, o := range l.list[3:] {
			if o.CachedCPU != 4 || o.FirstToken != want {
				t.Errorf("%s: request %d has %d tokens of the tier, first token at %v; want 4 at %v", m.name, o.ID, o.CachedCPU, o.FirstToken, want)
			}
		}
		if k := &e.Tier; k.Stored != 3 || k.Loads != 1 || k.Loaded != 2 || e.cfg.Threshold.Tier.Used() != 1 {
			t.Errorf("%s: %d entries stored, %d loads of %d, %d left; want 3, 1 of 2, 1", m.name, k.Stored, k.Loads, k.Loaded, e.cfg.Threshold.Tier.Used())
		}
	}
}

// blockReader keeps the CPU-resident blocks that each step reads.
type blockReader struct {
	linear
	read *[]int64
}

func (m blockReader) Step(b *latency.Batch) float64 {
	*m.read = append(*m.read, b.CPUBlocks)
	return m.linear.Step(b)
}

func TestStepsReadBlocksOfTheTier(t *testing.T) {
	var read []int64
	e, _ := withThreshold(t, 6, 3, 0.5, false, false)
	e.batcher.pace.model = blockReader{e.batcher.pace.model.(linear), &read}
	serve(t, e, 0, spoken(0, 0, 1, span(1, 8)), spoken(1, 2000, 2, span(2, 16)), spoken(2, 5000, 2, span(1, 8), span(3, 1)))
	if want := []int64{0, 0, 0, 2, 0}; !slices.Equal(read, want) {
		t.Errorf("steps read %d blocks of the CPU tier, want %d", read, want)
	}
}

func TestDelayOfBlocksThatMoveBack(t *testing.T) {
	for _, c := range []struct {
		bandwidth float64
		blocks    int64
		want      vtime.Duration
	}{{2, 1, 102}, {3, 1, 102}, {3, 2, 103}, {4, 6, 106}, {1e12, 1, 101}, {1e-6, 1, 4_000_100}} {
		x := Threshold{Base: 100, Bandwidth: c.bandwidth}
		if got := x.delay(c.blocks, 4); got != c.want {
			t.Errorf("%d blocks of 4 tokens at %v tokens/µs take %d, want %d", c.blocks, c.bandwidth, got, c.want)
		}
	}
}

// What the tier holds is a signal, and must be what moved down and not back.
func TestMovedBlocksAreInTheTier(t *testing.T) {
	e, _ := withThreshold(t, 8, 9, 0.5, false, false)
	serve(t, e, 0, spoken(0, 0, 1, span(1, 8)), spoken(1, 2000, 2, span(2, 24)))
	if s := e.State(); s.TierUsed != 2 || s.TierEntries != 9 {
		t.Errorf("%d of %d entries are used, want 2 of 9", s.TierUsed, s.TierEntries)
	}
	e.Tier.Loaded++
	if err := e.Check(); err == nil || err.Error() != "instance 0: 2 blocks moved down and 1 back, 2 are in the tier, 0 were evicted" {
		t.Errorf("the books do not balance: %v", err)
	}
}

func TestMostUsed(t *testing.T) {
	for _, c := range []struct {
		share       float64
		total, most int
	}{{0.9, 10, 9}, {0.29, 100, 29}, {1, 7, 7}, {0.07, 100, 7}, {1e-9, 5, 0}, {0.5, 7, 3}, {0.1 + 0.2, 10, 3}} {
		if got := mostUsed(c.share, c.total); got != c.most {
			t.Errorf("%v of %d blocks are %d, want %d", c.share, c.total, got, c.most)
		}
	}
}

// thresholdRun is what all modes must agree in.
type thresholdRun struct {
	list     []metrics.Outcome
	tier     metrics.KVTier
	counters metrics.Counters
	folds    [2]uint64
}

func TestThresholdModesAgree(t *testing.T) {
	seed := rand.Uint64()
	if n, err := strconv.ParseUint(os.Getenv("BLIS_THRESHOLD_SEED"), 10, 64); err == nil {
		seed = n
	}
	seen := map[string]int64{}
	for n := range testsize.Cases(t, 300, 1500, 20_000) {
		x := drawCrowded(seed + uint64(n))
		r := rand.New(rand.NewPCG(seed+uint64(n), 7))
		share, entries := [...]float64{0.01, 0.3, 0.6, 0.8, 0.95}[r.IntN(5)], 1+r.IntN([...]int{4, 20, 300}[r.IntN(3)])
		base, bandwidth := vtime.Duration(r.IntN(3)*400), [...]float64{0.01, 0.7, 1e6}[r.IntN(3)]
		var first *thresholdRun
		for k, m := range thresholdModes {
			tier := kv.TierConfig{Capacity: entries, Eviction: kv.LRU}
			x.config.Threshold = &Threshold{kv.NewTier(tier), share, base, bandwidth}
			if m.slow {
				x.config.Threshold.Tier = kv.NewNaiveTier(tier)
			}
			l := &outcomeLog{}
			x.sink, x.extents = l, !m.slow
			e, err := x.play(m.stepwise, m.pause, nil)
			if err != nil {
				if k > 0 && first != nil {
					t.Fatalf("seed %d: %s: %v", seed+uint64(n), m.name, err)
				}
				continue // preempts for ever
			}
			run := &thresholdRun{l.list, e.Tier, e.Counters, [2]uint64{e.Fold(), x.config.Threshold.Tier.Fold()}}
			if first == nil {
				first = run
			} else if diff := cmp.Diff(first, run, cmp.AllowUnexported(thresholdRun{})); diff != "" {
				t.Fatalf("seed %d: %s differs from %s:\n%s", seed+uint64(n), m.name, thresholdModes[0].name, diff)
			}
			seen["stores"] += e.Tier.Stores
			seen["loads"] += e.Tier.Loads
			seen["thrashing"] += e.Tier.Thrash
			seen["preemptions"] += e.Counters.Preemptions
		}
	}
	for _, what := range []string{"stores", "loads", "thrashing", "preemptions"} {
		if t.Logf("seed %d: %d × %s", seed, seen[what], what); seen[what] == 0 {
			t.Errorf("seed %d: no %s", seed, what)
		}
	}
}
