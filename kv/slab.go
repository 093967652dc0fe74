package kv

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

// inUse is the number of values.
func (t *slab[ID, T]) inUse() int { return t.n - len(t.spare) }
