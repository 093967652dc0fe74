package engine

import (
	"cmp"
	"slices"
)

// filling is which entries of the tier the requests of a formation fill. Individuals
// are looked at one by one, as their blocks are anyway. Members of the cohort are filed
// by the formation in which they fill an entry:
//
//	formation mod 4   0  1  2  3     entries of 4 tokens
//	                  B     A        A fills one in formations 6, 10, 14, …
//	                  C
type filling struct {
	victims   []int32    // of the formation at hand
	admitted  [2][]int32 // in the formation at hand: for the first time, and after a preemption
	written   []int32    // victims by request number
	due       []due      // of the formation at hand
	owing     []int32    // members whose last store was put off, in order of admission
	crossings [][]int32  // members by formation number modulo tokens in an entry; in order of admission
}

// due is a request of the formation that has filled entries up to number upto.
type due struct {
	order int64
	slot  int32
	upto  int32
}

// preempted notes that slot i is a victim of the formation at hand. It may ask the storage tiers
// once more.
func (c *connector) preempted(i int32) {
	c.filling.victims = append(c.filling.victims, i)
	c.at(i).question = question{}
}

// admits notes that slot i is admitted, for the first time or again.
func (l *filling) admits(i int32, again bool) {
	k := 0
	if again {
		k = 1
	}
	l.admitted[k] = append(l.admitted[k], i)
}

// phaseOf returns the formation numbers, modulo entry tokens, in which member s of the
// cohort fills an entry. In formation f it has computed + f − joined + 1 tokens; with
// async scheduling the last of them is not known then.
func (c *cohort) phaseOf(s *slot, entry int64) int64 {
	f := s.joined - int64(s.computed) - 1
	if c.async {
		f++
	}
	return ((f % entry) + entry) % entry
}

// filled returns the number of tokens of member s whose KV is computed by formation f
// and which are known when it is formed.
func (c *cohort) filled(s *slot, f int64) int32 {
	n := s.computed + int32(f-s.joined+1)
	if c.async {
		n--
	}
	return n
}

// join files slot i, which joins the cohort.
func (l *filling) join(c *connector, h *cohort, i int32) {
	if c.lazy != nil || !c.tiered {
		return
	}
	s := c.requests.at(i)
	entry := int64(c.cfg.EntryTokens)
	list := &l.crossings[h.phaseOf(s, entry)]
	*list = insertByOrder(*list, i, c.requests)
	if c.upto(i, min(s.computed, s.known())) > c.at(i).next {
		l.owing = insertByOrder(l.owing, i, c.requests)
	}
}

// leave removes slot i, which leaves the cohort; called with its counts as they were
// when it joined.
func (l *filling) leave(c *connector, h *cohort, i int32) {
	if !c.tiered {
		return
	}
	list := &l.crossings[h.phaseOf(c.requests.at(i), int64(c.cfg.EntryTokens))]
	*list = removeByOrder(*list, i, c.requests)
	l.owing = removeByOrder(l.owing, i, c.requests)
}

// insertByOrder puts slot i into a list in order of admission.
func insertByOrder(list []int32, i int32, r *requests) []int32 {
	at, order := len(list), r.at(i).order
	for at > 0 && r.at(list[at-1]).order > order {
		at--
	}
	return slices.Insert(list, at, i)
}

// removeByOrder removes slot i, if it is there, from a list in order of admission.
func removeByOrder(list []int32, i int32, r *requests) []int32 {
	at, ok := slices.BinarySearchFunc(list, r.at(i).order, func(x int32, order int64) int { return cmp.Compare(r.at(x).order, order) })
	if !ok {
		return list
	}
	return slices.Delete(list, at, at+1)
}

// upto returns the number of entries that slot i has filled with the given tokens.
func (c *connector) upto(i, tokens int32) int32 {
	if c.cfg.PromptOnly {
		tokens = min(tokens, c.requests.at(i).Input)
	}
	return tokens / c.cfg.EntryTokens
}

// choose chooses what the requests of b filled to be stored: of those admitted for the
// first time, of those that ran before, of those that were preempted before, each in
// the order of their admission. What victims stored can be read from now on.
func (f *batcher) choose(b *batch, before int) {
	c := f.connector
	l := &c.filling
	if !c.tiered {
		return
	}
	if c.lazy != nil {
		if !b.empty() || f.requests.waiting() == 0 && (c.endings > 0 || f.requests.running() > 0) {
			c.lazy.choose()
		}
		return
	}
	for _, i := range l.admitted[0] {
		c.choose(i, f.filledBy(i))
	}
	l.due = l.due[:0]
	for _, it := range b.items[:before] {
		if n := f.filledBy(it.slot); n > c.at(it.slot).next {
			l.due = append(l.due, due{it.order, it.slot, n})
		}
	}
	l.owing = f.memberDue(b, l.owing, true)
	f.memberDue(b, l.crossings[b.number%int64(c.cfg.EntryTokens)], false)
	if len(l.due) > 1 {
		slices.SortFunc(l.due, func(x, y due) int { return cmp.Compare(x.order, y.order) })
		l.due = slices.Compact(l.due) // who owes may fill another entry now
	}
	for _, d := range l.due {
		if !c.choose(d.slot, d.upto) && f.requests.at(d.slot).phase == decoding {
			l.owing = insertByOrder(l.owing, d.slot, f.requests)
		}
	}
	for _, i := range l.admitted[1] {
		c.choose(i, f.filledBy(i))
	}
	if len(l.victims) == 0 {
		return
	}
	l.written = append(l.written[:0], l.victims...)
	slices.SortFunc(l.written, func(x, y int32) int { return cmp.Compare(c.at(x).id, c.at(y).id) })
	for _, i := range l.written {
		c.readable(&c.at(i).seq, c.at(i).id, fromGPU)
	}
}

// filledBy returns the entries that individual i has filled once the formation at hand
// has executed, of those tokens that are known now.
func (f *batcher) filledBy(i int32) int32 {
	s := f.requests.at(i)
	return f.connector.upto(i, min(s.computed, s.known()))
}

// memberDue makes those of the listed members of the cohort due that have filled an
// entry with b. It returns the list, emptied if take is set.
func (f *batcher) memberDue(b *batch, list []int32, take bool) []int32 {
	c := f.connector
	if b.members == 0 {
		return list
	}
	for _, i := range list {
		if n := c.upto(i, f.cohort.filled(f.requests.at(i), b.number)); n > c.at(i).next {
			c.filling.due = append(c.filling.due, due{f.requests.at(i).order, i, n})
		}
	}
	if take {
		list = list[:0]
	}
	return list
}

// choose chooses the entries of slot i before upto to be stored that were not yet, and
// reports false if there is no room for them.
func (c *connector) choose(i, upto int32) bool {
	o, t := c.at(i), c.cfg.Tier
	if upto <= o.next {
		return true
	}
	n, ok := t.StoreTouched(&o.seq, o.next, upto)
	if !ok {
		c.counts.NoRoom++
		return false
	}
	from := o.next
	if o.next = upto; n == 0 {
		return true
	}
	o.stored = true
	o.stores++
	c.counts.Stored += int64(n)
	c.counts.PeakUsed = max(c.counts.PeakUsed, int64(t.Used()))
	c.chosen = append(c.chosen, choice{i, n, from, upto})
	return true
}
