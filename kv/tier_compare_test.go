package kv

import (
	"slices"
	"testing"
)

// tierKinds are the kinds of event without which the twin test would prove little.
var tierKinds = []string{
	"split", "merge", "journal", "failed store", "store of some of the entries", "gap filled", "kept entry passed by", "pinned entry passed by",
	"eviction by lru", "eviction by arc", "eviction by lfu", "eviction by priority",
	"hit of a ghost of recent", "hit of a ghost of frequent", "target within the capacity", "store of a ghost", "victim from frequent", "ghosts cut",
	"entry being read looked up", "entry read twice at a time", "thrashing in part", "thrashing as a whole", "load without thrashing",
	"entry below the threshold", "two segments with a gap", "interval of several entries", "rising interval",
	"group of recent moved", "group of frequent moved", "group by priority moved", "group at the new end", "group behind a group", "group behind an interval", "group that can be evicted moved",
	"group with a member gone", "group of another request", "group deeper than the touch",
	"several ranges written", "tier without a limit",
	"promotion by lru", "promotion by arc", "promotion by lfu", "promotion by priority", "promotion of several spans",
	"promotion of nothing", "promotion up to an entry", "promotion as far as there is room", "promotion that evicts", "promotion that keeps its own entries", "entry promoted by another",
	"deepest entries stored, in several rows", "deepest entries without room", "deepest entries as far as there is room", "deepest entries that evict", "several falling ranges written",
	"promoted entry withdrawn", "stored entry withdrawn", "sent entry withdrawn", "withdrawn in part", "withdrawn with entries of others",
	"entry of a named segment removed", "own entry removed", "removal from within an interval",
	"interval that grows", "interval with a tail that grows", "interval that grows and evicts", "growth without room", "interval without a group that grows",
	"tail of one entry sent", "tail sent in part", "tail cut by a touch", "tail cut by a store", "tail written", "tail written that can thrash",
	"copy of an entry being read", "load of an entry being copied", "entry copied twice at a time", "copied entry passed by", "copy of part of an interval",
}

// requireTier logs the counts of the twin test of tiers and fails when a kind is missing.
func (c coverage) requireTier(t *testing.T, seed uint64) {
	for _, kind := range tierKinds {
		t.Logf("seed %d: %8d × %s", seed, c[kind], kind)
		if c[kind] == 0 {
			t.Errorf("seed %d: no %s in any world", seed, kind)
		}
	}
}

// keysOf is the keys of the entries of queue q of the tier, the oldest first.
func (w *tierWorld) keysOf(q queueID) (list []uint64) {
	t := w.fast
	keys := newKeys(&t.tree.segmentTree, t.size)
	for id := t.tree.queues.at(q).oldest; id != none; id = t.tree.intervals.at(id).newer {
		v := t.tree.intervals.at(id)
		var of []uint64
		if s := t.tree.segments.at(v.segment); s.own {
			for i := v.from; i < v.to; i++ {
				of = append(of, w.slow.key(w.opened[s.key], i))
			}
		} else {
			of = slices.Clone(keys.of(v.segment, v.from, v.to))
		}
		w.seen.count("interval of several entries", len(of) > 1)
		w.seen.count("rising interval", len(of) > 1 && v.rising)
		w.seen.count("two segments with a gap", v.next != none && t.tree.intervals.at(v.next).from > v.to)
		if !v.rising {
			slices.Reverse(of)
		}
		list = append(list, of...)
	}
	return list
}

// compareTierLists compares all entries and ghosts in the order of their queues.
func (w *tierWorld) compareTierLists() {
	if w.fast.tree.ranked() {
		for _, q := range w.fast.tree.order { // Fold compares the order of ranks
			w.compareRank(q)
		}
		return
	}
	keys := func(list []*naiveEntry) (keys []uint64) {
		for _, e := range list {
			keys = append(keys, e.key)
		}
		return keys
	}
	w.compareKeys("recent", w.keysOf(recent), keys(w.slow.recent))
	w.compareKeys("frequent", w.keysOf(frequent), keys(w.slow.frequent))
	if w.cfg.Eviction == ARC {
		w.compareKeys("ghosts of recent", w.keysOf(recentGhosts), w.slow.recentGhosts)
		w.compareKeys("ghosts of frequent", w.keysOf(frequentGhosts), w.slow.frequentGhosts)
		if w.fast.target != w.slow.target {
			w.fatal("target: tier %v, twin %v", w.fast.target, w.slow.target)
		}
		w.seen.count("target within the capacity", w.slow.target > 1 && w.slow.target < float64(w.cfg.Capacity))
		w.seen.count("ghosts cut", len(w.slow.recentGhosts) == w.cfg.Capacity || len(w.slow.frequentGhosts) == w.cfg.Capacity)
	}
}

