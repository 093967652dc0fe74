package kv

import "slices"

// twinPin is the same blocks pinned in both caches, in as many parts as each has them in.
type twinPin struct{ fast, slow []PinID }

// pin pins some of the oldest blocks on the free list, or gives back what was pinned, or takes
// keys.
func (w *world) pin() {
	if w.pick(5) == 0 {
		w.unkey()
		return
	}
	if len(w.pins) > 0 && w.pick(2) == 0 {
		w.unpin(w.pick(len(w.pins)))
		return
	}
	n := w.pick(w.slow.Free() + 2)
	fast, slow := w.fast.Oldest(nil, n), w.slow.Oldest(nil, n)
	keys, want := w.keysOfFree(w.fast, fast), w.keysOfFree(w.slow, slow)
	if !slices.Equal(keys, want) {
		w.fatal("oldest %d blocks: pool %x, twin %x", n, keys, want)
	}
	var real []uint64
	for _, b := range w.slow.free[:min(n, w.slow.Free())] {
		if x := w.slow.blocks[b]; x.keyed {
			real = append(real, x.key)
		}
	}
	if !slices.Equal(want, real) {
		w.fatal("oldest %d blocks: twin %x, free list %x", n, want, real)
	}
	chosen := make([]bool, len(keys))
	for i := range chosen {
		if chosen[i] = w.pick(4) > 0; i > 0 && w.pick(3) > 0 {
			chosen[i] = chosen[i-1]
		}
	}
	w.coverPin(slow, chosen)
	runs := w.fast.runs.inUse()
	w.pins = append(w.pins, twinPin{pinChosen(w.fast, fast, chosen), pinChosen(w.slow, slow, chosen)})
	w.seen.count("pin of part of a run", w.fast.runs.inUse() > runs)
}

// unkey takes the keys of the oldest blocks on the free list, of a few or of all.
func (w *world) unkey() {
	fast, slow := w.fast.Oldest(nil, w.fast.Free()), w.slow.Oldest(nil, w.slow.Free())
	keys := w.keysOfFree(w.slow, slow)
	if len(keys) == 0 {
		return
	}
	n := len(keys)
	if w.pick(3) > 0 {
		n = w.pick(n + 1)
	}
	left := keys[n:]
	for _, b := range w.slow.free {
		x := w.slow.blocks[b]
		w.seen.count("key taken from one of several copies", x.keyed && n > 0 && len(w.slow.holders[x.key]) > 1)
	}
	w.seen.count("key taken from named content", slices.ContainsFunc(keys[:n], func(k uint64) bool { return w.slow.blocks[w.slow.holders[k][0]].named }))
	w.seen.count("all keys of the free list taken", n == len(keys))
	before := w.fast.Free()
	intervals := w.fast.intervals.inUse()
	unkeyOldest(w.fast, fast, n)
	w.seen.count("key taken from part of a run", w.fast.intervals.inUse() > intervals)
	unkeyOldest(w.slow, slow, n)
	if w.fast.Free() != before || !slices.Equal(left, w.keysOfFree(w.fast, w.fast.Oldest(nil, before))) {
		w.fatal("%d of %d keys taken: %d free blocks, %d before; the others changed", n, len(keys), w.fast.Free(), before)
	}
	w.seen.count("one anonymous run left", w.fast.free.head != none && w.fast.free.head == w.fast.free.tail && n == len(keys))
}

// unkeyOldest takes the keys of the first n blocks of a list.
func unkeyOldest(c Cache, list []FreeBlocks, n int) {
	for _, b := range list {
		from := max(b.From, b.To-int32(n))
		if from < b.To {
			c.Unkey(b, from)
		}
		n -= int(b.To - from)
	}
}

// pinChosen pins those blocks of a list that are chosen, the oldest first.
func pinChosen(c Cache, list []FreeBlocks, chosen []bool) (pins []PinID) {
	for _, b := range list {
		of := chosen[:b.To-b.From]
		chosen = chosen[b.To-b.From:]
		for to := b.To; to > b.From; {
			from := to
			for from > b.From && of[b.To-from] {
				from--
			}
			if from < to {
				pins = append(pins, c.Pin(b, from, to))
			}
			to = min(from, to-1)
		}
	}
	return pins
}

func (w *world) unpin(i int) {
	x := w.pins[i]
	w.pins = slices.Delete(w.pins, i, i+1)
	for _, id := range x.slow {
		for _, b := range w.slow.pinned[id] {
			w.seen.count("unpin of blocks in use", w.slow.blocks[b].refs > 1)
			w.seen.count("unpin of free blocks", w.slow.blocks[b].refs == 1)
		}
		w.slow.Unpin(id)
	}
	for _, id := range x.fast {
		p := w.fast.pins.at(id)
		w.seen.count("pin of a run in several parts", w.fast.intervals.at(w.fast.runs.at(p.run).interval).from > p.from)
		w.fast.Unpin(id)
	}
}

// keysOfFree is the keys of listed blocks, as a tier has them that OpenTier opens.
func (w *world) keysOfFree(c Cache, list []FreeBlocks) (keys []uint64) {
	for _, b := range list {
		var s TierSequence
		c.OpenTier(&s, b, 0)
		for i := b.To - 1; i >= b.From; i-- {
			keys = append(keys, naiveTier(&s).key(&s.content, i))
		}
	}
	return keys
}

// coverPin looks at the chosen ones of listed blocks of the twin.
func (w *world) coverPin(list []FreeBlocks, chosen []bool) {
	for _, b := range list {
		for _, id := range b.blocks {
			x := w.slow.blocks[id]
			w.seen.count("pin of named content", chosen[0] && x.named)
			w.seen.count("pin of own content", chosen[0] && !x.named)
			w.seen.count("pin of one of several copies", chosen[0] && len(w.slow.holders[x.key]) > 1)
			chosen = chosen[1:]
		}
	}
}

// coverPinned looks at the blocks that r is about to hit.
func (w *world) coverPinned(r *twinRequest) {
	pinned := slices.Concat(w.slow.pinned...)
	n := naive(&r.slow)
	for _, b := range n.blocks[:r.slow.hits] {
		w.seen.count("hit on pinned blocks", slices.Contains(pinned, b))
	}
	gap := false
	for i := r.slow.hits; w.caching && i < r.known/w.size; i++ {
		there := len(w.slow.holders[n.key(&r.slow.content, i)]) > 0
		w.seen.count("gap before cached blocks", gap && there)
		gap = gap || !there
	}
}

// coverGap looks at the blocks of r keyed since there were before of them: some of those behind
// are there.
func (w *world) coverGap(r *twinRequest, before int32) {
	n := naive(&r.slow)
	keyed := r.slow.keyed
	if keyed == before || len(w.slow.holders[n.keys[keyed-1]]) != 1 {
		return
	}
	for i := keyed; i < keyed+20; i++ {
		if there := len(w.slow.holders[n.key(&r.slow.content, i)]) > 0; there {
			w.seen.count("gap filled", i == keyed)
			w.seen.count("gap filled in part", i > keyed)
			return
		}
	}
}
