package kv

import (
	"slices"

	"blis/vtime"
)

// promote promotes some entries of a request, or all behind those that can be read.
func (w *tierWorld) promote(r *tierRequest) {
	if r.falling {
		return
	}
	to := r.entries + int32(w.pick(2))*r.filled
	from := int32(w.pick(int(to) + 1))
	if w.pick(2) == 0 {
		from = 0
		for e := w.slow.entry(&r.slow, from); e != nil && from < to; e = w.slow.entry(&r.slow, from) {
			from++
		}
	}
	before := w.slow.Evicted()
	room, own := w.roomFor(r, to)
	fast, slow := w.fast.Promote(&r.fast, from, to), w.slow.Promote(&r.slow, from, to)
	if fast != slow {
		w.fatal("promotion of entries %d to %d: tier up to %d, twin up to %d", from, to, fast, slow)
	}
	if evicted := w.slow.Evicted() - before; int(slow-from) > room || evicted > 0 && w.slow.vacant() > 0 {
		w.fatal("%d entries promoted, with room for %d; %d evicted, and %d slots are vacant", slow-from, room, evicted, w.slow.vacant())
	}
	if slow == from {
		w.seen.count("promotion of nothing", from < to)
		return
	}
	there := slow < to && w.slow.entry(&r.slow, slow) != nil
	w.seen.count("promotion by "+string(w.cfg.Eviction), true)
	w.seen.count("promotion that evicts", w.slow.Evicted() > before)
	w.seen.count("promotion that keeps its own entries", own && w.slow.Evicted() > before)
	w.seen.count("promotion up to an entry", there)
	w.seen.count("promotion as far as there is room", slow < to && !there)
	part, _ := r.fast.part(from)
	last, _ := r.fast.part(slow - 1)
	w.seen.count("promotion of several spans", part != last)
	w.seen.count("tier without a limit", w.cfg.Capacity > 1000)
}

// storeDeepest stores entries of a request as a cache does that pins what it is about to evict.
func (w *tierWorld) storeDeepest(r *tierRequest, from, to int32) {
	deeper := false
	for to > from {
		vacant, evicted := w.slow.vacant(), w.slow.Evicted()
		lo, hi := w.fast.StoreDeepest(&r.fast, from, to)
		lo2, hi2 := w.slow.StoreDeepest(&r.slow, from, to)
		if lo != lo2 || hi != hi2 {
			w.fatal("deepest entries of %d to %d stored: tier %d to %d, twin %d to %d", from, to, lo, hi, lo2, hi2)
		}
		w.seen.count("deepest entries stored, in several rows", deeper && lo < hi)
		w.seen.count("deepest entries without room", lo == hi && hi > from)
		w.seen.count("deepest entries as far as there is room", lo < hi && lo > from && w.slow.entry(&r.slow, lo-1) == nil)
		w.seen.count("deepest entries that evict", w.slow.Evicted() > evicted)
		if int64(hi-lo) != w.slow.Evicted()-evicted+int64(vacant-w.slow.vacant()) {
			w.fatal("%d entries stored, %d evicted, %d slots taken", hi-lo, w.slow.Evicted()-evicted, vacant-w.slow.vacant())
		}
		if lo == hi {
			return
		}
		deeper = true
		r.unsent = append(r.unsent, [2]int32{lo, hi})
		if to = lo; w.pick(4) == 0 {
			return
		}
	}
}

// roomFor returns how many entries there is room for at most without evicting any of the entries
// 0 … to−1 of r, and whether one of these would be the next victim.
func (w *tierWorld) roomFor(r *tierRequest, to int32) (room int, own bool) {
	t := w.slow
	var keys []uint64
	for i := range to {
		keys = append(keys, t.key(&r.slow, i))
	}
	for _, e := range t.entries { // any order
		if e.readers == 0 && e.copies == 0 && !slices.Contains(keys, e.key) {
			room++
		}
	}
	if v := t.victim(t.recent, nil, nil); v != nil {
		own = slices.Contains(keys, v.key)
	}
	return room + t.vacant(), own
}

