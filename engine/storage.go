package engine

import (
	"cmp"
	"slices"

	"blis/kv"
	"blis/vtime"
	"blis/vtime/heap"
)

// storages is what a connector knows of the storage tiers below its CPU tier. A waiting
// request whose entries end in the CPU tier asks one storage tier after the other for the
// rest, until one has something; that is read into the CPU tier and loaded from there as
// ever. What becomes readable in the CPU tier is written to every storage tier.
type storages struct {
	list  []Storage // in the order of asking
	ops   []storageOp
	free  []int32     // numbers of ops that are not in use
	begun int64       // operations so far
	under int         // operations whose answers were not noticed
	used  int64       // entries in all tiers, by the last answers that were noticed
	each  []int64     // … in each
	known []dueAnswer // of those, a heap of the answers that are known

	fresh  *writeLot   // became readable and was not sent
	spare  []*writeLot // lots whose writes have ended
	copied int         // entries of the CPU tier that writes read
	reads  int         // under way

	dropped bool // the instance was taken away

	ranges  []kv.EntryRange // scratch, as the rest
	parts   []StoragePart
	request StorageOp
}

// question is what a waiting request has asked of storage tiers.
type question struct {
	state    questionState
	asked    int8          // tiers asked since it came, or was preempted last
	waits    int64         // asking, reading: the order of the operation whose answer it waits for
	upto     int32         // answered: entries before this one can be read
	promoted kv.EntryRange // what was read for it last
}

// questionState is where the question of a request stands.
type questionState uint8

const (
	noQuestion questionState = iota
	asking                   // nobody noticed the answer of the tier asked last
	answered                 // it was noticed; the request has not been reached since
	reading                  // nobody noticed the end of the read
)

// storageOp is an operation that the instance submitted and whose answer it did not notice.
type storageOp struct {
	used   bool
	kind   StorageKind
	tier   int8
	order  int64 // by submission
	begun  vtime.Time
	member // the request; not of a write
	asks   kv.EntryRange
	seq    kv.TierSequence // of a read: for which asks is being written to the CPU tier
	lot    *writeLot       // of a write
	answer StorageAnswer   // once it is known
}

// dueAnswer is an answer that is known.
type dueAnswer struct {
	end    vtime.Time
	number int32
}

// Before implements heap.Ordered.
func (x *dueAnswer) Before(y *dueAnswer) bool { return x.end < y.end }

// next returns the end of the first answer that is known and was not noticed.
func (s *storages) next() vtime.Time {
	if len(s.known) == 0 {
		return vtime.Never
	}
	return s.known[0].end
}

// awaited reports whether an answer is not known yet.
func (s *storages) awaited() bool { return s.under > len(s.known) }

// begin returns the number of a new operation.
func (s *storages) begin(kind StorageKind, tier int8) int32 {
	if len(s.free) == 0 {
		s.ops = append(s.ops, storageOp{})
		s.free = append(s.free, int32(len(s.ops)-1))
	}
	n := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	s.begun++
	s.under++
	x := &s.ops[n]
	x.used, x.kind, x.tier, x.order = true, kind, tier, s.begun
	return n
}

// submit hands its tier operation n, which is of s.parts.
func (s *storages) submit(n int32, now vtime.Time) {
	x := &s.ops[n]
	x.begun = now
	s.request = StorageOp{Kind: x.kind, Number: n, Parts: s.parts}
	if a, ok := s.list[x.tier].Submit(&s.request, now); ok {
		s.know(a)
	}
}

// know takes in an answer.
func (s *storages) know(a StorageAnswer) {
	s.ops[a.Number].answer = a
	s.known = heap.Push(s.known, dueAnswer{a.End, a.Number})
}

// poll appends the numbers of the operations whose answers are noticed at now, in the order
// of their submission.
func (s *storages) poll(now vtime.Time, list []int32) []int32 {
	for len(s.known) > 0 && s.known[0].end <= now {
		list = append(list, s.known[0].number)
		s.known = heap.Pop(s.known)
		s.under--
	}
	if len(list) > 1 {
		slices.SortFunc(list, func(a, b int32) int { return cmp.Compare(s.ops[a].order, s.ops[b].order) })
	}
	return list
}

// end forgets operation n.
func (s *storages) end(n int32) {
	s.ops[n].used, s.ops[n].lot = false, nil
	s.free = append(s.free, n)
}

// partOf describes a range of the entries of t.
func partOf(t *kv.TierSequence, r kv.EntryRange) StoragePart {
	p := StoragePart{EntryRange: r}
	p.ID, p.Input, p.Spans, p.Output = t.Content()
	return p
}

