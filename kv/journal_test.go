package kv

// mirror is what somebody knows of a cache who hears its journal and no more.
type mirror map[uint64]bool

// follow makes a mirror hear the journal of a cache. What is stored must not
// have been there, what is evicted must have.
func follow(c Cache, fatal func(string, ...any)) mirror {
	m := mirror{}
	c.Journal(func(key uint64, stored bool) {
		if m[key] == stored {
			fatal("journal: key %x, stored %v, when it was %v", key, stored, m[key])
		}
		if m[key] = stored; !stored {
			delete(m, key)
		}
	})
	return m
}

// compareMirrors checks that both journals tell the named content that the twin
// has cached.
func (w *world) compareMirrors() {
	n := 0
	for key, copies := range w.slow.holders { // any order
		if !w.slow.blocks[copies[0]].named {
			continue
		}
		n++
		if !w.mirrors[0][key] || !w.mirrors[1][key] {
			w.fatal("key %x is cached: in the journal of the pool %v, of the twin %v", key, w.mirrors[0][key], w.mirrors[1][key])
		}
	}
	if len(w.mirrors[0]) != n || len(w.mirrors[1]) != n {
		w.fatal("%d keys are cached, %d in the journal of the pool, %d of the twin", n, len(w.mirrors[0]), len(w.mirrors[1]))
	}
	w.seen.count("journal", n > 0)
}
