package engine

import (
	"fmt"
	"testing"

	"blis/vtime"
)

// What a result needs of an instance that is gone is the same whether it was
// released or not: books, counters up to the end of the run, free list.
func TestReleaseKeepsWhatCounts(t *testing.T) {
	told := func(release bool) string {
		e, _ := instance(t, slow{}, nil)
		for i := range int64(5) {
			deliver(e, i, vtime.Time(i), 100, 3, vtime.Never)
		}
		e.Advance(vtime.Never, 0)
		if release {
			e.Release(e.Now())
			if len(e.requests.slots) > 0 || e.cfg.Cache != nil || e.cfg.Sink != nil {
				t.Error("memory is held on to")
			}
		}
		at, _ := e.Next()
		change, _ := e.FirstChange() // a late message may ask
		text := fmt.Sprint(e.Fold(), e.Now(), at, e.State(), e.Check(), e.FirstEnd(), change, e.FirstStepState(true), e.Counters)
		e.Finish(e.Now().Add(1_000_000), vtime.Never)
		return fmt.Sprint(text, e.Counters)
	}
	if kept, released := told(false), told(true); kept != released {
		t.Errorf("released:\n%s\nwant\n%s", released, kept)
	}
}

// The books are closed with the release: a fault in them is not lost.
func TestReleaseKeepsAFault(t *testing.T) {
	e, _ := instance(t, slow{}, nil)
	e.cfg.Cache.Take(3)
	if e.Release(e.Now()); e.Check() == nil {
		t.Error("three blocks that noRequest holds, and no fault")
	}
}

func TestReleaseOfABusyInstance(t *testing.T) {
	e, _ := instance(t, slow{}, nil)
	deliver(e, 0, 0, 100, 3, vtime.Never)
	defer func() {
		if recover() == nil {
			t.Error("an instance with a request was released")
		}
	}()
	e.Release(e.Now())
}
