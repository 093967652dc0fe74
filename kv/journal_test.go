package kv

import "slices"

// mirror is what a listener to the journal of a cache knows of it.
type mirror struct {
	cached map[uint64]bool
	events []event // since the last comparison
}

type event struct {
	key    uint64
	stored bool
}

// follow makes a mirror hear the journal of a cache. What is stored must not
// have been there, what is evicted must have.
func follow(c Cache, fatal func(string, ...any)) *mirror {
	m := &mirror{cached: map[uint64]bool{}}
	c.Journal(func(key uint64, stored bool) {
		m.events = append(m.events, event{key, stored})
		if m.cached[key] == stored {
			fatal("journal: key %x, stored %v, when it was %v", key, stored, m.cached[key])
		}
		if m.cached[key] = stored; !stored {
			delete(m.cached, key)
		}
	})
	return m
}

// compareMirrors checks that both journals tell the same events in the same
// order, and the named content that the twin has cached.
func (w *world) compareMirrors() {
	fast, slow := w.mirrors[0], w.mirrors[1]
	if fast == nil {
		return
	}
	if !slices.Equal(fast.events, slow.events) {
		w.fatal("events: pool %x, twin %x", fast.events, slow.events)
	}
	fast.events, slow.events = fast.events[:0], slow.events[:0]
	n := 0
	for key, copies := range w.slow.holders { // any order
		if w.slow.blocks[copies[0]].named {
			n++
			if !slow.cached[key] {
				w.fatal("key %x is cached, the journal does not say so", key)
			}
		}
	}
	if len(slow.cached) != n {
		w.fatal("%d keys are cached, %d in the journal", n, len(slow.cached))
	}
	w.seen.count("journal", n > 0)
}
