package prefixindex

// orders is the LRU orders of all places, for the index that follows routing. An
// order lists runs: a run is consecutive blocks of one segment that the same prompt
// touched last, the deepest as the oldest, or the tail of a prompt.
//
//	newest                                                     oldest
//	[s0 0–9] [s1 10–14] [tail 3] [s2 10–29] [s1 15–19] [tail 7]
//
// Here the last prompt had ten blocks of segment s0, five of s1 and three of its
// own. An earlier prompt had ten blocks of s1; the deeper five are left in their old
// position.
//
// Neighbours that can be one run are joined: an order has as few runs as its
// blocks allow.
type orders struct {
	list []order // by place
	runs []run   // runs[0] is none
	free int32   // first of the unused runs, chained by older; 0: none
}

// order is the LRU order of one place.
type order struct {
	newest, oldest int32 // runs; 0: none
	blocks         int32 // of all its runs; ≤ capacity between requests
	capacity       int32 // ≥ 1
}

// run is an entry in the LRU order of one place.
type run struct {
	newer, older int32
	// The runs of one place in one segment are a list from the first block on,
	// each newer than the deeper ones.
	shallower, deeper int32

	segment int32 // −1: a tail
	end     int32 // block after the last one; a run begins where the shallower ends. Of a tail: its blocks
}

// push adds a new run as the newest of an order.
func (l *orders) push(o *order, with run) int32 {
	n := l.allocate(with)
	l.link(o, n)
	return n
}

// allocate returns a new run, which is in no order.
func (l *orders) allocate(with run) int32 {
	n := l.free
	if n != 0 {
		l.free = l.runs[n].older
	} else {
		n = int32(len(l.runs))
		l.runs = append(l.runs, run{})
	}
	l.runs[n] = with
	return n
}

// drop takes a run out of its order and frees it.
func (l *orders) drop(o *order, n int32) {
	l.unlink(o, n)
	l.runs[n].older, l.free = l.free, n
}

// link makes n, which is in no order, the newest of o.
func (l *orders) link(o *order, n int32) {
	l.runs[n].newer, l.runs[n].older = 0, o.newest
	if o.newest != 0 {
		l.runs[o.newest].newer = n
	} else {
		o.oldest = n
	}
	o.newest = n
	l.join(o, n)
}

// unlink takes n out of its order.
func (l *orders) unlink(o *order, n int32) {
	newer, older := l.runs[n].newer, l.runs[n].older
	if older != 0 {
		l.runs[older].newer = newer
	} else {
		o.oldest = newer
	}
	if newer != 0 {
		l.runs[newer].older = older
		l.join(o, newer)
	} else {
		o.newest = older
	}
}

// join makes one run of n and the next older one, if that goes on where n ends or
// both are tails.
func (l *orders) join(o *order, n int32) {
	r, older := &l.runs[n], l.runs[n].older
	switch {
	case older == 0:
	case r.deeper == older:
		r.end = l.runs[older].end
		l.absorb(o, n, older)
	case r.segment < 0 && l.runs[older].segment < 0:
		r.end += l.runs[older].end
		l.drop(o, older)
	}
}

// absorb drops run next, which is the next deeper one after n, and returns the
// one after that.
func (l *orders) absorb(o *order, n, next int32) int32 {
	deeper := l.runs[next].deeper
	l.runs[n].deeper = deeper
	if deeper != 0 {
		l.runs[deeper].shallower = n
	}
	l.drop(o, next)
	return deeper
}

// lengthen adds a tail as the newest of an order: to the tail that is the newest
// already, if there is one.
func (l *orders) lengthen(o *order, blocks int32) {
	o.blocks += blocks
	if n := o.newest; n != 0 && l.runs[n].segment < 0 {
		l.runs[n].end += blocks
		return
	}
	l.push(o, run{segment: -1, end: blocks})
}

// touch makes the blocks before end of a segment the newest of an order. head is
// the run of the order that has the first of them, and keeps it. touch returns
// the end of the blocks before end that the order had already.
func (l *orders) touch(o *order, head, end int32) (had int32) {
	if had = l.runs[head].end; had > end {
		l.advance(o, head, end)
		return end
	}
	l.unlink(o, head)
	rest := l.runs[head].deeper
	for rest != 0 && l.runs[rest].end <= end {
		had = l.runs[rest].end
		rest = l.absorb(o, head, rest)
	}
	if rest != 0 {
		had = end
	}
	l.runs[head].end = end
	l.link(o, head)
	return had
}

// advance makes the blocks before end of run n the newest of an order. The rest
// stays where it is, as a run of its own.
func (l *orders) advance(o *order, n, end int32) {
	if n == o.newest {
		return // the rest goes on where the newest end
	}
	rest := l.allocate(l.runs[n])
	r := &l.runs[rest]
	r.shallower = n
	l.runs[r.newer].older = rest
	if r.older != 0 {
		l.runs[r.older].newer = rest
	} else {
		o.oldest = rest
	}
	if r.deeper != 0 {
		l.runs[r.deeper].shallower = rest
	}
	l.runs[n].end, l.runs[n].deeper = end, rest
	l.link(o, n)
}
