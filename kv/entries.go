package kv

// entry is one named block that is held by somebody or can be hit.
type entry struct {
	key  uint64
	refs int32
	// Copies with one key form a list in the order in which they were keyed.
	// The first is in the table; its prev is the last one.
	prev, next BlockID
	named      bool   // wholly named content, not own content of a preempted request
	isKeyed    bool   // has its key in the table
	pos        uint64 // place on the free list while refs = 0
}

// entries are the named blocks of a cache, in pages so that millions of them
// grow without being copied.
type entries struct {
	pages []*[pageEntries]entry
	n     int
	spare []BlockID // to use again
}

const pageEntries = 1 << 10

func (t *entries) at(b BlockID) *entry { return &t.pages[b/pageEntries][b%pageEntries] }

// take returns an entry with one reference and no key.
func (t *entries) take() BlockID {
	var b BlockID
	if n := len(t.spare); n > 0 {
		b, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		if b = BlockID(t.n); t.n == len(t.pages)*pageEntries {
			t.pages = append(t.pages, new([pageEntries]entry))
		}
		t.n++
	}
	*t.at(b) = entry{refs: 1, prev: noBlock, next: noBlock}
	return b
}

// drop gives an entry back.
func (t *entries) drop(b BlockID) { t.spare = append(t.spare, b) }
