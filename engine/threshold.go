package engine

import (
	"fmt"
	"math"

	"blis/kv"
	"blis/latency"
	"blis/metrics"
	"blis/vtime"
)

// Threshold is the CPU tier of simulators that keep one copy of each block. Blocks move: down
// when the GPU is nearly full, and back when a request is admitted that needs them, which the
// step waits for. Servers copy, and let the request wait; they have an Offload.
type Threshold struct {
	Tier      kv.Tier        // its entries are blocks
	Share     float64        // of the GPU's blocks; free blocks move down while more are in use. Above 0, at most 1
	Base      vtime.Duration // that a step takes longer if blocks move back in it …
	Bandwidth float64        // … and so many tokens of theirs per µs
}

// delay is what a step takes longer in which blocks of size tokens move back.
func (t *Threshold) delay(blocks, size int64) vtime.Duration {
	d, err := vtime.Truncate(math.Ceil(float64(blocks*size) / t.Bandwidth))
	if err != nil {
		panic(fmt.Sprintf("engine: the time of %d blocks at %v tokens/µs is NaN", blocks, t.Bandwidth))
	}
	return min(t.Base, longestDelay) + min(d, longestDelay)
}

// longestDelay is the most that each part of a delay counts, far beyond any run.
const longestDelay = 1 << 60

// threshold moves the blocks of an instance with Config.Threshold:
//
//	step's end   the keyed blocks on the free list move down, from its head, as far as the tier has room
//	admission    the blocks behind those that the GPU's cache has move back
//
// A block that the tier has already needs no room there. It loses its key on the GPU too.
type threshold struct {
	cfg       *Threshold
	cache     kv.Cache
	requests  *requests
	counts    *metrics.KVTier
	observer  Observer // nil: none
	blockSize int32
	most      int // blocks in use up to which nothing moves down

	slots  []kv.TierSequence // by slot
	hit    int32             // blocks of the GPU and …
	found  int32             // … of the tier, of the request that was looked up last
	back   int64             // blocks that move back in the formation at hand
	lost   int64             // blocks that were in the tier when the instance crashed
	until  vtime.Time        // the integrals of counts are up to this time
	series []*metrics.TimeSeries
	moving kv.TierSequence // what moves down
	list   []kv.FreeBlocks // memory for moves
	ranges []kv.EntryRange
}

// newThreshold returns what moves the blocks of e; nil if nothing does.
func newThreshold(e *Engine) *threshold {
	cfg := e.cfg.Threshold
	if cfg == nil {
		return nil
	}
	e.Tier.Capacity, e.Tier.EntryBlocks = int64(cfg.Tier.Capacity()), 1
	return &threshold{
		cfg: cfg, cache: e.cfg.Cache, requests: &e.requests, counts: &e.Tier, observer: e.cfg.Observer, series: e.cfg.TimeSeries,
		blockSize: e.cfg.BlockSize, most: mostUsed(cfg.Share, e.cfg.Cache.Total()),
	}
}

// mostUsed returns the largest number of blocks that are not more than a share of total.
func mostUsed(share float64, total int) int {
	used := int(share * float64(total))
	for float64(used)/float64(total) > share {
		used--
	}
	for used < total && float64(used+1)/float64(total) <= share {
		used++
	}
	return used
}

// open takes in the request that was put into slot i.
func (t *threshold) open(i int32) {
	for int(i) >= len(t.slots) {
		t.slots = append(t.slots, kv.TierSequence{})
	}
	s := t.requests.at(i)
	t.slots[i].Open(&s.seq, t.blockSize, s.Priority)
}

// full reports whether the tier has no room.
func (t *threshold) full() bool { return t.cfg.Tier.Used() >= t.cfg.Tier.Capacity() }

// settled reports whether nothing can move down, now and until a request is admitted, or
// releases blocks.
func (t *threshold) settled() bool {
	if t.full() {
		return true
	}
	t.list = t.cache.Oldest(t.list[:0], t.cache.Free())
	return len(t.list) == 0
}