// askStorage goes on with the question of slot i, of whose n entries the CPU tier can read those
// before to. It reports whether the request waits for a storage tier, its own question or one of
// another request, and has to ask again.
func (c *connector) askStorage(i, to, n int32) bool {
	s, o := &c.storages, c.at(i)
	q := &o.question
	switch {
	case len(s.list) == 0:
		return false
	case q.state == asking || q.state == reading:
		return true
	case to == n:
		q.state = noQuestion
		return false
	case c.cfg.Tier.Promoting(&o.seq, to):
		return true
	case q.state == answered:
		q.state = noQuestion
		if to < q.upto && c.promote(i, to, q.upto) {
			return true
		}
	}
	if int(q.asked) == len(s.list) {
		return false
	}
	x := s.begin(StorageAsk, q.asked)
	op := &s.ops[x]
	op.member, op.asks = member{i, o.id}, kv.EntryRange{From: to, To: n}
	q.state, q.waits = asking, op.order
	q.asked++
	s.parts = append(s.parts[:0], partOf(&o.seq, op.asks))
	s.submit(x, c.formed)
	return true
}

// promote begins to read entries of slot i from number from on, at most those before to, from
// the storage tier that has answered. It reports false if the CPU tier has no room for one.
func (c *connector) promote(i, from, to int32) bool {
	s, o := &c.storages, c.at(i)
	x := s.begin(StorageRead, o.question.asked-1)
	op := &s.ops[x]
	id, input, spans, output := o.seq.Content()
	op.seq.OpenContent(id, input, spans, output, c.cfg.EntryTokens, c.requests.at(i).Priority)
	op.member, op.asks = member{i, o.id}, kv.EntryRange{From: from, To: c.cfg.Tier.Promote(&op.seq, from, to)}
	if o.question.asked = int8(len(s.list)); op.asks.From == op.asks.To {
		s.under--
		s.end(x)
		return false
	}
	o.question.state, o.question.waits = reading, op.order
	s.reads++
	c.counts.PeakUsed = max(c.counts.PeakUsed, int64(c.cfg.Tier.Used()))
	s.parts = append(s.parts[:0], partOf(&op.seq, op.asks))
	s.submit(x, c.formed)
	return true
}

// showStorage counts the reads and writes among operations that were noticed, and shows them to the
// observer.
func (c *connector) showStorage(list []int32) {
	for _, n := range list {
		x := &c.storages.ops[n]
		if x.kind == StorageAsk || x.answer.Entries == 0 {
			continue
		}
		c.counts.NoticedStorage++
		c.counts.StorageNotice += int64(c.formed.Sub(x.answer.End))
		if c.observer != nil {
			way := WayPromote
			if x.kind == StorageWrite {
				way = WayWrite
			}
			c.observer.Transferred(c.formed, Transfer{x.id, way, int32(x.tier), x.answer.Entries * c.entryBlocks(), x.begun, x.answer.Start, x.answer.End, c.formed, 0})
		}
	}
}

// answered lets the answers that pass p noticed act.
func (c *connector) answered(p *pass) {
	s := &c.storages
	for _, n := range p.answers {
		op := &s.ops[n]
		s.used += op.answer.Used - s.each[op.tier]
		s.each[op.tier] = op.answer.Used
		switch op.kind {
		case StorageAsk:
			if q := askerOf(op, c); q != nil {
				q.state, q.upto = answered, op.asks.From+op.answer.Entries
				if op.answer.Entries > 0 {
					c.counts.Found++
				}
			}
		case StorageRead:
			c.endRead(op)
		case StorageWrite:
			if op.lot.left--; op.lot.left == 0 {
				s.endCopies(op.lot, c.cfg.Tier)
			}
		}
		s.end(n)
	}
}

// askerOf returns the question of the request that waits for the answer of op; nil if it has left, or
// was admitted and preempted since: it asks anew then.
func askerOf(op *storageOp, c *connector) *question {
	if !c.requests.is(op.member, waiting) {
		return nil
	}
	if q := &c.at(op.slot).question; q.waits == op.order {
		return q
	}
	return nil
}

// endRead makes readable what was read from a storage tier. What was evicted there meanwhile
// gives its room in the CPU tier back.
func (c *connector) endRead(op *storageOp) {
	end := op.asks.From + op.answer.Entries
	if end < op.asks.To {
		c.cfg.Tier.Withdraw(&op.seq, end, op.asks.To)
		c.counts.Vanished += int64(op.asks.To - end)
	}
	c.counts.Promoted += int64(op.answer.Entries)
	c.storages.reads--
	c.readable(&op.seq, op.id, op.tier)
	if q := askerOf(op, c); q != nil {
		q.state, q.promoted = noQuestion, kv.EntryRange{From: op.asks.From, To: end}
	}
}

// dropStorage forgets all operations: the instance is taken away.
func (c *connector) dropStorage() {
	s := &c.storages
	lots := map[*writeLot]bool{}
	if s.fresh != nil {
		lots[s.fresh] = true
	}
	for n := range s.ops {
		switch op := &s.ops[n]; {
		case !op.used:
		case op.kind == StorageRead:
			c.cfg.Tier.Withdraw(&op.seq, op.asks.From, op.asks.To)
			c.cfg.Tier.Written(&op.seq, nil)
		case op.kind == StorageWrite:
			lots[op.lot] = true
		}
	}
	for l := range lots { // any order
		s.endCopies(l, c.cfg.Tier)
	}
	*s = storages{list: s.list, under: s.under - len(s.known), dropped: true}
}
