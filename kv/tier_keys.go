package kv

import (
	"math"
	"slices"
)

// Journal implements Tier.
func (t *ExtentTier) Journal(f func(key uint64, stored bool)) { t.journal = f }

// tell tells the journal that the entries from … to−1 of segment g can be read, or were
// evicted, the deepest first unless rising.
func (t *ExtentTier) tell(g segmentID, from, to int32, stored, rising bool) {
	if t.journal == nil || t.tree.segments.at(g).own {
		return
	}
	if t.keys.tree == nil {
		t.keys = newKeys(&t.tree.segmentTree, t.size)
	}
	keys := t.keys.of(g, from, to)
	if rising {
		for _, key := range keys {
			t.journal(key, stored)
		}
		return
	}
	for _, key := range slices.Backward(keys) {
		t.journal(key, stored)
	}
}

// Fold implements Tier.
func (t *ExtentTier) Fold() uint64 {
	d, keys := newFold(), newKeys(&t.tree.segmentTree, t.size)
	for _, q := range t.tree.order {
		for id := t.tree.queues.at(q).oldest; id != none; {
			v := t.tree.intervals.at(id)
			t.foldInterval(d, &keys, v)
			id = v.newer
		}
		if t.tree.eviction == ARC {
			d.add(math.MaxUint64, 1)
		}
	}
	if t.tree.eviction != ARC { // the second queue is empty
		d.add(math.MaxUint64, 1)
		d.add(math.MaxUint64, 1)
	}
	return d.sum()
}

func (t *ExtentTier) foldInterval(d *fold, keys *blockKeys, v *tierInterval) {
	if t.tree.segments.at(v.segment).own {
		d.add(0, uint64(v.to-v.from))
		return
	}
	list := keys.of(v.segment, v.from, v.to)
	for i := range list {
		if !v.rising {
			i = len(list) - 1 - i
		}
		d.add(list[i], uint64(v.readers+2))
	}
}