// withdraw withdraws all that is being written for a request, or some of it.
func (w *tierWorld) withdraw(r *tierRequest) {
	from, to := int32(0), max(r.entries, r.filled)+5
	if w.pick(3) > 0 {
		from = int32(w.pick(int(to)))
		to = from + int32(w.pick(int(to-from)+1))
	}
	list := naiveTier(&r.slow).writing
	for i := from; i < to; i++ {
		e := w.slow.entry(&r.slow, i)
		if e == nil || e.readers >= 0 {
			continue
		}
		if !w.slow.Writing(&r.slow, i) {
			w.seen.count("withdrawn with entries of others", true)
			continue
		}
		w.seen.count("promoted entry withdrawn", e.readers == beingPromoted)
		w.seen.count("stored entry withdrawn", e.readers == beingStored && e.stored == vtime.Never)
		w.seen.count("sent entry withdrawn", e.readers == beingStored && e.stored != vtime.Never)
	}
	before, used, evicted := len(list), w.slow.Used(), w.slow.Evicted()
	w.fast.Withdraw(&r.fast, from, to)
	w.slow.Withdraw(&r.slow, from, to)
	left := len(naiveTier(&r.slow).writing)
	if w.slow.Used() != used-before+left || w.slow.Evicted() != evicted {
		w.fatal("%d of %d entries withdrawn: %d used before, %d now; %d evicted before, %d now", before-left, before, used, w.slow.Used(), evicted, w.slow.Evicted())
	}
	w.seen.count("withdrawn in part", left > 0 && left < before)
}

// copy begins to copy entries of a request that can be read.
func (w *tierWorld) copy(r *tierRequest) {
	from := int32(w.pick(int(max(r.entries, r.filled) + 1)))
	to := from
	for e := w.slow.entry(&r.slow, to); e != nil && e.readers >= 0 && w.pick(8) > 0; e = w.slow.entry(&r.slow, to) {
		w.seen.count("copy of an entry being read", e.readers > 0)
		w.seen.count("entry copied twice at a time", e.copies > 0)
		to++
	}
	loading := w.slow.Loading(&r.slow, from, to)
	intervals := w.fast.tree.intervals.inUse()
	w.fast.BeginCopy(&r.fast, from, to)
	w.slow.BeginCopy(&r.slow, from, to)
	w.seen.count("copy of part of an interval", w.fast.tree.intervals.inUse() > intervals)
	if w.fast.Loading(&r.fast, from, to) != loading || w.slow.Loading(&r.slow, from, to) != loading {
		w.fatal("a copy of entries %d to %d is seen as a load", from, to)
	}
	r.copies = append(r.copies, [2]int32{from, to})
	w.copies += int(to - from)
}

func (w *tierWorld) endCopy(r *tierRequest) {
	if len(r.copies) == 0 {
		return
	}
	i := w.pick(len(r.copies))
	c := r.copies[i]
	r.copies = slices.Delete(r.copies, i, i+1)
	w.fast.EndCopy(&r.fast, c[0], c[1])
	w.slow.EndCopy(&r.slow, c[0], c[1])
	w.copies -= int(c[1] - c[0])
}

// remove removes entries of a request that nobody reads.
func (w *tierWorld) remove(r *tierRequest) {
	from := int32(w.pick(int(max(r.entries, r.filled) + 1)))
	to := from
	for e := w.slow.entry(&r.slow, to); e != nil && e.readers == 0 && e.copies == 0 && w.pick(8) > 0; e = w.slow.entry(&r.slow, to) {
		w.seen.count("entry of a named segment removed", e.named)
		w.seen.count("own entry removed", !e.named)
		to++
	}
	used, evicted, intervals := w.slow.Used(), w.slow.Evicted(), w.fast.tree.intervals.inUse()
	w.fast.Remove(&r.fast, from, to)
	w.slow.Remove(&r.slow, from, to)
	if w.slow.Used() != used-int(to-from) || w.slow.Evicted() != evicted {
		w.fatal("%d entries removed: %d used before, %d now; %d evicted before, %d now", to-from, used, w.slow.Used(), evicted, w.slow.Evicted())
	}
	w.seen.count("removal from within an interval", w.fast.tree.intervals.inUse() > intervals)
}

// comparePromoting compares which entries of a request are being promoted.
func (w *tierWorld) comparePromoting(r *tierRequest) {
	for i := range max(r.entries, r.filled) + 3 {
		fast, slow := w.fast.Promoting(&r.fast, i), w.slow.Promoting(&r.slow, i)
		if fast != slow {
			w.fatal("entry %d of request %d promoted: tier %v, twin %v", i, r.id, fast, slow)
		}
		w.seen.count("entry promoted by another", slow && !w.slow.Writing(&r.slow, i))
	}
}
