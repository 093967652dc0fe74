package engine

import (
	"slices"
)

// scan is the waiting phase of an instance with a connector. Two lists are gone
// through: the requests that an earlier pass passed over, and the wait queue, where
// preempted requests are in front. A scheduler that never reorders has all of the
// first before the second, another one has its order over both.
type scan struct {
	f    *batcher
	old  []member // passed over earlier, not reached yet
	over []member // passed over now
}

// admitPast is admit for an instance with a connector: requests that wait for a
// transfer, or have to ask again, are passed over.
func (f *batcher) admitPast(b *batch, left int32) {
	c := f.connector
	n := scan{f: f, old: c.passed, over: f.over[:0]}
	defer func() {
		f.over = append(n.over, n.old...)
		if f.over, c.passed = c.passed[:0], f.over; f.queue.reorders {
			slices.SortStableFunc(c.passed, n.compare)
		}
	}()
	for {
		i, skipped := n.next()
		if i < 0 {
			return
		}
		switch {
		case c.disaggregation.full():
			f.blocked = heldBack
			return
		case f.requests.running() >= f.cfg.MaxNumSeqs:
			f.blocked = atMaxSeqs
			return
		case left <= 0:
			f.blocked = noBudget
			return
		}
		took, goOn := n.reach(b, i, left, skipped)
		if left -= took; !goOn {
			return
		}
	}
}

// before reports whether the scheduler has x before y.
func (n *scan) before(x, y member) bool {
	f := n.f
	return f.cfg.Scheduler.Less(&f.requests.at(x.slot).Waiting, &f.requests.at(y.slot).Waiting, &f.ctx)
}

// compare is before, for a sort. Requests that left since they were passed over may
// stand anywhere.
func (n *scan) compare(x, y member) int {
	switch {
	case n.before(x, y):
		return -1
	case n.before(y, x):
		return 1
	}
	return 0
}

// next returns the slot of the next request, −1 if there is none, and whether it was
// passed over earlier.
func (n *scan) next() (slot int32, skipped bool) {
	f := n.f
	for len(n.old) > 0 && !f.requests.is(n.old[0], waiting) {
		n.old = n.old[1:]
	}
	i := f.queue.head()
	if len(n.old) == 0 {
		return i, false
	}
	first := n.old[0]
	if i >= 0 && f.queue.reorders && !n.before(first, member{i, f.requests.at(i).ID}) {
		return i, false
	}
	return first.slot, true
}

// take removes the request in slot i, which next returned, from its list.
func (n *scan) take(skipped bool) {
	if skipped {
		n.old = n.old[1:]
	} else {
		n.f.queue.drop()
	}
}

// pass passes slot i over.
func (n *scan) pass(i int32, skipped bool) {
	n.take(skipped)
	n.over = append(n.over, member{i, n.f.requests.at(i).ID})
}

// reach admits slot i, begins its load, or passes it over. It returns the tokens that
// it took of those left, and whether the scan goes on.
func (n *scan) reach(b *batch, i, left int32, skipped bool) (took int32, goOn bool) {
	f := n.f
	c, s := f.connector, f.requests.at(i)
	o := c.at(i)
	switch o.load {
	case loading:
		n.pass(i, skipped)
		return 0, true
	case arrived:
		f.take(s, o)
	}
	known, computed := s.known(), s.computed
	hit, load := int32(0), int32(0)
	if s.seq.Held() == 0 {
		hit = int32(f.cache.Lookup(&s.seq, known).Blocks) * f.cfg.BlockSize
		again := false
		if load, again = c.fetch(i, hit, known); again {
			n.pass(i, skipped)
			return 0, true
		}
		computed = hit + load
		o.hit, o.loaded, o.fromStorage = hit, 0, 0
	}
	if load > 0 {
		if why := f.shortage(s, known, computed, 0, left); why != free {
			f.stops(b, i, why)
			return 0, false
		}
		f.load(i, hit, computed, b)
		n.pass(i, skipped)
		return 0, true
	}
	tokens := known - computed
	if tokens > 1 {
		f.prefillLeft = left
		tokens = f.chunk(s, tokens, computed)
	}
	if why := f.shortage(s, known, computed, tokens, left); why != free {
		f.stops(b, i, why)
		return 0, false
	}
	if tokens = min(tokens, left); tokens <= 0 {
		return 0, false // the scheduler gives it nothing now
	}
	n.take(skipped)
	f.requests.to(i, running)
	f.enter(b, i, computed, tokens, known)
	return tokens, true
}

// take lets a request go on whose load has arrived: its blocks are keyed, and the last
// token is computed at all events.
func (f *batcher) take(s *slot, o *offloaded) {
	o.load = noLoad
	f.cache.Key(&s.seq, s.computed)
	if s.computed == s.known() {
		s.computed--
		o.loaded = max(0, o.loaded-1)
		o.fromStorage = min(o.fromStorage, o.loaded)
	} else if s.computed == 0 { // its pull failed, and nothing was cached
		f.cache.Preempt(&s.seq)
	}
}

// load gives slot i blocks for tokens up to upto, the first hit ones of which the GPU's
// cache has, and begins to load the others.
func (f *batcher) load(i, hit, upto int32, b *batch) {
	s := f.requests.at(i)
	if !f.cache.Extend(&s.seq, upto, 0) {
		panic("engine: a load that fits does not")
	}
	s.computed = upto
	f.connector.begin(i, hit, upto, s.seq.Held()-hit/f.cfg.BlockSize, b.formedAt)
}
