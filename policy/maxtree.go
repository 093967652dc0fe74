package policy

import (
	"math/bits"
	"slices"
)

// maxTree finds the leaf with the largest key, and how many leaves have it. It is
// a binary tree in an array; a node holds the largest key below it:
//
//	top[1]                      7
//	top[2], top[3]        7           4
//	top[4] … top[7]    3     7     4     0     leaves 0, 1, 2, 3
//
// So the best is known at any time. A change costs the way up to the first node
// that stays as it was.
//
// When all keys are written at once, one look at each leaf finds the best: the
// inner nodes are built when a single change comes after that. With few leaves
// the next write may well be of all of them again.
//
// Keys are whole numbers, so that max needs no branch, which the CPU would have
// to guess. Key 0 means that the leaf is out. See ascending, descending and
// scoreKey for keys of counts and scores.
type maxTree struct {
	width int      // a power of two, at least the number of leaves
	top   []uint64 // by node: 1 is the root, 2p and 2p+1 are below p, width+i is leaf i
	equal []int32  // by node: leaves below it whose key is top; nil: not counted
	built bool     // false: only the root and the leaves are right
}

// anyCount is more than the sum of three counts of 32 bits.
const anyCount = 1 << 40

// ascending returns the key of count x when the smallest count is the best.
func ascending(x int64) uint64 { return uint64(anyCount - x) }

// countOf returns the count whose ascending key is key.
func countOf(key uint64) int64 { return anyCount - int64(key) }

// descending returns the key of count x when the largest count is the best.
func descending(x int64) uint64 { return uint64(anyCount + x) }

// reset makes a tree of n leaves, all of them out. The caller writes the leaves
// and calls rebuild. With count, the tree counts how many leaves are the best.
func (t *maxTree) reset(n int, count bool) {
	width := 1 << bits.Len(uint(max(n, 1)-1))
	if width != t.width {
		t.width, t.top, t.equal = width, make([]uint64, 2*width), nil
		if count {
			t.equal = make([]int32, 2*width)
			for i := range width {
				t.equal[width+i] = 1
			}
		}
	}
	clear(t.leaves())
}

// leaves returns the keys of the leaves. A caller that writes them calls rebuild.
func (t *maxTree) leaves() []uint64 { return t.top[t.width:] }

// rebuild finds the best of all leaves.
func (t *maxTree) rebuild() {
	t.built = false
	top := uint64(0)
	for _, key := range t.leaves() {
		top = max(top, key)
	}
	t.top[1] = top
	if t.equal == nil {
		return
	}
	equal := int32(0)
	for _, key := range t.leaves() {
		if key == top {
			equal++
		}
	}
	t.equal[1] = equal
}

// build fills in the inner nodes.
func (t *maxTree) build() {
	t.built = true
	top := t.top
	for p := t.width - 1; p >= 1; p-- {
		top[p] = max(top[2*p], top[2*p+1])
	}
	if t.equal != nil {
		for p := t.width - 1; p >= 1; p-- {
			t.equal[p] = t.count(p)
		}
	}
}

// count returns equal[p] of an inner node from the two nodes below it.
func (t *maxTree) count(p int) int32 {
	n := int32(0)
	if t.top[2*p] == t.top[p] {
		n = t.equal[2*p]
	}
	if t.top[2*p+1] == t.top[p] {
		n += t.equal[2*p+1]
	}
	return n
}

// set gives leaf i a key.
func (t *maxTree) set(i int, key uint64) {
	if !t.built {
		t.build()
	}
	p := t.width + i
	t.top[p] = key
	if t.equal != nil {
		t.recount(p)
		return
	}
	for p > 1 {
		key = max(key, t.top[p^1])
		p /= 2
		if t.top[p] == key {
			return
		}
		t.top[p] = key
	}
}

// recount goes the way up from p in a tree that counts.
func (t *maxTree) recount(p int) {
	for p /= 2; p >= 1; p /= 2 {
		top, equal := t.top[p], t.equal[p]
		t.top[p] = max(t.top[2*p], t.top[2*p+1])
		t.equal[p] = t.count(p)
		if t.top[p] == top && t.equal[p] == equal {
			return
		}
	}
}

// best returns the largest key, 0 when all leaves are out.
func (t *maxTree) best() uint64 { return t.top[1] }

// first returns the lowest leaf among the best.
func (t *maxTree) first() int {
	if !t.built {
		return slices.Index(t.leaves(), t.top[1])
	}
	top, p := t.top[1], 1
	for p < t.width {
		p *= 2
		if t.top[p] != top {
			p++
		}
	}
	return p - t.width
}

// nth returns the leaf among the best that has skip of them before it.
func (t *maxTree) nth(skip int) int {
	if !t.built {
		return t.search(skip)
	}
	top, p := t.top[1], 1
	for p < t.width {
		p *= 2
		if t.top[p] != top {
			p++
		} else if n := int(t.equal[p]); skip >= n {
			skip -= n
			p++
		}
	}
	return p - t.width
}

// search does what nth does, without the inner nodes.
func (t *maxTree) search(skip int) int {
	i := 0
	for _, key := range t.leaves() {
		if key == t.top[1] {
			if skip == 0 {
				break
			}
			skip--
		}
		i++
	}
	return i
}
