package lookahead

// minTree is an array of Keys under a tree of minima. An entry of a level is
// the minimum of fanOut entries of the level below; the top level has one
// entry. With a fan-out of 2 in place of 8:
//
//	levels[3]   [                 3                 ]    min
//	levels[2]   [       3        ][       5         ]
//	levels[1]   [   7   ][   3   ][   9   ][   5    ]
//	levels[0]   [ 7 ][ 8 ][ 3 ][ 4 ][ 9 ][ ∞ ][ 5 ][ 6 ]   the Keys, by slot
//
// A change of one Key costs the levels whose minimum it changes. Everything
// before a Key is found by going down where the minimum is earlier, without a
// look at the rest (fleet.selectLeaves).
type minTree struct {
	// Invariant, except between set and refresh: levels[l+1][i] is the minimum
	// of levels[l][i*fanOut : (i+1)*fanOut]. The last level has at most one
	// entry.
	levels [][]Key
}

// fanOut is the number of Keys under one entry: two cache lines of them.
const fanOut = 8

// key returns the Key at i.
func (m *minTree) key(i int) Key { return m.levels[0][i] }

// set changes the Key at i without its minima: refresh must follow. Goroutines
// may set different Keys at the same time.
func (m *minTree) set(i int, k Key) { m.levels[0][i] = k }

// add appends NeverKey.
func (m *minTree) add() {
	if m.levels == nil {
		m.levels = [][]Key{nil}
	}
	m.levels[0] = append(m.levels[0], NeverKey)
	for l := 0; len(m.levels[l]) > 1; l++ {
		if l+1 == len(m.levels) {
			m.levels = append(m.levels, nil)
		}
		if n := len(m.levels[l+1]); n*fanOut < len(m.levels[l]) {
			m.levels[l+1] = append(m.levels[l+1], m.minBelow(l+1, n))
		}
	}
}

// minBelow computes entry i of a level above 0 from the level below.
func (m *minTree) minBelow(level, i int) Key {
	below := m.levels[level-1]
	k := NeverKey
	for _, b := range below[i*fanOut : min((i+1)*fanOut, len(below))] {
		if b.At < k.At || b.At == k.At && b.Class < k.Class {
			k = b
		}
	}
	return k
}

// refresh updates the minima over i after set, of i and of Keys under the same
// entry of level 1.
func (m *minTree) refresh(i int) {
	for l := 1; l < len(m.levels); l++ {
		i /= fanOut
		k := m.minBelow(l, i)
		if m.levels[l][i] == k {
			return
		}
		m.levels[l][i] = k
	}
}

// refreshAll updates all minima after set.
func (m *minTree) refreshAll() {
	for l := 1; l < len(m.levels); l++ {
		for i := range m.levels[l] {
			m.levels[l][i] = m.minBelow(l, i)
		}
	}
}

// lower sets the Key at i to k if k is earlier, and updates the minima.
func (m *minTree) lower(i int, k Key) {
	for l := range m.levels {
		if !k.Less(m.levels[l][i]) {
			return
		}
		m.levels[l][i] = k
		i /= fanOut
	}
}

// min returns the earliest Key, NeverKey if there is none.
func (m *minTree) min() Key {
	if m.levels == nil {
		return NeverKey
	}
	return m.levels[len(m.levels)-1][0]
}

// indexOfMin returns the lowest index of the earliest Key.
func (m *minTree) indexOfMin() int {
	least, i := m.min(), 0
	for l := len(m.levels) - 2; l >= 0; l-- {
		for i *= fanOut; m.levels[l][i] != least; i++ {
		}
	}
	return i
}
