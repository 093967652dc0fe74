package keytable

// Table maps uint64 keys to small non-negative numbers: open addressing with
// linear probing, at most five eighths full: gaps are closed at once, which costs as
// much as clusters are long. Unlike the built-in map it has
// no order to leak and stops allocating once it has reached its size, however
// many keys come and go.
type Table struct {
	cells []cell // length is a power of two
	used  int
	shift uint // 64 − log₂(len(cells))
}

// cell is a key with its value plus one; 0 marks a free cell.
type cell struct {
	key   uint64
	value int32
}

// home is the cell where a key would stand if nothing were in the way. Keys
// are hashes or packed pairs; the odd constant (2⁶⁴/golden ratio) spreads both.
func (t *Table) home(key uint64) int { return int(key * 0x9e3779b97f4a7c15 >> t.shift) }

// Find returns the value of key, or −1.
func (t *Table) Find(key uint64) int32 {
	if t.used == 0 {
		return -1
	}
	for i := t.home(key); ; i = (i + 1) & (len(t.cells) - 1) {
		if c := &t.cells[i]; c.value == 0 || c.key == key {
			return c.value - 1
		}
	}
}

// Insert adds a key that the table does not hold.
func (t *Table) Insert(key uint64, value int32) {
	if 8*(t.used+1) > 5*len(t.cells) {
		t.grow()
	}
	t.place(cell{key, value + 1})
	t.used++
}

// Len returns the number of keys.
func (t *Table) Len() int { return t.used }

func (t *Table) place(c cell) {
	i := t.home(c.key)
	for t.cells[i].value != 0 {
		i = (i + 1) & (len(t.cells) - 1)
	}
	t.cells[i] = c
}

func (t *Table) grow() {
	old := t.cells
	size := max(64, 2*len(old))
	t.cells, t.shift = make([]cell, size), 64
	for n := size; n > 1; n /= 2 {
		t.shift--
	}
	for _, c := range old {
		if c.value != 0 {
			t.place(c)
		}
	}
}

// Remove deletes a key that the table holds and closes the gap: each cell
// behind it whose home is not behind the gap moves up.
func (t *Table) Remove(key uint64) {
	mask := len(t.cells) - 1
	gap := t.home(key)
	for t.cells[gap].key != key || t.cells[gap].value == 0 {
		gap = (gap + 1) & mask
	}
	for i := (gap + 1) & mask; t.cells[i].value != 0; i = (i + 1) & mask {
		if (i-t.home(t.cells[i].key))&mask >= (i-gap)&mask {
			t.cells[gap], gap = t.cells[i], i
		}
	}
	t.cells[gap] = cell{}
	t.used--
}
