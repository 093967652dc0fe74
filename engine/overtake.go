package engine

import "math"

// sizes is what waiting requests need at least, for finding one that would be
// admitted although the head of the queue is not. It exists only from a head
// that did not fit until nobody waits any more.
type sizes struct {
	least   bracket[size] // by slot
	witness member        // the one that was found last

	// Requests that are entered with more than the least, because nobody holds
	// the block with this key: the number of the first watcher.
	watched  map[uint64]int32
	watchers []watcher
	wake     func(key uint64) // Engine.wakeUp
}

// watcher is a request that waits for a block to come into use, and the number
// of the next one that waits for the same, from 1.
type watcher struct {
	member
	next int32
}

// size is the least that a request, or one of several, asks of a step: blocks
// of the free list and tokens of the budget, if all that could be cached is,
// in blocks that others hold.
type size struct{ blocks, tokens int32 }

var noSize = size{math.MaxInt32, math.MaxInt32}

func (z size) join(o size) size { return size{min(z.blocks, o.blocks), min(z.tokens, o.tokens)} }

// refuse notes that the head of the queue does not fit with left tokens of
// budget, for want of why.
func (e *Engine) refuse(b *batch, why blockade, left int32) {
	e.blocked = why
	e.stuck, e.stuckLeft = true, left
	if !b.empty() { // else it is no step
		e.countBlockedHead(true)
	}
}

// countBlockedHead counts the step just formed if the head of its queue is
// stuck although another would fit. changed says whether that may differ from
// the step before.
func (e *Engine) countBlockedHead(changed bool) {
	if changed {
		e.passable = e.laterFits(e.stuckLeft)
	}
	if e.passable {
		e.Counters.BlockedHeads++
		if e.cfg.Tracer != nil {
			e.odd(BlockedHead, float64(e.waiting), e.slot(e.head()).ID, e.sizes.witness.id)
		}
	}
}

// laterFits reports whether a waiting request behind the head would be
// admitted now with left tokens of budget, if the scheduler gives it all that
// it may.
func (e *Engine) laterFits(left int32) bool {
	if e.waiting < 2 {
		return false
	}
	if z := &e.sizes; e.watch.sizes && len(z.watchers) > 4*int(e.waiting)+64 { // most of them are gone
		e.closeSizes()
	}
	if !e.watch.sizes {
		e.sizeAll()
	}
	head, z := e.head(), &e.sizes
	if w := z.witness; w.slot != head && e.waits(w) && e.fits(w.slot, left) {
		return true
	}
	free, whole := int32(e.cache.Free()), e.cfg.ReserveFullISL
	chunk := e.blocks(left)
	may := func(least size) bool {
		return least != noSize && (least.blocks <= free || !whole && chunk <= free) && (least.tokens <= left || e.cfg.ChunkedPrefill)
	}
	// Blocks of the free list that it would hit, and hits that it lacks, show
	// only in a look at the request itself.
	for i := z.least.next(0, may); i >= 0; i = z.least.next(i+1, may) {
		if i := int32(i); i != head && !e.needsMore(i, free) && e.fits(i, left) {
			z.witness = member{i, e.slot(i).ID}
			return true
		}
	}
	return false
}

// needsMore reports whether slot i needs more than free blocks by the blocks
// that others hold of its content, and enters what it needs for as long as
// that is so.
func (e *Engine) needsMore(i, free int32) bool {
	if !e.cfg.ReserveFullISL {
		return false
	}
	s, z := e.slot(i), &e.sizes
	held, next, ok := e.cache.InUse(&s.seq, s.known())
	least := size{e.blocks(min(s.known(), e.maxLen)) - held, e.leastTokens(s)}
	if least.blocks <= free {
		return false
	}
	if ok {
		if next != 0 {
			z.watchers = append(z.watchers, watcher{member{i, s.ID}, z.watched[next]})
			z.watched[next] = int32(len(z.watchers))
		}
		z.least.set(int(i), least)
	}
	return true
}

// wakeUp is told that the block with that key came into use: those who waited
// for it may need less now.
func (e *Engine) wakeUp(key uint64) {
	z := &e.sizes
	at, found := z.watched[key]
	if !found {
		return
	}
	delete(z.watched, key)
	for at > 0 {
		w := &z.watchers[at-1]
		if e.waits(w.member) {
			e.size(w.slot)
		}
		at = w.next
	}
}

// fits is the admission test of slot i.
func (e *Engine) fits(i, left int32) bool {
	s := e.slot(i)
	known := s.known()
	cached := int32(e.cache.Lookup(&s.seq, known).Blocks) * e.cfg.BlockSize
	return e.lacks(s, known, cached, e.capped(known-cached), left) == free
}

// capped is n tokens of prefill, or the threshold.
func (e *Engine) capped(n int32) int32 {
	if t := e.cfg.LongPrefillThreshold; t > 0 {
		return min(n, t)
	}
	return n
}

// blocks is the number of blocks of so many tokens.
func (e *Engine) blocks(tokens int32) int32 { return (tokens-1)/e.cfg.BlockSize + 1 }

// closeSizes forgets them.
func (e *Engine) closeSizes() {
	e.watch.sizes = false
	clear(e.sizes.watched)
	e.sizes.watchers = e.sizes.watchers[:0]
	e.cache.Watch(nil)
}

// sizeAll enters all that wait.
func (e *Engine) sizeAll() {
	z := &e.sizes
	if z.wake == nil {
		z.wake, z.watched = e.wakeUp, map[uint64]int32{}
	}
	e.watch.sizes = true
	e.cache.Watch(z.wake)
	for _, r := range e.ranked {
		if e.waits(r.member) {
			e.size(r.slot)
		}
	}
	for k := range e.line.n {
		if m := e.line.ring[(e.line.head+k)&(len(e.line.ring)-1)]; e.waits(m) {
			e.size(m.slot)
		}
	}
}

// size enters slot i, which waits. A token that is still delivered to it makes
// it need more, not less.
func (e *Engine) size(i int32) {
	s := e.slot(i)
	known := s.known()
	least := size{tokens: e.leastTokens(s)}
	if e.cfg.ReserveFullISL {
		least.blocks = e.blocks(min(known, e.maxLen)) - s.seq.MostHits(known)
	} else {
		least.blocks = e.blocks(least.tokens)
	}
	e.sizes.least.grow(len(e.slots), noSize)
	e.sizes.least.set(int(i), least)
}

// leastTokens is the number of tokens that s asks for if all that could be
// cached is.
func (e *Engine) leastTokens(s *slot) int32 {
	return e.capped(s.known() - s.seq.MostHits(s.known())*e.cfg.BlockSize)
}
