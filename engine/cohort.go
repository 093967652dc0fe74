package engine

import "slices"

// cohort is the part of the running list that only decodes: each member takes
// one token in every formation from the one it joined in to its last. Nothing
// about a member is updated per step; counts over all of them are.
//
// While a slot is a member its computed, generated, inFlight and lastToken stay
// as they were when it joined, plus what was in flight then; materialize brings
// them up to date.
type cohort struct {
	n        int32
	groups   []int32 // members per ITL group
	ends     wheel   // members by the number of the formation of their last token
	cross    []int32 // members by the formation number modulo block size in which they need a block
	context  int64   // Σ (computed when joined − formation joined): context tokens at formation f are this + n·(f+1)
	blocks   int64   // Σ blocks held
	maxOrder int64   // no member was admitted later
}

// join makes slot i, which has a token or its last prefill chunk in the batch
// just formed, a member from the next formation on.
func (e *Engine) join(i int32) {
	s, c := e.slot(i), &e.cohort
	e.requests.to(i, decoding)
	s.joined = e.inFlight.formed + 1
	c.ends.add(e, i, s.last())
	c.maxOrder = max(c.maxOrder, s.order)
	e.countMember(s, s.computed, 1)
}

// last is the number of the formation of a member's last token.
func (s *slot) last() int64 { return s.joined + int64(s.target-s.generated-s.inFlight) - 1 }

// countMember adds a member that has computed tokens, or takes it away.
func (e *Engine) countMember(s *slot, computed int32, sign int32) {
	c := &e.cohort
	size := int64(e.cfg.BlockSize)
	base := s.joined - int64(s.computed)
	c.n += sign
	c.context -= int64(sign) * base
	c.blocks += int64(sign) * ((int64(computed) + size - 1) / size)
	c.cross[((base%size)+size)%size] += sign
	if s.group >= 0 {
		for len(c.groups) <= int(s.group) {
			c.groups = append(c.groups, 0)
		}
		c.groups[s.group] += sign
	}
}

// materialize ends the membership of slot i, which is filed no longer, and brings
// its counts up to date.
func (e *Engine) materialize(i int32) {
	s := e.slot(i)
	steps := int32(e.inFlight.formed - s.joined + 1)
	ended := max(0, int32(e.inFlight.ended()-s.joined+1))
	e.countMember(s, s.computed+steps, -1)
	e.requests.to(i, running)
	s.computed += steps
	s.generated += ended
	s.inFlight += steps - ended
	if ended > 0 {
		s.lastToken = e.inFlight.lastEnd
	}
	keyed := s.computed
	if e.cfg.Async {
		keyed--
	}
	e.cache.Adopt(&s.seq, s.computed, keyed)
	if e.cohort.n == 0 {
		e.cohort.ends.later, e.cohort.maxOrder = e.cohort.ends.later[:0], 0
	}
}

// adjustYield changes the number of tokens that formed batches deliver to the
// group of s, a former member that has just been settled.
func (e *Engine) adjustYield(s *slot, by int32) {
	if s.group < 0 {
		return
	}
	for k := range e.inFlight.n {
		if b := e.inFlight.at(k); b.number >= s.joined {
			b.yield[s.group] += by
		}
	}
}

// removeEnding ends the membership of those whose last token is in formation step or
// earlier, with their share of the executing batch spelled out. They become
// individuals, unless that batch is just ending: then they are about to complete.
func (e *Engine) removeEnding(step int64, ending bool) {
	c := &e.cohort
	for at := c.ends.next(); at <= step; at = c.ends.next() {
		for _, i := range c.ends.take(e, at) {
			e.materialize(i)
			e.itemize(i)
			if ending {
				e.requests.to(i, completing)
			} else {
				e.insertIndividual(i)
			}
		}
	}
}

// disband turns all members into individuals.
func (e *Engine) disband() {
	c := &e.cohort
	e.members(func(i int32) {
		e.materialize(i)
		e.itemize(i)
		e.individuals = append(e.individuals, i)
	})
	c.ends.clear()
	c.maxOrder = 0
	slices.SortFunc(e.individuals, func(x, y int32) int { return int(e.slot(x).order - e.slot(y).order) })
}

// itemize gives slot i, a former member, items of its own in the formed
// batches that it has a token in.
func (e *Engine) itemize(i int32) {
	s := e.slot(i)
	for k := range e.inFlight.n {
		b := e.inFlight.at(k)
		if b.number < s.joined {
			continue
		}
		b.members--
		b.mayEnd = true
		if s.group >= 0 {
			b.yield[s.group]--
		}
		b.insert(item{member{i, s.ID}, s.order, 1, 1, true})
	}
}

func (e *Engine) individualIndex(i int32) (int, bool) {
	order := e.slot(i).order
	return slices.BinarySearchFunc(e.individuals, order, func(x int32, order int64) int { return int(e.slot(x).order - order) })
}

func (e *Engine) insertIndividual(i int32) {
	at, _ := e.individualIndex(i)
	e.individuals = slices.Insert(e.individuals, at, i)
}

func (e *Engine) removeIndividual(i int32) {
	at, ok := e.individualIndex(i)
	if !ok || e.individuals[at] != i {
		panic("engine: a running request is in no list")
	}
	e.individuals = slices.Delete(e.individuals, at, at+1)
}
