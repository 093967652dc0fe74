package lookahead

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blis/vtime"
)

// The fleet's minima against a look at every leaf, in trees of one level and of
// several, after turns of many leaves and after mail.
func TestFleetKnowsItsMinima(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &fleet{}
		key := func(what string) Key {
			if rapid.IntRange(0, 9).Draw(t, "never") == 0 {
				return NeverKey
			}
			return Key{vtime.Time(rapid.IntRange(0, 50).Draw(t, what)), uint8(rapid.IntRange(0, 2).Draw(t, "class"))}
		}
		var leaves []*pholdLeaf
		for range rapid.SampledFrom([]int{1, 2, 7, 8, 9, 40, 65, 513}).Draw(t, "leaves") {
			l := &pholdLeaf{}
			n := &node{process: l}
			if rapid.Bool().Draw(t, "stable") {
				n.optional.publisher = stableLeaf{l}
			}
			if len(leaves)%7 == 0 { // the others have nothing to do
				l.push(key("next"))
			}
			f.add(n)
			leaves = append(leaves, l)
		}
		for range 10 {
			slot := rapid.IntRange(0, len(f.nodes)-1).Draw(t, "slot")
			if k := key("mail"); !k.IsNever() {
				f.noteMail(slot, k, key("effect"))
			}
			var ran []int32
			for range rapid.SampledFrom([]int{0, 1, 3, len(f.nodes)}).Draw(t, "turns") {
				slot := rapid.IntRange(0, len(f.nodes)-1).Draw(t, "turn")
				leaves[slot].agenda = agenda{}
				leaves[slot].push(key("then"))
				f.update(f.nodes[slot])
				ran = append(ran, int32(slot))
			}
			slices.Sort(ran)
			f.refreshAll(slices.Compact(ran))
			checkMinima(t, f)
			checkSelected(t, f, key("horizon"), key("state before"), key("notify before"))
		}
	})
}

func checkMinima(t *rapid.T, f *fleet) {
	want := summary{NeverKey, NeverKey, NeverKey}
	for i := range f.nodes {
		want.due = Earliest(want.due, f.due.key(i))
		want.promise = Earliest(want.promise, f.promise.key(i))
		want.stableUntil = Earliest(want.stableUntil, f.stableUntil.key(i))
	}
	if got := f.summary(); got != want {
		t.Fatalf("minima %v, want %v", got, want)
	}
	first, due := f.first()
	i := slices.Index(f.due.levels[0], want.due)
	if due != want.due || !due.IsNever() && f.nodes[i] != first {
		t.Fatalf("first at %v, want leaf %d at %v", due, i, want.due)
	}
}

func checkSelected(t *rapid.T, f *fleet, h, stateBefore, notifyBefore Key) {
	all := stateBefore.IsNever() && notifyBefore.IsNever()
	var slow []int32
	for i := range f.nodes {
		if f.due.key(i).Less(h) && (all || f.stableUntil.key(i).Less(stateBefore) || f.promise.key(i).Less(notifyBefore)) {
			slow = append(slow, int32(i))
		}
	}
	if got := f.selectLeaves(nil, h, stateBefore, notifyBefore); !slices.Equal(got, slow) {
		t.Fatalf("%d leaves selected before %v, want %d", len(got), h, len(slow))
	}
}
