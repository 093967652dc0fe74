package kv

// freeList is the queue of free blocks: taken from the head, released to the
// tail. An entry is one named block that can still be hit, or a number of
// anonymous blocks that nobody can find any more. Neighbouring anonymous
// entries merge, so with unique prompts the whole list is one entry. Named
// entries that are hit leave from the middle: their place stays behind, empty,
// until the head passes it or the list is packed.
type freeList struct {
	entries []freeEntry // ring, length a power of two
	head    uint64      // position of the first entry; index = position & mask
	tail    uint64      // position after the last one
	blocks  int         // free blocks in all
}

type freeEntry struct {
	block BlockID // noBlock: anonymous
	n     int32   // blocks; 0: the named block has left
}

func newFreeList(blocks int) freeList {
	f := freeList{entries: make([]freeEntry, 64)}
	f.pushAnonymous(int32(blocks))
	return f
}

func (f *freeList) at(pos uint64) *freeEntry { return &f.entries[pos&uint64(len(f.entries)-1)] }

// pushAnonymous appends n blocks that cannot be hit.
func (f *freeList) pushAnonymous(n int32) {
	if n == 0 {
		return
	}
	f.blocks += int(n)
	if f.tail > f.head {
		if last := f.at(f.tail - 1); last.block == noBlock {
			last.n += n
			return
		}
	}
	*f.at(f.tail) = freeEntry{noBlock, n}
	f.tail++
}

// pushNamed appends the block b and returns its position.
func (f *freeList) pushNamed(b BlockID) uint64 {
	f.blocks++
	*f.at(f.tail) = freeEntry{b, 1}
	f.tail++
	return f.tail - 1
}

// leave removes the named entry at pos, wherever it stands.
func (f *freeList) leave(pos uint64) {
	f.blocks--
	f.at(pos).n = 0
}

// reserve makes room for one push. named holds the positions of the named
// blocks.
func (f *freeList) reserve(named *entries) {
	if f.tail-f.head < uint64(len(f.entries)) {
		return
	}
	f.pack(named)
	if 2*(f.tail-f.head) <= uint64(len(f.entries)) {
		return
	}
	old := *f
	f.entries = make([]freeEntry, 2*len(old.entries))
	for pos := f.head; pos < f.tail; pos++ {
		*f.at(pos) = *old.at(pos)
	}
}

// pack closes the gaps that hit blocks left.
func (f *freeList) pack(named *entries) {
	to := f.head
	for pos := f.head; pos < f.tail; pos++ {
		e := *f.at(pos)
		switch {
		case e.n == 0:
			continue
		case e.block != noBlock:
			named.at(e.block).pos = to
		case to > f.head && f.at(to-1).block == noBlock:
			f.at(to - 1).n += e.n
			continue
		}
		*f.at(to) = e
		to++
	}
	f.tail = to
}
