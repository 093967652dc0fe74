package policy

import (
	"math/bits"
	"slices"
)

// tournament is a binary tree over players, each with a strength; a node holds
// the greatest strength below it. So the best is known at any time, and a
// change costs the way up to the first node that does not care.
//
// When all strengths are written at once, one look at each finds the best. The
// tree is played only when a single change comes after that: with few players
// the next may well be all of them again.
//
// Strengths are whole numbers, so that the greater is found without a branch
// to guess; 0 is that of a player who is out.
type tournament struct {
	leaves int      // a power of two, at least the number of players
	top    []uint64 // by node: 1 is the root, 2p and 2p+1 are below p, player i is leaves+i
	equal  []int32  // by node: how many players below it are that strong; nil when nobody asks
	played bool     // if not, only the root and the players are right
}

// anyCount is more than the sum of three counts of 32 bits.
const anyCount = 1 << 40

// lightness is the strength of a count where the least wins.
func lightness(x int64) uint64 { return uint64(anyCount - x) }

// countOf is the count that has this lightness.
func countOf(lightness uint64) int64 { return anyCount - int64(lightness) }

// heaviness is the strength of a count where the greatest wins.
func heaviness(x int64) uint64 { return uint64(anyCount + x) }

// reset makes a tournament of n players, all of them out. The caller gives
// strengths to players and calls survey.
func (t *tournament) reset(n int, count bool) {
	leaves := 1 << bits.Len(uint(max(n, 1)-1))
	if leaves != t.leaves {
		t.leaves, t.top, t.equal = leaves, make([]uint64, 2*leaves), nil
		if count {
			t.equal = make([]int32, 2*leaves)
			for i := range leaves {
				t.equal[leaves+i] = 1
			}
		}
	}
	clear(t.players())
}

// players are the strengths, by player. After writing them, survey.
func (t *tournament) players() []uint64 { return t.top[t.leaves:] }

// survey finds the best of all players.
func (t *tournament) survey() {
	t.played = false
	top := uint64(0)
	for _, strength := range t.players() {
		top = max(top, strength)
	}
	t.top[1] = top
	if t.equal == nil {
		return
	}
	equal := int32(0)
	for _, strength := range t.players() {
		if strength == top {
			equal++
		}
	}
	t.equal[1] = equal
}

// play fills the whole tree.
func (t *tournament) play() {
	t.played = true
	top := t.top
	for p := t.leaves - 1; p >= 1; p-- {
		top[p] = max(top[2*p], top[2*p+1])
	}
	if t.equal != nil {
		for p := t.leaves - 1; p >= 1; p-- {
			t.equal[p] = t.count(p)
		}
	}
}

// count is equal of an inner node from the two below it.
func (t *tournament) count(p int) int32 {
	n := int32(0)
	if t.top[2*p] == t.top[p] {
		n = t.equal[2*p]
	}
	if t.top[2*p+1] == t.top[p] {
		n += t.equal[2*p+1]
	}
	return n
}

// set gives player i a strength.
func (t *tournament) set(i int, strength uint64) {
	if !t.played {
		t.play()
	}
	p := t.leaves + i
	t.top[p] = strength
	if t.equal != nil {
		t.recount(p)
		return
	}
	for p > 1 {
		strength = max(strength, t.top[p^1])
		p /= 2
		if t.top[p] == strength {
			return
		}
		t.top[p] = strength
	}
}

// recount is the way up from p of a tournament that counts.
func (t *tournament) recount(p int) {
	for p /= 2; p >= 1; p /= 2 {
		top, equal := t.top[p], t.equal[p]
		t.top[p] = max(t.top[2*p], t.top[2*p+1])
		t.equal[p] = t.count(p)
		if t.top[p] == top && t.equal[p] == equal {
			return
		}
	}
}

// best is the greatest strength, 0 when all are out.
func (t *tournament) best() uint64 { return t.top[1] }

// first is the lowest player among the best.
func (t *tournament) first() int {
	if !t.played {
		return slices.Index(t.players(), t.top[1])
	}
	top, p := t.top[1], 1
	for p < t.leaves {
		p *= 2
		if t.top[p] != top {
			p++
		}
	}
	return p - t.leaves
}

// nth is the player among the best, in order, that has skip of them before it.
func (t *tournament) nth(skip int) int {
	if !t.played {
		return t.search(skip)
	}
	top, p := t.top[1], 1
	for p < t.leaves {
		p *= 2
		if t.top[p] != top {
			p++
		} else if n := int(t.equal[p]); skip >= n {
			skip -= n
			p++
		}
	}
	return p - t.leaves
}

// search is nth without the tree.
func (t *tournament) search(skip int) int {
	i := 0
	for _, strength := range t.players() {
		if strength == t.top[1] {
			if skip == 0 {
				break
			}
			skip--
		}
		i++
	}
	return i
}
