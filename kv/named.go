package kv

import "slices"

// What a listener to the journal of a twin has been told.

// Named returns the keys of the blocks of named content that can be hit, in ascending
// order.
func (c *NaivePool) Named() (keys []uint64) {
	for key, copies := range c.holders { // any order: they are sorted
		if c.blocks[copies[0]].named {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Named returns the keys of the entries of named content that can be read, in ascending
// order.
func (t *NaiveTier) Named() (keys []uint64) {
	for key, e := range t.entries { // any order: they are sorted
		if e.named && e.readers >= 0 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
