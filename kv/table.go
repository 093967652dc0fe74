package kv

// table maps the key of an extent to its segment. It is an open-addressing
// hash table with linear probing: keys are hashes or consecutive numbers, so
// their low bits place them. Removal shifts the slots behind it back, there are
// no tombstones. The zero value is empty.
type table struct {
	slots []tableSlot
	used  int
}

type tableSlot struct {
	key     uint64
	segment segmentID // none: empty
}

func (t *table) resize(n int) {
	old := t.slots
	t.slots = make([]tableSlot, n)
	for i := range t.slots {
		t.slots[i].segment = none
	}
	for _, s := range old {
		if s.segment != none {
			*t.place(s.key) = s
		}
	}
}

// place returns the slot of key, or the empty one where it belongs.
func (t *table) place(key uint64) *tableSlot {
	mask := uint64(len(t.slots) - 1)
	for i := key & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.segment == none || s.key == key {
			return s
		}
	}
}

// get returns the segment with key, or none.
func (t *table) get(key uint64) segmentID {
	if t.used == 0 {
		return none
	}
	return t.place(key).segment
}

// set makes g the segment with key.
func (t *table) set(key uint64, g segmentID) {
	if 2*(t.used+1) > len(t.slots) {
		t.resize(max(8, 2*len(t.slots)))
	}
	s := t.place(key)
	if s.segment == none {
		t.used++
	}
	*s = tableSlot{key, g}
}

// remove forgets key, which must be there.
func (t *table) remove(key uint64) {
	mask := uint64(len(t.slots) - 1)
	hole := key & mask
	for t.slots[hole].key != key || t.slots[hole].segment == none {
		hole = (hole + 1) & mask
	}
	t.used--
	for i := hole; ; {
		i = (i + 1) & mask
		s := t.slots[i]
		if s.segment == none {
			t.slots[hole].segment = none
			return
		}
		// s may move into the hole unless its home lies between hole and i.
		if home := s.key & mask; (i-home)&mask >= (i-hole)&mask {
			t.slots[hole] = s
			hole = i
		}
	}
}

// all returns the segments of the table.
func (t *table) all() (list []segmentID) {
	for _, s := range t.slots {
		if s.segment != none {
			list = append(list, s.segment)
		}
	}
	return list
}

// slab keeps the values of one kind, numbered by ID, in pages: pointers to
// them stay valid while it grows, and numbers given back are used again. T
// holds no pointers, so that the garbage collector passes the pages by.
type slab[ID ~int32, T any] struct {
	pages []*[slabPage]T
	n     int  // values ever in use; numbers 0 … n−1
	spare []ID // numbers given back
}

// slabPage is small: a cluster has a thousand caches of a few hundred runs.
const slabPage = 1 << 6

// none is no segment, no interval, no run.
const none = -1

func (t *slab[ID, T]) at(i ID) *T { return &t.pages[uint32(i)/slabPage][uint32(i)%slabPage] }

// add returns the number of a new value.
func (t *slab[ID, T]) add(v T) ID {
	var i ID
	if n := len(t.spare); n > 0 {
		i, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		if i = ID(t.n); t.n == len(t.pages)*slabPage {
			t.pages = append(t.pages, new([slabPage]T))
		}
		t.n++
	}
	*t.at(i) = v
	return i
}

// drop gives number i back.
func (t *slab[ID, T]) drop(i ID) { t.spare = append(t.spare, i) }

// inUse returns the number of values.
func (t *slab[ID, T]) inUse() int { return t.n - len(t.spare) }
