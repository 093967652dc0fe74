package kv

import "slices"

// place is a block as both caches know it: content, and which of the copies of
// it, in the order in which they were keyed. The zero value is a block that no
// lookup can find.
type place struct {
	key  uint64
	copy int
}

// placeOf is the place of block b of the twin.
func (w *world) placeOf(b BlockID) place {
	x := &w.slow.blocks[b]
	if !x.keyed {
		return place{}
	}
	return place{x.key, slices.Index(w.slow.holders[x.key], b)}
}

// runOf is the places of the blocks of a run of the pool that lies in a segment,
// the shallowest first.
func (w *world) runOf(id runID) (list []place) {
	p, n := w.fast, 0
	r := p.runs.at(id)
	for older := r.older; older != none; older = p.runs.at(older).older {
		n++
	}
	v := p.intervals.at(r.interval)
	s := p.segments.at(v.segment)
	if s.own {
		for i := v.from; i < v.to; i++ {
			list = append(list, place{key(w.opened[s.key], i), n})
		}
		return list
	}
	keys := newKeys(&p.segmentTree, p.size)
	for _, key := range keys.of(v.segment, v.from, v.to) {
		list = append(list, place{key, n})
	}
	return list
}

// compareFreeLists compares the free lists block by block.
func (w *world) compareFreeLists() {
	var fast []place
	for id := w.fast.free.head; id != none; id = w.fast.runs.at(id).next {
		if r := w.fast.runs.at(id); r.interval == none {
			fast = append(fast, make([]place, r.anonymous)...)
			continue
		}
		blocks := w.runOf(id)
		slices.Reverse(blocks)
		fast = append(fast, blocks...)
	}
	if len(fast) != len(w.slow.free) {
		w.fatal("%d blocks on the free list, twin %d", len(fast), len(w.slow.free))
	}
	for i, b := range w.slow.free {
		want := w.placeOf(b)
		if fast[i] == (place{}) && !w.slow.blocks[b].named {
			continue // own content of a request that will not come back
		}
		if fast[i] != want {
			w.fatal("block %d of the free list: pool %x, twin %x", i, fast[i], want)
		}
	}
}

// compareHeld compares which copies r holds.
func (w *world) compareHeld(r *twinRequest) {
	var held []place
	for i := len(r.fast.runs) - 1; i >= 0 && r.fast.filed > 0; i-- {
		end := int32(0)
		if i > 0 {
			end = w.fast.intervals.at(w.fast.runs.at(r.fast.runs[i-1]).interval).to
		}
		for id := r.fast.runs[i]; ; id = w.fast.runs.at(id).shallower {
			held = append(w.runOf(id), held...)
			if w.fast.intervals.at(w.fast.runs.at(id).interval).from == end {
				w.seen.count("run split while held", id != r.fast.runs[i])
				break
			}
		}
	}
	for i, got := range held {
		if want := w.placeOf(r.slow.naive.blocks[i]); got != want {
			w.fatal("block %d of a request: pool %x, twin %x", i, got, want)
		}
	}
	if int32(len(held)) != r.fast.filed {
		w.fatal("%d blocks held by runs, %d counted", len(held), r.fast.filed)
	}
}
