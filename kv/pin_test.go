package kv

import (
	"slices"
	"testing"

	"blis/workload"
)

// wantOldest wants the numbers of the keyed blocks among the first n of the free list. Equal
// neighbours may be in one item or in several.
func wantOldest(t *testing.T, c Cache, n int, want ...int32) []FreeBlocks {
	t.Helper()
	list := c.Oldest(nil, n)
	var got []int32
	for _, b := range list {
		for i := b.To - 1; i >= b.From; i-- {
			got = append(got, i)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("oldest %d blocks: %v, want %v", n, got, want)
	}
	return list
}

// pinOne pins block i of a list.
func pinOne(c Cache, list []FreeBlocks, i int32) PinID {
	at := slices.IndexFunc(list, func(b FreeBlocks) bool { return b.From <= i && i < b.To })
	return c.Pin(list[at], i, i+1)
}

func TestPinnedBlocksAreHitAndNotTaken(t *testing.T) {
	onBoth(t, 8, 4, true, func(t *testing.T, c Cache) {
		a := ask(1, 7, 16, 20, 4)
		extend(t, c, a, 20, 20)
		c.Preempt(a)
		wantOldest(t, c, 3)
		// Three blocks that were never used, the own one, then the named ones: deepest first.
		list := wantOldest(t, c, 6, 4, 3, 2)
		pins := []PinID{pinOne(c, list, 4), pinOne(c, list, 3)}
		if c.Free() != 6 {
			t.Errorf("%d blocks are free, want 6", c.Free())
		}
		wantHit(t, c, ask(2, 7, 16, 21, 4), 21, Hit{4, 3})
		b := ask(3, 0, 0, 20, 4)
		extend(t, c, b, 20, 0) // takes the three, and evicts blocks 2 and 1 of the span
		wantHit(t, c, a, 21, Hit{1, 1})
		if err := c.Check([]*Sequence{b}); err != nil {
			t.Error(err)
		}
		again := ask(4, 7, 16, 17, 4)
		wantHit(t, c, again, 17, Hit{1, 1})
		c.Release(b)
		wantHit(t, c, again, 17, Hit{1, 1})
		extend(t, c, again, 12, 12) // fills the gap
		wantHit(t, c, ask(5, 7, 16, 17, 4), 17, Hit{4, 0})
		for _, id := range pins {
			c.Unpin(id)
		}
		c.Release(again)
		wantOldest(t, c, 8, 4, 3, 2, 1, 0)
		if err := c.Check(nil); err != nil {
			t.Error(err)
		}
	})
}

// What a request hits while it is pinned is free when both have given it back, in the place of the
// last.
func TestPinnedBlocksHaveTwoHolders(t *testing.T) {
	onBoth(t, 4, 4, true, func(t *testing.T, c Cache) {
		a, b := ask(1, 7, 8, 9, 4), ask(2, 7, 8, 9, 4)
		extend(t, c, a, 8, 8)
		c.Release(a)
		list := c.Oldest(nil, 4)
		pin := c.Pin(list[0], 0, 2)
		wantOldest(t, c, 4)
		wantHit(t, c, b, 9, Hit{2, 0})
		extend(t, c, b, 9, 9)
		c.Unpin(pin)
		if c.Free() != 1 {
			t.Errorf("%d blocks are free, want 1", c.Free())
		}
		c.Release(b)
		wantOldest(t, c, 4, 1, 0)
		wantOldest(t, c, 3, 1)
		if c.Pin(c.Oldest(nil, 4)[0], 0, 1); c.Free() != 3 {
			t.Errorf("%d blocks are free, want 3", c.Free())
		}
		defer func() {
			if recover() == nil {
				t.Error("a block is pinned twice")
			}
		}()
		c.Pin(list[0], 0, 2)
	})
}

// Blocks whose keys are taken stay free where they are.
func TestKeysAreTakenInPlace(t *testing.T) {
	onBoth(t, 8, 4, true, func(t *testing.T, c Cache) {
		a := ask(1, 7, 16, 20, 4)
		extend(t, c, a, 20, 20)
		c.Preempt(a) // blocks 5 to 7, which were never used, then 4 … 0 of request 1
		var gone []bool
		c.Journal(func(_ uint64, stored bool) { gone = append(gone, !stored) })
		list := wantOldest(t, c, 8, 4, 3, 2, 1, 0)
		left := int32(3) // as many of the oldest
		for _, b := range list {
			if from := max(b.From, b.To-left); from < b.To {
				c.Unkey(b, from)
				left -= b.To - from
			}
		}
		wantOldest(t, c, 6)
		wantOldest(t, c, 7, 1)
		if !slices.Equal(gone, []bool{true, true}) || c.Free() != 8 {
			t.Errorf("%d of the keys were named, %d blocks are free; want 2 and 8", len(gone), c.Free())
		}
		wantHit(t, c, ask(2, 7, 16, 21, 4), 21, Hit{2, 2})
		for _, b := range c.Oldest(nil, 8) {
			c.Unkey(b, b.From)
		}
		wantOldest(t, c, 8)
		c.Journal(nil)
		b := ask(3, 7, 16, 16, 4)
		wantHit(t, c, b, 16, Hit{})
		extend(t, c, b, 16, 16)
		if err := c.Check([]*Sequence{b}); err != nil {
			t.Error(err)
		}
	})
}

func TestTierKnowsFreeBlocksAsTheirRequestDoes(t *testing.T) {
	onBoth(t, 40, 4, true, func(t *testing.T, c Cache) {
		spans := []workload.Span{{Content: 5, Length: 10}, {Content: 6, Length: 1}, {Content: 7, Length: 20}}
		for id, output := range []workload.ContentID{0, 9} { // own content behind the prompt, or named
			input := int32(31 + 4*(1-id))
			var s Sequence
			s.Open(uint64(id+1), input, spans, output, 4, true)
			extend(t, c, &s, 48, 48)
			c.Preempt(&s)
			tier, blocks := NewTier(TierConfig{Capacity: 100, Eviction: LRU}), int32(0)
			var request TierSequence
			request.Open(&s, 4, 0)
			for _, b := range c.Oldest(nil, 40) {
				var t TierSequence
				c.OpenTier(&t, b, 0)
				n, _ := tier.Store(&t, b.From, b.To)
				tier.Written(&t, nil)
				blocks += n
			}
			if n := tier.Lookup(&request, 0, 20); n != 12 {
				t.Errorf("request %d finds %d of %d entries, want 12", id+1, n, blocks)
			}
		}
	})
}

func TestPinsDoNotAllocate(t *testing.T) {
	p := NewPool(300, 16, true)
	requests := make([]Sequence, 12)
	var list []FreeBlocks
	var pins []PinID
	var tier TierSequence
	id := uint64(0)
	turn := func() {
		s := &requests[id%uint64(len(requests))]
		p.Preempt(s)
		spans := [2]workload.Span{{Content: 1, Length: 40}, {Content: workload.ContentID(2 + id%7), Length: 150}}
		s.Open(id, 260, spans[:], 0, 16, true)
		p.Lookup(s, 260)
		if !p.Extend(s, 260, 260) {
			t.Fatal("no room")
		}
		for _, x := range pins {
			p.Unpin(x)
		}
		list, pins = p.Oldest(list[:0], 50), pins[:0]
		for _, b := range list {
			p.OpenTier(&tier, b, 0)
			if b.To-b.From > 2 {
				pins = append(pins, p.Pin(b, b.From+1, b.To-1))
			}
		}
		id++
	}
	for range 5000 {
		turn()
	}
	if n := testing.AllocsPerRun(2000, turn); n != 0 {
		t.Errorf("%v allocations per request", n)
	}
	if len(pins) == 0 {
		t.Error("nothing is pinned")
	}
}
