package lookahead

// minima is a row of keys with the least of every fanOut of them, the least of
// every fanOut of those, and so on to one: a change costs the levels that it
// changes, and what lies before a key is found without looking at the rest.
type minima struct {
	levels [][]Key // 0: the keys; the last has one entry at most
}

// fanOut is the number of keys under one: four cache lines of them.
const fanOut = 8

// key is the key at i.
func (m *minima) key(i int) Key { return m.levels[0][i] }

// put sets the key at i; refresh is to follow. Different keys may be put at
// the same time.
func (m *minima) put(i int, k Key) { m.levels[0][i] = k }

// grow appends a key that never comes.
func (m *minima) grow() {
	if m.levels == nil {
		m.levels = [][]Key{nil}
	}
	m.levels[0] = append(m.levels[0], NeverKey)
	for l := 0; len(m.levels[l]) > 1; l++ {
		if l+1 == len(m.levels) {
			m.levels = append(m.levels, nil)
		}
		if n := len(m.levels[l+1]); n*fanOut < len(m.levels[l]) {
			m.levels[l+1] = append(m.levels[l+1], m.under(l+1, n))
		}
	}
}

// under is the least key below entry i of a level above 0.
func (m *minima) under(level, i int) Key {
	below := m.levels[level-1]
	k := NeverKey
	for _, b := range below[i*fanOut : min((i+1)*fanOut, len(below))] {
		if b.At < k.At || b.At == k.At && b.Class < k.Class {
			k = b
		}
	}
	return k
}

// refresh brings the levels above up to date after put at i and beside it.
func (m *minima) refresh(i int) {
	for l := 1; l < len(m.levels); l++ {
		i /= fanOut
		k := m.under(l, i)
		if m.levels[l][i] == k {
			return
		}
		m.levels[l][i] = k
	}
}

// refreshEvery does so for all.
func (m *minima) refreshEvery() {
	for l := 1; l < len(m.levels); l++ {
		for i := range m.levels[l] {
			m.levels[l][i] = m.under(l, i)
		}
	}
}

// lower brings the key at i down to k, if that is earlier.
func (m *minima) lower(i int, k Key) {
	for l := range m.levels {
		if !k.Less(m.levels[l][i]) {
			return
		}
		m.levels[l][i] = k
		i /= fanOut
	}
}

// least is the earliest key, NeverKey if there is none.
func (m *minima) least() Key {
	if m.levels == nil {
		return NeverKey
	}
	return m.levels[len(m.levels)-1][0]
}

// first is the lowest index with the earliest key.
func (m *minima) first() int {
	least, i := m.least(), 0
	for l := len(m.levels) - 2; l >= 0; l-- {
		for i *= fanOut; m.levels[l][i] != least; i++ {
		}
	}
	return i
}
