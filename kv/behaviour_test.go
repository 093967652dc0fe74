package kv

import (
	"testing"

	"blis/workload"
)

// onBoth runs a scenario over the pool and over its twin.
func onBoth(t *testing.T, total int, size int32, caching bool, scenario func(t *testing.T, c Cache)) {
	t.Run("pool", func(t *testing.T) { scenario(t, NewPool(total, size, caching)) })
	t.Run("twin", func(t *testing.T) { scenario(t, NewNaivePool(total, size, caching)) })
}

// ask opens a request for content × length, then own tokens up to input.
func ask(id uint64, c workload.ContentID, length, input, size int32) *Sequence {
	s := &Sequence{}
	var spans []workload.Span
	if length > 0 {
		spans = []workload.Span{{Content: c, Length: length}}
	}
	s.Open(id, input, spans, 0, size, true)
	return s
}

func extend(t *testing.T, c Cache, s *Sequence, upto, known int32) {
	t.Helper()
	if !c.Extend(s, upto, known) {
		t.Fatalf("no room for %d tokens, %d blocks are free", upto, c.Free())
	}
}

func wantHit(t *testing.T, c Cache, s *Sequence, known int32, want Hit) {
	t.Helper()
	if got := c.Lookup(s, known); got != want {
		t.Errorf("hit %+v, want %+v", got, want)
	}
}

func TestTailIsEvictedFirst(t *testing.T) {
	onBoth(t, 6, 4, true, func(t *testing.T, c Cache) {
		a := ask(1, 7, 16, 16, 4)
		extend(t, c, a, 16, 16)
		c.Release(a)
		b := ask(2, 7, 16, 17, 4)
		wantHit(t, c, b, 17, Hit{4, 4})
		other := ask(3, 8, 4, 4, 4)
		for i, want := range []int{4, 4, 3, 2, 1, 0} { // the first two were free all the time
			extend(t, c, other, int32(i+1)*4, 0)
			wantHit(t, c, b, 17, Hit{want, want})
		}
	})
}

func TestPrivateTailIsEvictedBeforeTheSharedPrefix(t *testing.T) {
	onBoth(t, 6, 4, true, func(t *testing.T, c Cache) {
		a := ask(1, 7, 8, 24, 4)
		extend(t, c, a, 24, 24)
		c.Release(a)
		other := ask(2, 0, 0, 16, 4)
		extend(t, c, other, 16, 16)
		wantHit(t, c, ask(3, 7, 8, 9, 4), 9, Hit{2, 2})
	})
}

func TestLastTokenIsAlwaysComputed(t *testing.T) {
	onBoth(t, 8, 4, true, func(t *testing.T, c Cache) {
		a := ask(1, 7, 16, 16, 4)
		extend(t, c, a, 16, 16)
		wantHit(t, c, ask(2, 7, 16, 16, 4), 16, Hit{3, 0})
		wantHit(t, c, ask(3, 7, 16, 17, 4), 17, Hit{4, 0})
	})
}

func TestBlockOfTwoHoldersStaysUntilBothRelease(t *testing.T) {
	onBoth(t, 4, 4, true, func(t *testing.T, c Cache) {
		a, b := ask(1, 7, 4, 5, 4), ask(2, 7, 4, 5, 4)
		extend(t, c, a, 5, 5)
		wantHit(t, c, b, 5, Hit{1, 0})
		extend(t, c, b, 5, 5)
		for i, s := range []*Sequence{a, b} {
			c.Release(s)
			if want := 2 + 2*i; c.Free() != want {
				t.Errorf("%d blocks are free after release %d, want %d", c.Free(), i+1, want)
			}
		}
	})
}

