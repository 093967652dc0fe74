package engine

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"blis/vtime"
	"blis/vtime/heap"
)

// wheel files the members of the cohort under the formation of their last token.
// Each of the next wheelSize formations has a list, linked through the slots:
//
//	formation modulo size   0   1   2   3   4 …
//	heads                   –   A   –   C   –
//	                            B
//
// A member that ends costs the cache line of its slot, which is needed anyway; a
// heap would cost half a dozen more. Members that end later wait in a heap.
type wheel struct {
	heads [wheelSize]int32       // by formation modulo size: its first slot + 1, 0: none
	set   [wheelSize / 64]uint64 // the formations that have one
	first int64                  // the earliest of them, never: none
	later []timer                // heap of (last formation, order), those that left early included

	taken    []int32 // what take returned last
	requests *requests
}

const (
	wheelSize = 1024
	// wheelReach keeps formations that are being retired and those that are
	// being filed apart.
	wheelReach = wheelSize - 8
)

const never = int64(vtime.Never)

// add files slot i, which ends in formation last; formed is the latest.
func (w *wheel) add(i int32, last, formed int64) {
	s := w.requests.at(i)
	if last-formed > wheelReach {
		w.later = heap.Push(w.later, timer{last, s.order, member{i, s.ID}})
		return
	}
	b := last % wheelSize
	s.chain, w.heads[b] = w.heads[b], i+1
	w.set[b/64] |= 1 << (b % 64)
	w.first = min(w.first, last)
}

// remove takes slot i out before its time. One in the heap becomes stale there.
func (w *wheel) remove(i int32, last int64) {
	b := last % wheelSize
	for at := &w.heads[b]; *at != 0; at = &w.requests.at(*at - 1).chain {
		if *at == i+1 {
			*at = w.requests.at(i).chain
			if w.heads[b] == 0 {
				w.emptied(last)
			}
			return
		}
	}
}

// emptied takes note that no member ends in formation last any more.
func (w *wheel) emptied(last int64) {
	b := last % wheelSize
	w.set[b/64] &^= 1 << (b % 64)
	if last == w.first {
		w.first = w.after(last)
	}
}

// after returns the first formation after the given one, in which no member ends, in
// which one does.
func (w *wheel) after(last int64) int64 {
	b := int(last % wheelSize)
	for k := range len(w.set) + 1 {
		word := w.set[(b/64+k)%len(w.set)]
		if k == 0 {
			word &= math.MaxUint64 << (b % 64)
		}
		if word != 0 {
			at := (b/64+k)%len(w.set)*64 + bits.TrailingZeros64(word)
			return last + int64((at-b+wheelSize)%wheelSize)
		}
	}
	return never
}

// next returns a formation before which no member ends, never if there is none.
func (w *wheel) next() int64 {
	if len(w.later) > 0 {
		return min(w.first, w.later[0].at)
	}
	return w.first
}

// take removes and returns the members that end in formation last, which is
// next, in the order of admission. The list is valid until the next call.
func (w *wheel) take(last int64) []int32 {
	list := w.taken[:0]
	if last == w.first {
		b := last % wheelSize
		for at := w.heads[b]; at != 0; at = w.requests.at(at - 1).chain {
			list = append(list, at-1)
		}
		w.heads[b] = 0
		w.emptied(last)
	}
	for len(w.later) > 0 && w.later[0].at == last {
		if d := &w.later[0]; w.holds(d) {
			list = append(list, d.slot)
		}
		w.later = heap.Pop(w.later)
	}
	if len(list) > 1 {
		slices.SortFunc(list, func(x, y int32) int { return cmp.Compare(w.requests.at(x).order, w.requests.at(y).order) })
	}
	w.taken = list
	return list
}

// holds reports whether the slot of d is still the member that it was filed
// as.
func (w *wheel) holds(d *timer) bool {
	s := w.requests.at(d.slot)
	return s.ID == d.id && s.phase == decoding && s.order == d.number
}

// each calls f for every member, in no order that matters. f may end its
// membership; when it ends all of them, the wheel is to be cleared afterwards.
func (w *wheel) each(f func(i int32)) {
	for k := range w.set {
		for word := w.set[k]; word != 0; word &= word - 1 {
			for at := w.heads[64*k+bits.TrailingZeros64(word)]; at != 0; {
				i := at - 1
				at = w.requests.at(i).chain
				f(i)
			}
		}
	}
	later := w.later // the last membership to end empties it
	for k := range later {
		if w.holds(&later[k]) {
			f(later[k].slot)
		}
	}
}

// clear removes all members.
func (w *wheel) clear() {
	for k, word := range w.set {
		for ; word != 0; word &= word - 1 {
			w.heads[64*k+bits.TrailingZeros64(word)] = 0
		}
		w.set[k] = 0
	}
	w.first, w.later = never, w.later[:0]
}
