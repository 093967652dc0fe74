package engine

// maxTree is a tournament of numbered entries: every node above two others
// holds what join makes of them, so that the first entry that passes a test is
// found without a look at those that cannot. One entry changes in logarithmic
// time.
type maxTree[T joined[T]] struct {
	nodes []T // the root at 1, below k come 2k and 2k+1, entries in the second half
}

// joined is what a maxTree holds. A test of it passes the join of two values
// whenever it passes one of them.
type joined[T any] interface {
	comparable
	join(T) T
}

// room is the number of entries.
func (b *maxTree[T]) room() int { return len(b.nodes) / 2 }

// reset makes room for n entries or more, all of them blank.
func (b *maxTree[T]) reset(n int, blank T) {
	size := max(16, 2*b.room())
	for size < n {
		size *= 2
	}
	if b.room() < n {
		b.nodes = make([]T, 2*size)
	}
	for k := range b.nodes {
		b.nodes[k] = blank
	}
}

// set changes entry i.
func (b *maxTree[T]) set(i int, v T) {
	k := b.room() + i
	b.nodes[k] = v
	for k /= 2; k > 0; k /= 2 {
		v = b.nodes[2*k].join(b.nodes[2*k+1])
		if b.nodes[k] == v {
			return
		}
		b.nodes[k] = v
	}
}

// all is the join of all entries, of which there must be one.
func (b *maxTree[T]) all() T { return b.nodes[1] }

// next is the first entry from the given one on that passes the test, -1 if
// none does.
func (b *maxTree[T]) next(from int, test func(T) bool) int {
	n := b.room()
	if from >= n {
		return -1
	}
	k := n + from
	for {
		switch {
		case !test(b.nodes[k]):
			for k%2 == 1 { // as far up as nothing lies to the right
				k /= 2
			}
			if k == 0 {
				return -1
			}
			k++
		case k >= n:
			return k - n
		default:
			k *= 2
		}
	}
}