// Two requests compute the same block side by side: both copies are keyed, and
// only where the first of them lies decides what a hit costs.
func TestHitTakesTheCopyKeyedFirst(t *testing.T) {
	setUp := func(t *testing.T, c Cache) (first, second, third *Sequence) {
		first, second, third = ask(1, 7, 4, 4, 4), ask(2, 7, 4, 4, 4), ask(3, 7, 4, 5, 4)
		extend(t, c, second, 2, 4) // has its block first, but fills it last
		extend(t, c, first, 4, 4)
		extend(t, c, second, 4, 4)
		wantHit(t, c, third, 5, Hit{1, 0})
		return first, second, third
	}
	t.Run("first released", func(t *testing.T) {
		onBoth(t, 3, 4, true, func(t *testing.T, c Cache) {
			first, _, third := setUp(t, c)
			c.Release(first)
			wantHit(t, c, third, 5, Hit{1, 1})
		})
	})
	t.Run("second released", func(t *testing.T) {
		onBoth(t, 3, 4, true, func(t *testing.T, c Cache) {
			_, second, third := setUp(t, c)
			c.Release(second)
			wantHit(t, c, third, 5, Hit{1, 0})
		})
	})
	t.Run("first evicted", func(t *testing.T) {
		onBoth(t, 3, 4, true, func(t *testing.T, c Cache) {
			first, _, third := setUp(t, c)
			c.Release(first)
			extend(t, c, ask(4, 0, 0, 8, 4), 8, 8)
			wantHit(t, c, third, 5, Hit{1, 0})
		})
	})
}

func TestFailedExtendChangesNothing(t *testing.T) {
	onBoth(t, 6, 4, true, func(t *testing.T, c Cache) {
		a := ask(1, 7, 8, 8, 4)
		extend(t, c, a, 8, 8)
		c.Release(a) // two named blocks behind four blank ones
		blocker := ask(2, 0, 0, 4, 4)
		extend(t, c, blocker, 4, 4)
		fold := c.Fold()
		b := ask(3, 7, 8, 24, 4)
		wantHit(t, c, b, 24, Hit{2, 2})
		if need := c.Need(b, 24); need != 6 {
			t.Errorf("need %d, want 6", need)
		}
		if c.Extend(b, 24, 24) {
			t.Error("six blocks were found among five")
		}
		if b.Held() != 0 || c.Free() != 5 || c.Fold() != fold {
			t.Errorf("%d blocks held, %d free, fold %x; want 0, 5, %x", b.Held(), c.Free(), c.Fold(), fold)
		}
		wantHit(t, c, b, 24, Hit{2, 2})
		if err := c.Check([]*Sequence{blocker}); err != nil {
			t.Error(err)
		}
		c.Release(blocker)
		wantHit(t, c, b, 24, Hit{2, 2})
		extend(t, c, b, 24, 24)
		if c.Free() != 0 || b.Held() != 6 {
			t.Errorf("%d free, %d held", c.Free(), b.Held())
		}
	})
}

func TestPressureEvictsTheEndOfASharedPrefix(t *testing.T) {
	const prefix, size = 1024, 16
	onBoth(t, prefix, size, true, func(t *testing.T, c Cache) {
		a := ask(1, 7, prefix*size, prefix*size, size)
		extend(t, c, a, prefix*size, prefix*size)
		c.Release(a)
		b := ask(2, 0, 0, 128*size, size)
		extend(t, c, b, 128*size, 128*size)
		wantHit(t, c, ask(3, 7, prefix*size, prefix*size+1, size), prefix*size+1, Hit{896, 896})
	})
}

func TestNoHitsWithoutPrefixCaching(t *testing.T) {
	onBoth(t, 8, 4, false, func(t *testing.T, c Cache) {
		a, b := &Sequence{}, &Sequence{}
		for i, s := range []*Sequence{a, b} {
			s.Open(uint64(i), 16, []workload.Span{{Content: 7, Length: 16}}, 9, 4, false)
		}
		extend(t, c, a, 16, 16)
		wantHit(t, c, b, 16, Hit{})
		c.Release(a)
		wantHit(t, c, b, 16, Hit{})
		extend(t, c, a, 12, 16)
		c.Preempt(a)
		wantHit(t, c, a, 20, Hit{})
	})
}

