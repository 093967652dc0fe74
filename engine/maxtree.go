package engine

// maxTree is a binary tree of maxima over numbered entries: each node has the
// join of the two below it, so that the first entry that passes a test is found
// without a look at those that cannot. A changed entry costs a walk to the root.
type maxTree struct {
	nodes []highest // the root at 1, below k come 2k and 2k+1, entries in the second half
}

// room returns the number of entries.
func (t *maxTree) room() int { return len(t.nodes) / 2 }

// reset makes room for n entries or more, each of them without a request.
func (t *maxTree) reset(n int) {
	if t.room() < n {
		size := max(16, 2*t.room())
		for size < n {
			size *= 2
		}
		t.nodes = make([]highest, 2*size)
	}
	for k := range t.nodes {
		t.nodes[k] = noRequest
	}
}

// set changes entry i.
func (t *maxTree) set(i int, h highest) {
	k := t.room() + i
	t.nodes[k] = h
	for k /= 2; k > 0; k /= 2 {
		h = t.nodes[2*k].join(t.nodes[2*k+1])
		if t.nodes[k] == h {
			return
		}
		t.nodes[k] = h
	}
}

// all returns the join of all entries, of which there must be one.
func (t *maxTree) all() highest { return t.nodes[1] }

// next returns the first entry from the given one on that passes the test, -1 if none
// does. The test must pass the join of two values whenever it passes one of them.
func (t *maxTree) next(from int, test func(highest) bool) int {
	n := t.room()
	if from >= n {
		return -1
	}
	k := n + from
	for {
		switch {
		case !test(t.nodes[k]):
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
