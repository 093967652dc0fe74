package lookahead

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blis/vtime"
)

// notifier is a leaf with promises for other kinds of notices.
type notifier [NoticeKinds]Key

func (l *notifier) PromiseOf(k NoticeKind) Key { return l[k] }

// The fleet's minima against a look at every leaf, in trees of one level and of
// several, after turns of many leaves and after mail.
func TestFleetKnowsItsMinima(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &fleet{}
		kinds := rapid.SampledFrom([]kindSet{1, 2, 3, 0b10000101}).Draw(t, "kinds")
		f.use(kinds & 1) // the others when there are leaves
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
			if rapid.Bool().Draw(t, "notifier") {
				promises := &notifier{}
				for k := range promises {
					promises[k] = key("promise")
				}
				n.optional.notifier = promises
			}
			if len(leaves)%7 == 0 { // the others have nothing to do
				l.push(key("next"))
			}
			f.add(n)
			leaves = append(leaves, l)
		}
		f.use(kinds)
		for slot, n := range f.nodes {
			f.update(n)
			f.refresh(slot)
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
			checkSelected(t, f, key("horizon"), key("state before"), key("notify before"), kinds&^rapid.SampledFrom([]kindSet{0, 1, 4}).Draw(t, "without"))
		}
	})
}

func checkMinima(t *rapid.T, f *fleet) {
	want := summary{due: NeverKey, stableUntil: NeverKey, kinds: f.kinds}
	for k := range NoticeKinds {
		if f.kinds.has(NoticeKind(k)) {
			want.promise[k] = NeverKey
		}
	}
	var got summary
	for i := range f.nodes {
		want.due = Earliest(want.due, f.due.key(i))
		for k := range NoticeKinds {
			if f.kinds.has(NoticeKind(k)) {
				want.promise[k] = Earliest(want.promise[k], f.promise[k].key(i))
			}
		}
		want.stableUntil = Earliest(want.stableUntil, f.stableUntil.key(i))
	}
	if f.summarize(&got); got != want {
		t.Fatalf("minima %v, want %v", got, want)
	}
	first, due := f.first()
	i := slices.Index(f.due.levels[0], want.due)
	if due != want.due || !due.IsNever() && f.nodes[i] != first {
		t.Fatalf("first at %v, want leaf %d at %v", due, i, want.due)
	}
}

func checkSelected(t *rapid.T, f *fleet, h, stateBefore, notifyBefore Key, kinds kindSet) {
	notifies := func(i int) bool {
		for k := range NoticeKinds {
			if kinds.has(NoticeKind(k)) && f.promise[k].key(i).Less(notifyBefore) {
				return true
			}
		}
		return false
	}
	all := stateBefore.IsNever() && notifyBefore.IsNever()
	var slow []int32
	for i := range f.nodes {
		if f.due.key(i).Less(h) && (all || f.stableUntil.key(i).Less(stateBefore) || notifies(i)) {
			slow = append(slow, int32(i))
		}
	}
	if got := f.selectLeaves(nil, h, stateBefore, notifyBefore, kinds); !slices.Equal(got, slow) {
		t.Fatalf("%d leaves selected before %v, want %d", len(got), h, len(slow))
	}
}