func TestPreemptedRequestHitsWhatIsLeftOfItsOwn(t *testing.T) {
	onBoth(t, 8, 4, true, func(t *testing.T, c Cache) {
		a := ask(1, 7, 6, 12, 4) // one named block, one mixed, own prompt, own output
		extend(t, c, a, 18, 18)
		c.Preempt(a)
		wantHit(t, c, a, 19, Hit{4, 4})
		extend(t, c, ask(2, 0, 0, 20, 4), 20, 20) // three were free, the tail, one keyed
		wantHit(t, c, a, 19, Hit{3, 3})
		wantHit(t, c, ask(3, 7, 6, 12, 4), 12, Hit{1, 1}) // the rest is its own
	})
}

func TestOutputIsHitByTheNextTurn(t *testing.T) {
	onBoth(t, 8, 4, true, func(t *testing.T, c Cache) {
		a, b := &Sequence{}, &Sequence{}
		a.Open(1, 5, []workload.Span{{Content: 7, Length: 5}}, 9, 4, true)
		extend(t, c, a, 14, 14)
		c.Release(a)
		b.Open(2, 17, []workload.Span{{Content: 7, Length: 5}, {Content: 9, Length: 9}, {Content: 10, Length: 3}}, 11, 4, true)
		wantHit(t, c, b, 17, Hit{3, 3})
	})
}

func TestBlockIsKeyedOnlyWhenItsLastTokenIsKnown(t *testing.T) {
	onBoth(t, 8, 4, true, func(t *testing.T, c Cache) {
		a, b := &Sequence{}, &Sequence{}
		a.Open(1, 3, []workload.Span{{Content: 7, Length: 3}}, 9, 4, true)
		b.Open(2, 20, []workload.Span{{Content: 7, Length: 3}, {Content: 9, Length: 17}}, 0, 4, true)
		extend(t, c, a, 4, 3)
		wantHit(t, c, b, 20, Hit{})
		c.Key(a, 4)
		wantHit(t, c, b, 20, Hit{1, 0})
		extend(t, c, a, 8, 7)
		wantHit(t, c, b, 20, Hit{1, 0})
		extend(t, c, a, 9, 8)
		wantHit(t, c, b, 20, Hit{2, 0})
	})
}

func TestCheckSeesUnequalBooks(t *testing.T) {
	onBoth(t, 8, 4, true, func(t *testing.T, c Cache) {
		a, b := ask(1, 7, 8, 9, 4), ask(2, 7, 8, 9, 4)
		for _, s := range []*Sequence{a, b} {
			c.Lookup(s, 9)
			extend(t, c, s, 9, 9)
		}
		if err := c.Check([]*Sequence{a, b}); err != nil {
			t.Error(err)
		}
		for _, wrong := range [][]*Sequence{{a}, {a, b, b}, nil} {
			if c.Check(wrong) == nil {
				t.Errorf("no error with %d holders where there are two", len(wrong))
			}
		}
	})
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	for name, journal := range map[string]func(uint64, bool){"": nil, "with a journal": func(uint64, bool) {}} {
		p := NewPool(300, 16, true)
		p.Journal(journal)
		requests := make([]Sequence, 12)
		id := uint64(0)
		turn := func() {
			s := &requests[id%uint64(len(requests))]
			p.Release(s)
			spans := [2]workload.Span{{Content: 1, Length: 40}, {Content: workload.ContentID(2 + id%7), Length: 150}}
			input, output := int32(260), workload.ContentID(0)
			if id%3 == 0 {
				input, output = 190, workload.ContentID(10+id%5)
			}
			s.Open(id, input, spans[:], output, 16, true)
			p.Lookup(s, input)
			if !p.Extend(s, input, input) {
				t.Fatal("no room")
			}
			p.Preempt(s)
			p.Lookup(s, input+1)
			if !p.Extend(s, 300, 270) {
				t.Fatal("no room")
			}
			p.Take(3)
			p.Adopt(s, 348, 347)
			id++
		}
		for range 5000 {
			turn()
		}
		if n := testing.AllocsPerRun(2000, turn); n != 0 {
			t.Errorf("%v allocations per request %s", n, name)
		}
	}
}
