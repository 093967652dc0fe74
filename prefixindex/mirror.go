package prefixindex

import (
	"math/bits"

	"blis/internal/keytable"
	"blis/workload"
)

// mirrorIndex follows events: instances say which blocks they store and remove,
// by key. It keeps for each block key the set of places that have the block. A
// place may have a block and not the one before it, so nothing is known of runs
// of blocks.
type mirrorIndex struct {
	blockSize int32

	slots   keytable.Table // block key → slot, for keys that a place has
	keys    []uint64       // by slot
	count   []int32        // by slot: places in its set; 0: the slot is spare
	holders bitsets        // by slot
	spare   []int32        // slots to be used again

	chain []uint64 // block keys of the prompt that look was asked about
	known []int32  // slots of the first of them, as far as a place has them
}

func (x *mirrorIndex) cover(places int) { x.holders.cover(places) }

// look finds the places that have blocks of a prompt.
func (x *mirrorIndex) look(input int32, spans []workload.Span, found *hits) {
	found.blocks, found.holders = input/x.blockSize, nil
	x.chain = workload.AppendKeys(x.chain[:0], spans, x.blockSize, int(found.blocks))
	x.known = x.known[:0]
	for _, key := range x.chain {
		slot := x.slots.Find(key)
		if slot < 0 {
			break
		}
		x.known = append(x.known, slot)
	}
	if len(x.known) > 0 {
		found.holders = x.holders.at(x.known[0])
		x.measure(found)
	}
}

// measure writes how far each holder of the first block goes.
func (x *mirrorIndex) measure(found *hits) {
	for w, left := range found.holders {
		for i := 1; left != 0; i++ {
			goOn := uint64(0)
			if i < len(x.known) {
				goOn = left & x.holders.at(x.known[i])[w]
			}
			for out := left &^ goOn; out != 0; out &= out - 1 {
				found.depth[64*w+bits.TrailingZeros64(out)] = int32(i)
			}
			left = goOn
		}
	}
}

// store notes that a place has the block of that key. A place that has it
// already changes nothing.
func (x *mirrorIndex) store(place int, key uint64) {
	slot := x.slots.Find(key)
	if slot < 0 {
		slot = x.newSlot(key)
	}
	if x.holders.add(slot, place) {
		x.count[slot]++
	}
}

// newSlot returns a slot, with an empty set, for a key that has none.
func (x *mirrorIndex) newSlot(key uint64) (slot int32) {
	if last := len(x.spare) - 1; last >= 0 {
		slot, x.spare = x.spare[last], x.spare[:last]
	} else {
		slot = int32(len(x.keys))
		x.keys, x.count = append(x.keys, 0), append(x.count, 0)
		x.holders.grow(slot)
	}
	x.keys[slot] = key
	x.slots.Insert(key, slot)
	return slot
}

// remove notes that a place no longer has the block of that key.
func (x *mirrorIndex) remove(place int, key uint64) {
	if slot := x.slots.Find(key); slot >= 0 {
		x.removeFrom(slot, place)
	}
}

// removeFrom takes place out of the set of slot, and frees a slot that is left
// without places.
func (x *mirrorIndex) removeFrom(slot int32, place int) {
	if !x.holders.remove(slot, place) {
		return
	}
	if x.count[slot]--; x.count[slot] == 0 {
		x.slots.Remove(x.keys[slot])
		x.spare = append(x.spare, slot)
	}
}

// empty notes that a place has nothing any more.
func (x *mirrorIndex) empty(place int) {
	for slot := range x.keys {
		if x.count[slot] > 0 {
			x.removeFrom(int32(slot), place)
		}
	}
}
