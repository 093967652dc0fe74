package kv

import (
	"slices"
	"testing"
)

// coverage counts how often a random test saw each kind of event.
type coverage map[string]int

func (c coverage) count(kind string, seen bool) {
	if seen {
		c[kind]++
	}
}

// require logs the counts of the twin test and fails when a kind is missing:
// the worlds would then no longer test it.
func (c coverage) require(t *testing.T, seed uint64) {
	for _, kind := range []string{
		"eviction", "eviction in a decode run", "eviction of the first of several copies", "eviction of a later copy",
		"hit on the free list", "hit on blocks in use", "hit past an unaligned span", "hit on generated content",
		"hit on one of several copies", "duplicate key", "block keyed after its allocation",
		"own content hit whole", "own content hit in part", "own content evicted",
		"failed admission", "failed growth", "step in a decode run", "journal",
		"pin of part of a run", "pin of named content", "pin of own content", "pin of one of several copies", "pin of a run in several parts", "unpin of blocks in use", "unpin of free blocks",
		"key taken from one of several copies", "key taken from named content", "all keys of the free list taken", "key taken from part of a run", "one anonymous run left",
		"hit on pinned blocks", "gap before cached blocks", "gap filled", "gap filled in part",
		"run split while held", "copies of several blocks", "copies on both sides of a split", "segment without blocks", "extent with two ends",
	} {
		t.Logf("seed %d: %8d × %s", seed, c[kind], kind)
		if c[kind] == 0 {
			t.Errorf("seed %d: no %s in any world", seed, kind)
		}
	}
}

// coverHit counts what kind of hit an admission was.
func (w *world) coverHit(r *twinRequest, hit Hit) {
	cached := int32(hit.Blocks) * w.size
	w.seen.count("hit on the free list", hit.OnFree > 0)
	w.seen.count("hit on blocks in use", hit.Blocks > hit.OnFree)
	w.seen.count("hit past an unaligned span", r.first%w.size != 0 && cached > r.first)
	for i := range hit.Blocks {
		w.seen.count("hit on generated content", w.output[r.slow.naive.keys[i]] && r.keyed == 0)
		w.seen.count("hit on one of several copies", len(w.slow.holders[r.slow.naive.keys[i]]) > 1)
	}
	if most := min(r.keyed, (r.known-1)/w.size); most*w.size > r.named && r.slow.content.output == 0 {
		w.seen.count("own content hit whole", int32(hit.Blocks) == most)
		w.seen.count("own content hit in part", cached > r.named && int32(hit.Blocks) < most)
		w.seen.count("own content evicted", cached <= r.named)
	}
}

// coverEvictions looks at the blocks that the twin is about to take: need less
// the blocks that r hits on the free list.
func (w *world) coverEvictions(r *twinRequest, need int, where string) {
	hits := r.slow.naive.blocks[:r.slow.hits]
	for _, b := range hits {
		if w.slow.blocks[b].refs == 0 {
			need--
		}
	}
	for _, b := range w.slow.free {
		if slices.Contains(hits, b) {
			continue
		}
		if need--; need < 0 {
			return
		}
		if x := w.slow.blocks[b]; x.keyed {
			copies := w.slow.holders[x.key]
			w.seen.count("eviction"+where, true)
			w.seen.count("eviction of the first of several copies", len(copies) > 1 && copies[0] == b)
			w.seen.count("eviction of a later copy", len(copies) > 1 && copies[0] != b)
		}
	}
}

// coverKeys looks at the blocks of r keyed since there were before of them.
func (w *world) coverKeys(r *twinRequest, before int32) {
	c := &r.slow.content
	for i := before; i < r.slow.keyed; i++ {
		w.seen.count("duplicate key", len(w.slow.holders[r.slow.naive.keys[i]]) > 1)
		if c.output != 0 && (i+1)*w.size > c.input {
			w.output[r.slow.naive.keys[i]] = true
		}
	}
}

// coverRuns looks at how the pool keeps what is cached.
func (w *world) coverRuns() {
	p, parents := w.fast, map[segmentID][]int32{}
	for _, g := range allSegments(&p.segmentTree) {
		s := p.segments.at(g)
		w.seen.count("segment without blocks", s.first == none)
		if s.parent != none {
			parents[s.parent] = append(parents[s.parent], s.start)
		}
		for id := s.first; id != none; id = p.intervals.at(id).next {
			v := p.intervals.at(id)
			several := v.oldest != v.newest
			w.seen.count("copies of several blocks", several && v.to-v.from > 1)
			w.seen.count("copies on both sides of a split", several && v.next != none && p.runs.at(p.intervals.at(v.next).newest).shallower == v.newest)
		}
	}
	for _, starts := range parents { // any order
		w.seen.count("extent with two ends", slices.Max(starts) > slices.Min(starts))
	}
}