// stepEnds moves free blocks down if more than the share are in use.
func (t *threshold) stepEnds(now vtime.Time) {
	if t.cache.Total()-t.cache.Free() <= t.most || t.full() {
		return
	}
	t.cfg.Tier.Advance(now)
	k, before := t.counts, t.counts.Stored
	t.list = t.cache.Oldest(t.list[:0], t.cache.Free())
	moves := 0
	for ; moves < len(t.list) && !t.full(); moves++ {
		b := &t.list[moves]
		b.From = t.moveDown(*b, now)
	}
	for _, b := range t.list[:moves] { // apart, as caches list their blocks in different pieces
		t.cache.Unkey(b, b.From)
	}
	if moved := k.Stored - before; moved > 0 {
		k.Stores++
		k.StoredBlocks += moved
		k.PeakUsed = max(k.PeakUsed, int64(t.cfg.Tier.Used()))
	}
}

// moveDown puts those of the blocks b into the tier that it lacks, the last one first, as far as
// there is room. It returns the shallowest one that the tier has then, with all behind it.
func (t *threshold) moveDown(b kv.FreeBlocks, now vtime.Time) (from int32) {
	t.cache.OpenTier(&t.moving, b, 0)
	tier := t.cfg.Tier
	for from = b.To; from > b.From && !t.full(); {
		room := tier.Capacity() - tier.Used()
		first := b.From
		if int(from-first) > room {
			first = from - int32(room)
		}
		lo, hi := tier.StoreDeepest(&t.moving, first, from) // evicts nothing: there is room for all
		tier.Sent(&t.moving, lo, hi, now)
		t.counts.Stored += int64(hi - lo)
		from = lo
	}
	t.ranges = tier.Written(&t.moving, t.ranges[:0])
	return from
}

// lookUp returns the tokens that the tier has of the request in slot i, with known tokens, behind
// the first hit blocks, which the GPU's cache has. The last token is computed at all events.
func (t *threshold) lookUp(i int32, hit int, known int32) (tokens int32) {
	t.hit, t.found = int32(hit), 0
	if most := (known - 1) / t.blockSize; t.hit < most {
		t.found = t.cfg.Tier.Lookup(&t.slots[i], t.hit, most)
	}
	return t.found * t.blockSize
}

// moveBack lets the request in slot i have what lookUp found: it is admitted at now, and its
// blocks are keyed.
func (t *threshold) moveBack(i, known int32, now vtime.Time) {
	s, k := t.requests.at(i), t.counts
	if !s.Preempted {
		s.cachedCPU = t.found * t.blockSize
		k.CachedTokens += int64(s.cachedCPU)
		k.MissedTokens += int64(known - t.hit*t.blockSize)
	}
	if t.found == 0 {
		return
	}
	tier, q, end := t.cfg.Tier, &t.slots[i], t.hit+t.found
	bookThrashing(k, t.observer, s.ID, tier.BeginLoad(q, t.hit, end, now), now)
	tier.EndLoad(q, t.hit, end)
	tier.Remove(q, t.hit, end)
	t.back += int64(t.found)
	k.Loaded += int64(t.found)
	k.LoadedBlocks += int64(t.found)
}

// duration returns the length of a step over q, which is formed at now: with what it waits for
// blocks that move back.
func (t *threshold) duration(p *pace, q *latency.Batch, now vtime.Time) vtime.Duration {
	q.CPUBlocks = t.back
	d := p.duration(q, now)
	if t.back == 0 {
		return d
	}
	wait := t.cfg.delay(t.back, int64(t.blockSize))
	t.counts.Loads++
	t.counts.LoadMicros += int64(wait)
	return min(d, longestDelay) + wait
}

// integrate brings the integral up to now.
func (t *threshold) integrate(now vtime.Time) {
	used := int64(t.cfg.Tier.Used())
	t.counts.UsedMicros += int64(now.Sub(t.until)) * used
	for _, s := range t.series {
		s.Gauges[metrics.EntriesGauge].Hold(now, used)
	}
	t.until = now
}

// check verifies the books: what moved down and not back is in the tier, which evicts nothing.
func (t *threshold) check() error {
	tier, k := t.cfg.Tier, t.counts
	if left := k.Stored - k.Loaded - t.lost; left != int64(tier.Used()) || tier.Evicted() > 0 {
		return fmt.Errorf("%d blocks moved down and %d back, %d are in the tier, %d were evicted", k.Stored, k.Loaded, tier.Used(), tier.Evicted())
	}
	return tier.Check(nil, 0, 0)
}
