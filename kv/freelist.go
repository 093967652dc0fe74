package kv

// freeList is the queue of free blocks, a list of runs: taken from the head,
// released to the tail. The blocks of a named run lie in it with the deepest
// nearest the head. Neighbouring anonymous runs are one, so with unique prompts
// the whole list is one run. A run that is hit leaves from the middle.
type freeList struct {
	runs       *slab[runID, run]
	head, tail runID
	blocks     int // free blocks in all
}

func newFreeList(runs *slab[runID, run], blocks int) freeList {
	f := freeList{runs: runs, head: none, tail: none}
	f.pushAnonymous(int32(blocks))
	return f
}

// pushAnonymous appends n blocks that cannot be hit.
func (f *freeList) pushAnonymous(n int32) {
	if n == 0 {
		return
	}
	f.blocks += int(n)
	if f.tail != none {
		if last := f.runs.at(f.tail); last.interval == none {
			last.anonymous += n
			return
		}
	}
	f.insert(f.tail, f.runs.add(run{interval: none, anonymous: n}))
}

// insertAnonymous puts n blocks that cannot be hit behind the run before, none for the head.
func (f *freeList) insertAnonymous(before runID, n int32) {
	f.blocks += int(n)
	next := f.head
	if before != none {
		b := f.runs.at(before)
		if next = b.next; b.interval == none {
			b.anonymous += n
			return
		}
	}
	if next != none && f.runs.at(next).interval == none {
		f.runs.at(next).anonymous += n
		return
	}
	f.insert(before, f.runs.add(run{interval: none, anonymous: n}))
}

// push appends the run r of n blocks.
func (f *freeList) push(r runID, n int32) {
	f.blocks += int(n)
	f.insert(f.tail, r)
}

// insert puts r behind the run before, none for the head. It counts no blocks.
func (f *freeList) insert(before, r runID) {
	e := f.runs.at(r)
	if e.prev = before; before == none {
		e.next, f.head = f.head, r
	} else {
		b := f.runs.at(before)
		e.next, b.next = b.next, r
	}
	if e.next == none {
		f.tail = r
	} else {
		f.runs.at(e.next).prev = r
	}
}

// leave removes the run r of n blocks, wherever it stands.
func (f *freeList) leave(r runID, n int32) {
	f.blocks -= int(n)
	prev, next := f.unlink(r)
	if prev == none || next == none {
		return
	}
	if a, b := f.runs.at(prev), f.runs.at(next); a.interval == none && b.interval == none {
		a.anonymous += b.anonymous
		f.unlink(next)
		f.runs.drop(next)
	}
}

// unlink removes r and returns its neighbours. It counts no blocks.
func (f *freeList) unlink(r runID) (prev, next runID) {
	e := f.runs.at(r)
	if prev, next = e.prev, e.next; prev == none {
		f.head = next
	} else {
		f.runs.at(prev).next = next
	}
	if next == none {
		f.tail = prev
	} else {
		f.runs.at(next).prev = prev
	}
	return prev, next
}
