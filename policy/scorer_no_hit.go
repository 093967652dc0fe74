package policy

import (
	"cmp"
	"slices"

	"blis/prefixindex"
)

// noHitRow is llm-d's no-hit-lru-scorer. A cold request, one of which no candidate is
// expected to have a block, makes new blocks wherever it goes. The scorer spreads these:
// the candidates that never got a cold request come first, in their order, then those that
// got one longest ago; candidate number rank of n scores 1 − rank/(n−1), a single one 1.
// All candidates score 0.5 for a request that has a hit somewhere, so that others decide.
var noHitRow = scorerRow{name: "no-hit-lru", weight: "0", observes: Prefixes,
	help: "for a prompt of which no candidate is expected to have a block, from 1 where no such prompt went, or longest ago, to 0 where the last one went; else 0.5 for all"}

// noHit is the state of no-hit-lru. Every cold request changes the scores of many
// instances, so they are computed for all at once, and only when they may have changed.
type noHit struct {
	last   []int64 // by instance: number of the last cold request that went there; 0, or no entry: none did
	number int64   // of the last cold request
	cold   bool    // no candidate has a block of the prompt looked at last

	order     []int32 // rows by the last cold request, then by instance
	candidate []bool  // by row, as of the last ranking
	shown     noHitShares
}

// noHitShares is what the shares of a no-hit-lru scorer are.
type noHitShares uint8

const (
	outdated noHitShares = iota
	neutral              // the same for all
	ranks                // by order
)

// reset takes in other rows.
func (h *noHit) reset(view *View, instances []int32) {
	for len(h.last) < view.Len() {
		h.last = append(h.last, 0)
	}
	h.shown = outdated
	h.candidate = resize(h.candidate, len(instances))
	h.order = resize(h.order, len(instances))
	for row := range h.order {
		h.order[row] = int32(row)
	}
	slices.SortFunc(h.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(h.last[instances[a]], h.last[instances[b]]), cmp.Compare(a, b))
	})
}

// update takes in that an instance may have become routable, or is no more.
func (h *noHit) update(row int, routable bool) {
	if h.shown == ranks && h.candidate[row] != routable {
		h.shown = outdated
	}
}

// routed takes in that the request looked at last went to an instance, whose row it is
// given, −1 for none.
func (h *noHit) routed(instance, row int) {
	if !h.cold {
		return
	}
	h.number++
	for instance >= len(h.last) {
		h.last = append(h.last, 0)
	}
	h.last[instance] = h.number
	if at := slices.Index(h.order, int32(row)); at >= 0 {
		h.order = append(slices.Delete(h.order, at, at+1), int32(row))
		h.shown = outdated
	}
}

// score makes the shares of a scorer of that weight right for a request, which is cold or
// not. It reports whether they changed.
func (h *noHit) score(view *View, instances []int32, weight float64, shares []float64) (changed bool) {
	want := neutral
	if h.cold {
		want = ranks
	}
	if h.shown == want {
		return false
	}
	h.shown = want
	if !h.cold {
		for row := range shares {
			shares[row] = float64(weight * 0.5)
		}
		return true
	}
	n := 0
	for row, i := range instances {
		if h.candidate[row] = view.Routable(int(i)); h.candidate[row] {
			n++
		}
	}
	rank := 0
	for _, row := range h.order {
		if h.candidate[row] {
			shares[row] = float64(weight * rankScore(rank, n))
			rank++
		}
	}
	return true
}

// rankScore returns the score of candidate number rank, from 0, of n.
func rankScore(rank, n int) float64 {
	if n < 2 {
		return 1
	}
	return 1 - float64(rank)/float64(n-1)
}

// scoreNoHit makes the kept scores those for the request whose prompt was looked up.
func (w *weighted) scoreNoHit(view *View) {
	s := &w.scorers[w.noHit]
	s.noHit.cold = !slices.ContainsFunc(w.index.Holders(), func(h prefixindex.Holder) bool { return w.candidate(int(h.Instance)) >= 0 })
	if s.noHit.score(view, w.rows.instances, s.weight, s.shares) {
		w.scoreAll(view.slots)
	}
}
