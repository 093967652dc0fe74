package engine

import (
	"slices"

	"blis/latency"
	"blis/vtime"
)

// batch is one formed step.
type batch struct {
	number     int64 // of all that were formed and not empty, from 1
	formedAt   vtime.Time
	start, end vtime.Time // when it executes
	duration   vtime.Duration
	notBefore  vtime.Time // it does not end before: a pull brings what it needs
	items      []item     // of the individuals, in order of admission
	members    int32      // members of the cohort in it, one token each
	yield      []int32    // per ITL group (see Sink.Group): members whose token is delivered at the end
	preempted  int
	mayEnd     bool // an individual has its last token in it: the router may hear of an end when it ends
	sums       latency.Batch
}

// item is the share of one individual in a batch.
type item struct {
	member
	order     int64 // of its admission
	scheduled int32 // tokens that are computed
	emits     int32 // output tokens that are delivered at the end
	decode    bool  // not prefill, for the latency model
}

func (b *batch) empty() bool { return len(b.items) == 0 && b.members == 0 }

// insert puts an item where the order of admission has it.
func (b *batch) insert(it item) {
	at := len(b.items)
	for at > 0 && b.items[at-1].order > it.order {
		at--
	}
	b.items = append(b.items, it)
	if at < len(b.items)-1 {
		copy(b.items[at+1:], b.items[at:])
		b.items[at] = it
	}
}

// remove takes the item of slot i out and returns the tokens that it had.
func (b *batch) remove(i int32) int32 {
	for k := len(b.items) - 1; k >= 0; k-- {
		if it := b.items[k]; it.slot == i {
			b.items = slices.Delete(b.items, k, k+1)
			return it.scheduled
		}
	}
	return 0
}

// inFlight is the batches that were formed and have not ended: the one that
// executes, and behind it those that wait for it. They stand in a ring, in
// memory that is used again:
//
//	depth 1, synchronous      [n]        formed when n−1 has ended
//	depth 2, async scheduling [n][n+1]   n+1 is formed while n executes
type inFlight struct {
	ring    []batch
	head, n int
	formed  int64      // number of the batch formed last
	lastEnd vtime.Time // of the batch that ended last, as it acted
}

func newInFlight(async bool) inFlight {
	depth := 1
	if async {
		depth = 2
	}
	return inFlight{ring: make([]batch, depth)}
}

// ended returns the number of the batch that ended last.
func (f *inFlight) ended() int64 { return f.formed - int64(f.n) }

// full reports whether no other batch is formed before one ends.
func (f *inFlight) full() bool { return f.n == len(f.ring) }

// at returns batch k in flight; batch 0 executes.
func (f *inFlight) at(k int) *batch {
	if k += f.head; k >= len(f.ring) {
		k -= len(f.ring)
	}
	return &f.ring[k]
}

// last returns the batch that was formed last. There must be one.
func (f *inFlight) last() *batch { return f.at(f.n - 1) }

// executing returns the batch that executes, nil if none does.
func (f *inFlight) executing() *batch {
	if f.n == 0 {
		return nil
	}
	return &f.ring[f.head]
}

// lastFormedEnd returns when the batch that was formed last ends, or has ended.
func (f *inFlight) lastFormedEnd() vtime.Time {
	if f.n == 0 {
		return f.lastEnd
	}
	return f.last().end
}

// blank returns an empty batch with the next number, formed at now, in the memory
// behind those in flight: it starts when the last of them ends. It is in flight
// once push is called.
func (f *inFlight) blank(now vtime.Time) *batch {
	b := f.at(f.n)
	b.number, b.formedAt, b.start = f.formed+1, now, now
	b.items, b.yield = b.items[:0], b.yield[:0]
	b.members, b.preempted, b.mayEnd, b.notBefore = 0, 0, false, 0
	b.sums = latency.Batch{}
	if f.n > 0 {
		b.start = f.last().end
	}
	return b
}

// push puts the batch that blank returned in flight.
func (f *inFlight) push() { f.n++; f.formed++ }

// pop removes the executing batch, whose end acts at now: later than it ended only if a
// pass before it waited for transfers meanwhile.
func (f *inFlight) pop(now vtime.Time) {
	f.lastEnd = now
	f.rotate()
	f.n--
}

// rotate makes the next place of the ring the first.
func (f *inFlight) rotate() {
	if f.head++; f.head == len(f.ring) {
		f.head = 0
	}
}
