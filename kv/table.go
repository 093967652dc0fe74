package kv

// table maps the key of a named block to the copy of it that was keyed
// first. It is an open-addressing hash table with linear probing: keys are
// hashes already, so their low bits place them. Removal shifts the entries
// behind it back, there are no tombstones.
type table struct {
	slots []tableSlot
	used  int
}

type tableSlot struct {
	key   uint64
	block BlockID // noBlock: empty
}

const noBlock BlockID = -1

func newTable() table {
	t := table{}
	t.resize(64)
	return t
}

func (t *table) resize(n int) {
	old := t.slots
	t.slots = make([]tableSlot, n)
	for i := range t.slots {
		t.slots[i].block = noBlock
	}
	for _, s := range old {
		if s.block != noBlock {
			*t.place(s.key) = s
		}
	}
}

// place is the slot of key, or the empty one where it belongs.
func (t *table) place(key uint64) *tableSlot {
	mask := uint64(len(t.slots) - 1)
	for i := key & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.block == noBlock || s.key == key {
			return s
		}
	}
}

// get returns the first copy with key, or noBlock.
func (t *table) get(key uint64) BlockID { return t.place(key).block }

// set makes b the first copy with key.
func (t *table) set(key uint64, b BlockID) {
	s := t.place(key)
	if s.block == noBlock {
		if t.used++; t.used*2 > len(t.slots) {
			t.resize(2 * len(t.slots))
			s = t.place(key)
		}
	}
	*s = tableSlot{key, b}
}

// remove forgets key, which must be there.
func (t *table) remove(key uint64) {
	mask := uint64(len(t.slots) - 1)
	hole := key & mask
	for t.slots[hole].key != key || t.slots[hole].block == noBlock {
		hole = (hole + 1) & mask
	}
	t.used--
	for i := hole; ; {
		i = (i + 1) & mask
		s := t.slots[i]
		if s.block == noBlock {
			t.slots[hole].block = noBlock
			return
		}
		// s may move into the hole unless its home lies between hole and i.
		if home := s.key & mask; (i-home)&mask >= (i-hole)&mask {
			t.slots[hole] = s
			hole = i
		}
	}
}
