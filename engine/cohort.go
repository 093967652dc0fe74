package engine

import (
	"blis/kv"
	"blis/latency"
	"blis/vtime"
)

// cohort is the part of the running list that only decodes: each member takes
// one token in every formation from the one it joined in to its last. Nothing
// about a member is updated per step; counts over all of them are. In
//
//	formation   7   8   9  10  11
//	A           p   ●   ●   ●           p: the last of its prompt
//	B                   p   ●   ●   …
//
// A joins in 8 and ends in 10, B joins in 10. Formation 10 has two members
// and costs the same as one with two hundred.
//
// While a slot is a member its computed, generated, inFlight and lastToken stay
// as they were when it joined; materialize brings them up to date.
type cohort struct {
	groups   []int32 // members per ITL group
	ends     wheel   // members by the formation of their last token
	cross    []int32 // members by the formation number modulo block size in which they need a block
	context  int64   // Σ (computed when joined − formation joined): context tokens at formation f are this + n·(f+1)
	blocks   int64   // Σ blocks held
	maxOrder int64   // no member was admitted later

	blockSize   int64
	async       bool
	cache       kv.Cache
	requests    *requests
	inFlight    *inFlight
	individuals *individuals
	connector   *connector // nil: none
}

// n returns the number of members.
func (c *cohort) n() int32 { return c.requests.count[decoding] }

// crossing returns the number of members that need a block in a formation.
func (c *cohort) crossing(formation int64) int { return int(c.cross[formation%c.blockSize]) }

// join makes slot i, which has a token or its last prefill chunk in the batch
// just formed, a member from the next formation on.
func (c *cohort) join(i int32) {
	s := c.requests.at(i)
	c.requests.to(i, decoding)
	s.joined = c.inFlight.formed + 1
	c.ends.add(i, s.last(), c.inFlight.formed)
	c.maxOrder = max(c.maxOrder, s.order)
	c.count(s, s.computed, 1)
	if c.connector != nil {
		c.connector.filling.join(c.connector, c, i)
	}
}

// count adds a member that has computed tokens, or with sign −1 takes it away.
func (c *cohort) count(s *slot, computed int32, sign int32) {
	base := s.joined - int64(s.computed)
	c.context -= int64(sign) * base
	c.blocks += int64(sign) * ((int64(computed) + c.blockSize - 1) / c.blockSize)
	c.cross[((base%c.blockSize)+c.blockSize)%c.blockSize] += sign
	if s.group >= 0 {
		for len(c.groups) <= int(s.group) {
			c.groups = append(c.groups, 0)
		}
		c.groups[s.group] += sign
	}
}

// materialize ends the membership of slot i, which is on the wheel no longer, and
// brings its counts up to date.
func (c *cohort) materialize(i int32) {
	s, f := c.requests.at(i), c.inFlight
	if c.connector != nil {
		c.connector.filling.leave(c.connector, c, i)
	}
	steps := int32(f.formed - s.joined + 1)
	ended := max(0, int32(f.ended()-s.joined+1))
	c.count(s, s.computed+steps, -1)
	c.requests.to(i, running)
	s.computed += steps
	s.generated += ended
	s.inFlight += steps - ended
	if ended > 0 {
		s.lastToken = f.lastEnd
	}
	keyed := s.computed
	if c.async {
		keyed--
	}
	c.cache.Adopt(&s.seq, s.computed, keyed)
	if c.n() == 0 {
		c.ends.later, c.maxOrder = c.ends.later[:0], 0
	}
}

// itemize gives slot i, a former member, items of its own in the batches in
// flight that it has a token in.
func (c *cohort) itemize(i int32) {
	s := c.requests.at(i)
	for k := range c.inFlight.n {
		b := c.inFlight.at(k)
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

// remove ends the membership of slot i before its time. Its tokens in flight are
// not delivered.
func (c *cohort) remove(i int32) {
	s := c.requests.at(i)
	c.ends.remove(i, s.last())
	c.materialize(i)
	if s.group < 0 {
		return
	}
	for k := range c.inFlight.n {
		if b := c.inFlight.at(k); b.number >= s.joined {
			b.yield[s.group]--
		}
	}
}

// removeEnding ends the membership of those whose last token is in a formation or
// an earlier one, and itemizes them. They become individuals, unless that batch
// is just ending: then they are about to complete.
func (c *cohort) removeEnding(formation int64, ending bool) {
	for at := c.ends.next(); at <= formation; at = c.ends.next() {
		for _, i := range c.ends.take(at) {
			c.materialize(i)
			c.itemize(i)
			if ending {
				c.requests.to(i, completing)
			} else {
				c.individuals.insert(i)
			}
		}
	}
}

// disband turns all members into individuals.
func (c *cohort) disband() {
	c.ends.each(func(i int32) {
		c.materialize(i)
		c.itemize(i)
		c.individuals.append(i)
	})
	c.ends.clear()
	c.maxOrder = 0
	c.individuals.sort()
}

// stepsUntilEnd returns how many steps after the executing one pass, at most limit,
// before the first member ends; 0 when one ends in it.
func (c *cohort) stepsUntilEnd(limit int64) int64 {
	return max(0, min(limit, c.ends.next()-c.inFlight.executing().number))
}

// addTo adds the members to the sums of b, and books the blocks that they took
// in it.
func (c *cohort) addTo(q *latency.Batch, b *batch) {
	if b.members == 0 {
		return
	}
	c.blocks += int64(c.crossing(b.number))
	n := int64(c.n())
	q.DecodeTokens += n
	q.DecodeRequests += n
	q.SampledRows += n
	q.DecodeContext += c.context + n*(b.number+1)
	q.DecodeBlocks += c.blocks
}

// deliver tells the sink of steps of equal length in which each member got a
// token.
func (c *cohort) deliver(to Sink, gap vtime.Duration, steps int) {
	if steps == 0 {
		return
	}
	for g, n := range c.groups {
		if n > 0 {
			to.ITL(g, gap, int(n)*steps)
		}
	}
}
