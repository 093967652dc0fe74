package kv

import "testing"

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
		"failed admission", "failed growth", "step in a decode run", "free list packed", "table grown",
	} {
		t.Logf("seed %d: %8d × %s", seed, c[kind], kind)
		if c[kind] == 0 {
			t.Errorf("seed %d: no %s in any world", seed, kind)
		}
	}
}
