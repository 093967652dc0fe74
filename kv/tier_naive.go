package kv

import (
	"slices"

	"blis/vtime"
)

// NaiveTier is the tier that keeps each entry by itself, with a slot, in slices. It
// is slow, and as close to vLLM's offload manager as code can be.
type NaiveTier struct {
	cfg     TierConfig
	entries map[uint64]*naiveEntry
	// recent has the entries from the one last used longest ago on. Under ARC it has
	// those used once, and frequent those used more often; ghosts are the keys of
	// entries evicted from each.
	recent, frequent             []*naiveEntry
	recentGhosts, frequentGhosts []uint64
	target                       float64 // size of recent that ARC aims at

	fresh int32   // slots given out so far: 0 … fresh−1
	freed []int32 // of those, given back

	lookups map[uint64]int // of the keys in tracked
	tracked []uint64       // the one looked up longest ago first

	evicted int64
	journal func(key uint64, stored bool)
	watch   func(stored bool, entries int)
}

// naiveEntry is one entry.
type naiveEntry struct {
	key     uint64
	named   bool
	slot    int32
	readers int32 // loads that read it; or beingStored, beingPromoted
	copies  int32 // copies to another tier that read it
	touches int64
	stored  vtime.Time // end of its store; Never: not known yet

	priority float64 // of the request that stored it
}

// naiveTierSequence is what a NaiveTier keeps of a sequence.
type naiveTierSequence struct {
	naiveSequence
	writing []naiveWriting
	falling bool // … stored by StoreDeepest
}

// naiveWriting is an entry that is being written for a sequence.
type naiveWriting struct {
	key   uint64
	entry int32 // its place in the sequence
}

func (n *naiveTierSequence) open() {
	n.naiveSequence.open()
	n.writing, n.falling = n.writing[:0], false
}

// NewNaiveTier returns an empty tier.
func NewNaiveTier(c TierConfig) *NaiveTier {
	return &NaiveTier{cfg: checkTierConfig(c), entries: map[uint64]*naiveEntry{}, lookups: map[uint64]int{}}
}

func naiveTier(s *TierSequence) *naiveTierSequence {
	if s.naive == nil {
		s.naive = &naiveTierSequence{}
	}
	return s.naive
}

func (t *NaiveTier) key(s *TierSequence, i int32) uint64 { return naiveTier(s).key(&s.content, i) }

func (t *NaiveTier) entry(s *TierSequence, i int32) *naiveEntry { return t.entries[t.key(s, i)] }

// move takes what has key out of one list and puts it at the end of another.
func move(e *naiveEntry, from, to *[]*naiveEntry) {
	if i := slices.Index(*from, e); i >= 0 {
		*from = slices.Delete(*from, i, i+1)
		*to = append(*to, e)
	}
}

func drop(list *[]uint64, key uint64) bool {
	i := slices.Index(*list, key)
	if i >= 0 {
		*list = slices.Delete(*list, i, i+1)
	}
	return i >= 0
}

// Touch implements Tier.
func (t *NaiveTier) Touch(s *TierSequence, n int32) {
	for i := n - 1; i >= 0; i-- {
		key := t.key(s, i)
		e := t.entries[key]
		switch {
		case e == nil && t.cfg.Eviction == ARC:
			t.touchGhost(key)
		case e == nil:
		case slices.Contains(t.frequent, e):
			move(e, &t.frequent, &t.frequent)
		case t.cfg.Eviction == ARC && e.readers >= 0:
			move(e, &t.recent, &t.frequent)
		default:
			e.touches++
			move(e, &t.recent, &t.recent)
		}
	}
}

func (t *NaiveTier) touchGhost(key uint64) {
	recent, frequent := float64(len(t.recentGhosts)), float64(len(t.frequentGhosts))
	if drop(&t.recentGhosts, key) {
		t.recentGhosts = append(t.recentGhosts, key)
		t.target = min(t.target+max(1, frequent/recent), float64(t.cfg.Capacity))
	} else if drop(&t.frequentGhosts, key) {
		t.frequentGhosts = append(t.frequentGhosts, key)
		t.target = max(t.target-max(1, recent/frequent), 0)
	}
}

// Lookup implements Tier.
func (t *NaiveTier) Lookup(s *TierSequence, from, to int32) (n int32) {
	for i := from; i < to && t.cfg.Threshold >= 2; i++ {
		t.count(t.key(s, i))
	}
	for i := from; i < to; i++ {
		if e := t.entry(s, i); e == nil || e.readers < 0 {
			break
		}
		n++
	}
	return n
}

// count counts a lookup of key.
func (t *NaiveTier) count(key uint64) {
	if !drop(&t.tracked, key) && len(t.tracked) >= t.cfg.Tracked {
		delete(t.lookups, t.tracked[0])
		t.tracked = t.tracked[1:]
	}
	t.tracked = append(t.tracked, key)
	t.lookups[key]++
}

// Loading implements Tier.
func (t *NaiveTier) Loading(s *TierSequence, from, to int32) bool {
	for i := from; i < to; i++ {
		if t.entry(s, i).readers > 0 {
			return true
		}
	}
	return false
}

// BeginLoad implements Tier.
func (t *NaiveTier) BeginLoad(s *TierSequence, from, to int32, now vtime.Time) (thrashing int32) {
	for i := from; i < to; i++ {
		e := t.entry(s, i)
		e.readers++
		if e.stored != vtime.Never && now < e.stored.Add(Thrashing) {
			thrashing++
		}
	}
	return thrashing
}

