package kv

import (
	"fmt"

	"blis/vtime"
)

// Check implements Tier.
func (t *ExtentTier) Check(writers []*TierSequence, loads, copies int) error {
	used, reading, copying, writing, err := t.tree.checkSegments()
	if err != nil {
		return err
	}
	if used != t.used || used > t.cfg.Capacity {
		return fmt.Errorf("kv: %d entries of the tier, counted %d, of %d", used, t.used, t.cfg.Capacity)
	}
	if err := t.tree.checkQueues(); err != nil {
		return err
	}
	if err := t.tree.checkGroups(); err != nil {
		return err
	}
	for _, s := range writers {
		n, err := t.tree.checkWriter(s)
		if err != nil {
			return err
		}
		writing -= n
	}
	return checkPins(writing, reading, loads, copying, copies)
}

// checkPins compares what was counted in a tier with what it must be.
func checkPins(writing, reading, loads, copying, copies int) error {
	if writing != 0 || reading != loads || copying != copies {
		return fmt.Errorf("kv: %d entries of the tier are being written for nobody, %d are read by loads of %d, %d by copies of %d", writing, reading, loads, copying, copies)
	}
	return nil
}

// checkSegments goes through all segments and their intervals. It returns the number of entries,
// of entries being read by loads and by copies, once per reader, and of entries being written.
func (t *tierTree) checkSegments() (used, reading, copying, writing int, err error) {
	children := make([]int32, t.segments.n)
	intervals := 0
	segments := allSegments(&t.segmentTree)
	for _, g := range segments {
		s := t.segments.at(g)
		if s.parent != none {
			children[s.parent]++
		}
		prev, end := intervalID(none), int32(0)
		for id := s.first; id != none; id = t.intervals.at(id).next {
			v := t.intervals.at(id)
			if v.segment != g || v.prev != prev || v.from < end || v.to <= v.from {
				return 0, 0, 0, 0, fmt.Errorf("kv: interval %d of segment %d (%d) of the tier is %d to %d behind interval %d (%d), which ends at %d", id, g, v.segment, v.from, v.to, prev, v.prev, end)
			}
			intervals++
			if prev, end = id, v.to; !v.present() {
				continue
			}
			n := int(v.to - v.from)
			used += n
			reading += n * int(max(v.readers, 0))
			copying += n * int(v.copies)
			if v.readers < 0 {
				writing += n
			}
		}
	}
	for _, g := range segments {
		if s := t.segments.at(g); s.children != children[g] || s.children == 0 && s.first == none {
			return 0, 0, 0, 0, fmt.Errorf("kv: segment %d of the tier has %d children, counted %d, and starts with interval %d", g, children[g], s.children, s.first)
		}
	}
	if len(segments) != t.segments.inUse() || intervals != t.intervals.inUse() {
		return 0, 0, 0, 0, fmt.Errorf("kv: %d segments and %d intervals of the tier, %d and %d in use", len(segments), intervals, t.segments.inUse(), t.intervals.inUse())
	}
	return used, reading, copying, writing, nil
}

// checkQueues goes through all queues.
func (t *tierTree) checkQueues() error {
	intervals := 0
	queues := t.order
	if t.eviction == ARC {
		queues = []queueID{recent, frequent, recentGhosts, frequentGhosts}
	}
	for i, q := range queues {
		at := t.queues.at(q)
		if t.ranked() && (at.entries == 0 || i > 0 && t.queues.at(queues[i-1]).rank >= at.rank) {
			return fmt.Errorf("kv: queue %d of the tier, of rank %g, has %d entries and is the %d. one", q, at.rank, at.entries, i+1)
		}
		entries, evictable, older, started := 0, 0, intervalID(none), false
		for id := at.oldest; id != none; id = t.intervals.at(id).newer {
			v := t.intervals.at(id)
			if v.queue != q || v.older != older {
				return fmt.Errorf("kv: interval %d is in queue %d of the tier (%d) behind interval %d (%d)", id, q, v.queue, older, v.older)
			}
			if id == at.start {
				started = true
			}
			if v.free() && v.present() && !started {
				return fmt.Errorf("kv: interval %d of queue %d of the tier can be evicted, and is older than interval %d", id, q, at.start)
			}
			if entries += int(v.to - v.from); v.free() {
				evictable += int(v.to - v.from)
			}
			older = id
			intervals++
		}
		if at.newest != older || at.entries != entries || at.evictable != evictable {
			return fmt.Errorf("kv: queue %d of the tier has %d entries (%d), %d to evict (%d), and ends with interval %d (%d)", q, entries, at.entries, evictable, at.evictable, older, at.newest)
		}
	}
	if intervals != t.intervals.inUse() {
		return fmt.Errorf("kv: %d intervals are in queues of the tier, %d in use", intervals, t.intervals.inUse())
	}
	return nil
}

