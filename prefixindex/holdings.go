package prefixindex

import (
	"slices"

	"blis/internal/keytable"
)

// holdings is what all places have in one medium: for each key the set of places.
type holdings struct {
	tokens, blocks int32 // of what a key is for: a block, or an entry of several

	slots keytable.Table // key → slot, for keys that a place has
	keys  []uint64       // by slot
	count []int32        // by slot: places in its set; 0: the slot is spare
	sets  bitsets        // by slot
	spare []int32        // slots to be used again

	chain []uint64 // keys of the prompt that was looked up
	known []int32  // slots of the first of them, as far as at was asked; −1: no place has that one
}

// at returns the set of the places that have block i of the prompt that was looked up,
// nil if none has. It is asked about one block after the other.
func (h *holdings) at(i int32) []uint64 {
	if h.blocks > 1 {
		i /= h.blocks
	}
	if int(i) >= len(h.chain) {
		return nil
	}
	if int(i) == len(h.known) {
		h.known = append(h.known, h.slots.Find(h.chain[i]))
	}
	if h.known[i] < 0 {
		return nil
	}
	return h.sets.at(h.known[i])
}

// store notes that a place has the block or entry of that key.
func (h *holdings) store(place int, key uint64) {
	slot := h.slots.Find(key)
	if slot < 0 {
		slot = h.newSlot(key)
	}
	if h.sets.add(slot, place) {
		h.count[slot]++
	}
}

// newSlot returns a slot, with an empty set, for a key that has none.
func (h *holdings) newSlot(key uint64) (slot int32) {
	if last := len(h.spare) - 1; last >= 0 {
		slot, h.spare = h.spare[last], h.spare[:last]
	} else {
		slot = int32(len(h.keys))
		h.keys, h.count = append(h.keys, 0), append(h.count, 0)
		h.sets.grow(slot)
	}
	h.keys[slot] = key
	h.slots.Insert(key, slot)
	return slot
}

// remove notes that a place no longer has the block or entry of that key.
func (h *holdings) remove(place int, key uint64) {
	if slot := h.slots.Find(key); slot >= 0 {
		h.removeFrom(slot, place)
	}
}

// removeFrom takes place out of the set of slot, and frees a slot that is left
// without places.
func (h *holdings) removeFrom(slot int32, place int) {
	if !h.sets.remove(slot, place) {
		return
	}
	if h.count[slot]--; h.count[slot] == 0 {
		h.slots.Remove(h.keys[slot])
		h.spare = append(h.spare, slot)
	}
}

// empty notes that a place has nothing any more.
func (h *holdings) empty(place int) {
	for slot := range h.keys {
		if h.count[slot] > 0 {
			h.removeFrom(int32(slot), place)
		}
	}
}

// of returns the keys that a place has, in ascending order.
func (h *holdings) of(place int) (keys []uint64) {
	for slot, key := range h.keys {
		if h.count[slot] > 0 && h.sets.at(int32(slot))[place/64]>>(place%64)&1 == 1 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