// EndLoad implements Tier.
func (t *NaiveTier) EndLoad(s *TierSequence, from, to int32) {
	for i := from; i < to; i++ {
		if e := t.entry(s, i); e.readers > 0 {
			e.readers--
		} else {
			panic("kv: an entry is read by nobody")
		}
	}
}

// Store implements Tier.
func (t *NaiveTier) Store(s *TierSequence, from, to int32) (entries int32, ok bool) {
	var keys []uint64
	var missing []int32
	for i := from; i < to; i++ {
		key := t.key(s, i)
		if t.cfg.Threshold >= 2 && t.lookups[key] < t.cfg.Threshold {
			continue
		}
		keys = append(keys, key)
		if t.entries[key] == nil {
			missing = append(missing, i)
		}
	}
	if short := len(missing) - t.vacant(); short > 0 && !t.evict(short, keys) {
		return 0, false
	}
	for _, i := range missing {
		t.add(s, i, &naiveEntry{readers: beingStored, stored: vtime.Never})
	}
	return int32(len(missing)), true
}

// StoreTouched implements Tier.
func (t *NaiveTier) StoreTouched(s *TierSequence, from, to int32) (entries int32, ok bool) {
	if entries, ok = t.Store(s, from, to); entries > 0 {
		t.Touch(s, to)
	}
	return entries, ok
}

// vacant returns the number of slots without an entry.
func (t *NaiveTier) vacant() int { return len(t.freed) + t.cfg.Capacity - int(t.fresh) }

// add puts entry i of s into the tier, to be written for s.
func (t *NaiveTier) add(s *TierSequence, i int32, e *naiveEntry) {
	e.key, e.named, e.priority = t.key(s, i), i < s.content.nameable(), s.priority
	if int(t.fresh) < t.cfg.Capacity {
		e.slot = t.fresh
		t.fresh++
	} else {
		e.slot = t.freed[len(t.freed)-1]
		t.freed = t.freed[:len(t.freed)-1]
	}
	t.entries[e.key] = e
	t.recent = append(t.recent, e)
	drop(&t.recentGhosts, e.key)
	drop(&t.frequentGhosts, e.key)
	n := naiveTier(s)
	n.writing = append(n.writing, naiveWriting{e.key, i})
}

// evict makes n slots free, with none of the entries with keys, and reports whether it
// could; if not nothing has changed.
func (t *NaiveTier) evict(n int, keys []uint64) bool {
	var victims []*naiveEntry
	once := len(t.recent)
	for range n {
		var e *naiveEntry
		if t.cfg.Eviction != ARC || once >= int(t.target) {
			if e = t.victim(t.recent, victims, keys); e != nil {
				once--
			}
		}
		if e == nil {
			e = t.victim(t.frequent, victims, keys)
		}
		if e == nil {
			return false
		}
		victims = append(victims, e)
	}
	if t.watch != nil {
		t.watch(false, n)
	}
	for _, e := range victims {
		if i := slices.Index(t.recent, e); i >= 0 {
			t.recent = slices.Delete(t.recent, i, i+1)
			t.recentGhosts = append(t.recentGhosts, e.key)
		} else {
			i = slices.Index(t.frequent, e)
			t.frequent = slices.Delete(t.frequent, i, i+1)
			t.frequentGhosts = append(t.frequentGhosts, e.key)
		}
		delete(t.entries, e.key)
		t.freed = append(t.freed, e.slot)
		t.evicted++
		if e.named && t.journal != nil {
			t.journal(e.key, false)
		}
	}
	t.recentGhosts = t.recentGhosts[max(0, len(t.recentGhosts)-t.cfg.Capacity):]
	t.frequentGhosts = t.frequentGhosts[max(0, len(t.frequentGhosts)-t.cfg.Capacity):]
	return true
}

// victim returns the entry of list that is evicted next, nil if there is none: a
// readable one that nobody reads, and neither chosen already nor among keys.
func (t *NaiveTier) victim(list, chosen []*naiveEntry, keys []uint64) (v *naiveEntry) {
	for _, e := range list {
		if e.readers != 0 || e.copies != 0 || slices.Contains(chosen, e) || slices.Contains(keys, e.key) {
			continue
		}
		switch {
		case v == nil:
			v = e
		case t.cfg.Eviction == LFU && e.touches < v.touches, t.cfg.Eviction == Priority && e.priority < v.priority:
			v = e
		}
	}
	return v
}

// Advance implements Tier.
func (t *NaiveTier) Advance(vtime.Time) {}

// Sent implements Tier.
func (t *NaiveTier) Sent(s *TierSequence, from, to int32, end vtime.Time) {
	for i := from; i < to; i++ {
		if e := t.entry(s, i); e != nil && e.stored == vtime.Never && t.Writing(s, i) {
			e.stored = end
		}
	}
}

// Written implements Tier.
func (t *NaiveTier) Written(s *TierSequence, list []EntryRange) []EntryRange {
	n, before := naiveTier(s), len(list)
	if t.watch != nil && len(n.writing) > 0 {
		t.watch(true, len(n.writing))
	}
	for _, w := range n.writing {
		e := t.entries[w.key]
		e.readers = 0
		list = entered(list, before, w.entry, w.entry+1, n.falling)
		if e.named && t.journal != nil {
			t.journal(w.key, true)
		}
	}
	n.writing, n.falling = n.writing[:0], false
	return list
}