func (w *tierWorld) compareRank(q queueID) {
	rank := w.fast.tree.queues.at(q).rank
	var keys []uint64
	for _, e := range w.slow.recent {
		if w.cfg.Eviction == LFU && float64(e.touches) == rank || w.cfg.Eviction == Priority && e.priority == rank {
			keys = append(keys, e.key)
		}
	}
	w.compareKeys("rank", w.keysOf(q), keys)
}

func (w *tierWorld) compareKeys(what string, fast, slow []uint64) {
	if !slices.Equal(fast, slow) {
		w.fatal("%s of %s: tier %x, twin %x", what, w.cfg.Eviction, fast, slow)
	}
}

// coverGhosts looks at the ghosts among the first n entries of r.
func (w *tierWorld) coverGhosts(r *tierRequest, n int32) {
	for i := range n {
		if key := w.slow.key(&r.slow, i); w.cfg.Eviction == ARC && w.slow.entries[key] == nil {
			w.seen.count("hit of a ghost of recent", slices.Contains(w.slow.recentGhosts, key))
			w.seen.count("hit of a ghost of frequent", slices.Contains(w.slow.frequentGhosts, key))
		}
	}
}

// coverGroups looks at the groups that a touch of the first n entries of r is about to find, each by its newest member.
func (w *tierWorld) coverGroups(r *tierRequest, n int32) {
	t, behind := &w.fast.tree, groupID(0)
	for i := int32(0); i < n; {
		part, end := r.fast.part(i)
		i = end
		for id := firstOfPart(t, &r.fast, part); id != none && t.intervals.at(id).from < min(end, n); id = t.intervals.at(id).next {
			v := t.intervals.at(id)
			g := t.groups.at(v.group)
			if v.group == 0 || g.last != id {
				continue
			}
			owned := g.owner == r.fast.content.id
			w.seen.count("group with a member gone", owned && v.from+g.entries != g.to)
			w.seen.count("group of another request", !owned)
			w.seen.count("group deeper than the touch", owned && g.to > n)
			if t.wholeUnder(id, r.fast.content.id, n) == 0 {
				continue
			}
			kind := "by priority"
			if v.queue < fixedQueues {
				kind = [...]string{recent: "of recent", frequent: "of frequent"}[v.queue]
			}
			w.seen.count("group "+kind+" moved", v.newer != none)
			w.seen.count("group at the new end", v.newer == none)
			w.seen.count("group behind a group", behind != 0)
			w.seen.count("group behind an interval", behind == 0 && v.from > 0)
			start := t.queues.at(v.queue).start
			w.seen.count("group that can be evicted moved", v.newer != none && start != none && t.intervals.at(start).group == v.group)
			behind = v.group
		}
	}
}

// coverStore looks at what a store of entries from … to−1 of r is about to do.
func (w *tierWorld) coverStore(r *tierRequest, from, to int32) {
	t, missing, there := w.slow, 0, false
	var keys []uint64
	for i := from; i < to; i++ {
		key := t.key(&r.slow, i)
		if t.cfg.Threshold >= 2 && t.lookups[key] < t.cfg.Threshold {
			w.seen.count("entry below the threshold", true)
			continue
		}
		keys = append(keys, key)
		if t.entries[key] == nil {
			missing++
			ghost := slices.Contains(t.recentGhosts, key) || slices.Contains(t.frequentGhosts, key)
			w.seen.count("store of a ghost", t.cfg.Eviction == ARC && ghost)
		}
	}
	for i := range to + 5 {
		present := t.entry(&r.slow, i) != nil
		w.seen.count("gap filled", there && i > from && i < to && !present)
		there = present
	}
	short := missing - (t.cfg.Capacity - len(t.entries))
	if short <= 0 || t.cfg.Eviction != LRU {
		w.seen.count("victim from frequent", short > 0 && len(t.recent) < int(t.target))
		return
	}
	var pinned, kept, copied bool
	for _, e := range t.recent {
		switch {
		case e.copies != 0:
			copied = true
		case e.readers != 0:
			pinned = true
		case slices.Contains(keys, e.key):
			kept = true
		default:
			w.seen.count("pinned entry passed by", pinned)
			w.seen.count("copied entry passed by", copied)
			w.seen.count("kept entry passed by", kept)
			return
		}
	}
}