// checkGroups goes through the groups.
func (t *tierTree) checkGroups() error {
	entries := make([]int32, t.groups.n)
	for q := range t.queues.n {
		at := t.queues.at(queueID(q))
		for id := at.oldest; at.entries > 0 && id != none; id = t.intervals.at(id).newer {
			v := t.intervals.at(id)
			if entries[v.group] += v.to - v.from; v.group == 0 {
				continue
			}
			g := t.groups.at(v.group)
			if v.rising && v.to-v.from > 1 || v.to > g.to || !v.present() {
				return fmt.Errorf("kv: interval %d to %d of queue %d of the tier, rising %v, is in a group as far as %d", v.from, v.to, v.queue, v.rising, g.to)
			}
			if t.wholeUnder(id, g.owner, g.to) == 0 {
				continue
			}
			to := v.from // of the one before
			for m := id; ; m = v.older {
				if v = t.intervals.at(m); v.from != to || v.group != t.intervals.at(id).group {
					return fmt.Errorf("kv: interval %d of the tier is in group %d, and the next newer one in whole group %d ends at %d", m, v.group, t.intervals.at(id).group, to)
				}
				if to = v.to; m == g.first {
					break
				}
			}
			if to != g.to {
				return fmt.Errorf("kv: a whole group of the tier ends at %d, not at %d", to, g.to)
			}
		}
	}
	used := 1
	for id, n := range entries[1:] {
		if n > 0 {
			used++
		}
		if g := t.groups.at(groupID(id + 1)); g.entries != n {
			return fmt.Errorf("kv: group %d of the tier has %d entries, counted %d", id+1, n, g.entries)
		}
	}
	if used != t.groups.inUse() {
		return fmt.Errorf("kv: %d groups of the tier, %d in use", used-1, t.groups.inUse()-1)
	}
	return nil
}

// checkWriter returns the number of entries that are being written for s.
func (t *tierTree) checkWriter(s *TierSequence) (n int, err error) {
	if s.writer == 0 {
		return 0, nil
	}
	w := t.writers.at(s.writer)
	earlier, unsent := intervalID(none), 0
	for id := w.first; id != none; id = t.intervals.at(id).later {
		v := t.intervals.at(id)
		if v.readers >= 0 || v.copies != 0 || v.writer != s.writer || v.earlier != earlier {
			return 0, fmt.Errorf("kv: interval %d with %d readers is written by %d (%d) behind interval %d (%d)", id, v.readers, s.writer, v.writer, earlier, v.earlier)
		}
		n += int(v.to - v.from)
		if v.stored == vtime.Never {
			unsent += int(v.to - v.from)
		}
		earlier = id
	}
	if w.tail != none {
		if v := t.intervals.at(w.last); w.tail < v.from || w.tail >= v.to || v.stored != settled || v.rising {
			return 0, fmt.Errorf("kv: what is written by %d ends with interval %d to %d, stored at %d, rising %v, and has a tail from %d on", s.writer, v.from, v.to, v.stored, v.rising, w.tail)
		}
		if w.tailEnd == vtime.Never {
			unsent += int(t.intervals.at(w.last).to - w.tail)
		}
	}
	if w.last != earlier || int(w.unsent) != unsent {
		return 0, fmt.Errorf("kv: what is written by %d ends with interval %d (%d), and %d entries of it (%d) were not sent", s.writer, earlier, w.last, unsent, w.unsent)
	}
	return n, nil
}
