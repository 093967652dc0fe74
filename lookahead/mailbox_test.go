package lookahead

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blis/vtime"
)

// The mailbox against its twin, a slice that is sorted.
func TestMailboxReadsInTheOrderOfStamps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := &node{stock: &stock{depot: &depot{}}}
		m := &mailbox{node: n}
		n.mailbox.node = n
		var twin []Stamp
		floor := vtime.Time(0)
		seqs := map[ProcessID]uint64{}
		for range rapid.IntRange(1, 12).Draw(t, "rounds") {
			for range rapid.IntRange(0, 4).Draw(t, "frames") {
				source := ProcessID(rapid.IntRange(0, 4).Draw(t, "source"))
				f := n.stock.take()
				f.start(source)
				for range rapid.IntRange(1, 5).Draw(t, "messages") {
					seqs[source]++
					s := Stamp{floor + vtime.Time(rapid.IntRange(0, 6).Draw(t, "at")), uint8(rapid.IntRange(0, 2).Draw(t, "class")), uint32(source), seqs[source]}
					f.open(s, 0, 0)
					twin = append(twin, s)
				}
				if err := f.finish(&sorter{}); err != nil {
					t.Fatal(err)
				}
				m.PostUserMessage(f)
			}
			slices.SortFunc(twin, func(a, b Stamp) int {
				if a.Less(b) {
					return -1
				}
				return 1
			})
			m.absorb()
			for range rapid.IntRange(0, 8).Draw(t, "reads") {
				f := m.top()
				if f == nil {
					break
				}
				if f.head.stamp != twin[0] || m.head() != twin[0].Key() {
					t.Fatalf("read %v, want %v", f.head.stamp, twin[0])
				}
				floor = f.head.stamp.At + 1
				twin = twin[1:]
				m.advance(f, f.head.body)
			}
			if m.top() == nil && len(twin) > 0 {
				t.Fatalf("%d messages are lost", len(twin))
			}
		}
	})
}

// The fleet's minima against looking at every leaf.
func TestFleetKnowsItsMinima(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &fleet{}
		key := func(what string) Key {
			if rapid.IntRange(0, 9).Draw(t, "never") == 0 {
				return NeverKey
			}
			return Key{vtime.Time(rapid.IntRange(0, 50).Draw(t, what)), uint8(rapid.IntRange(0, 2).Draw(t, "class"))}
		}
		for range rapid.IntRange(1, 40).Draw(t, "leaves") {
			l := &pholdLeaf{}
			n := &node{process: l}
			if rapid.Bool().Draw(t, "steady") {
				n.publisher = steadyLeaf{l}
			}
			if k := key("next"); !k.IsNever() {
				l.push(k)
			}
			f.add(n)
		}
		for range 10 {
			slot := rapid.IntRange(0, len(f.nodes)-1).Draw(t, "slot")
			if k := key("mail"); !k.IsNever() {
				f.note(slot, k)
			}
			want := never
			for i := range f.due {
				want.include(summary{f.due[i], f.promise[i], f.steady[i]})
			}
			if got := f.minima(); got != want {
				t.Fatalf("minima %v, want %v", got, want)
			}
			h, need, told := key("horizon"), key("need"), key("told")
			all := need.IsNever() && told.IsNever()
			var slow []*node
			for i, n := range f.nodes {
				if f.due[i].Less(h) && (all || f.steady[i].Less(need) || f.promise[i].Less(told)) {
					slow = append(slow, n)
				}
			}
			if got := f.behind(nil, h, need, told); !slices.Equal(got, slow) {
				t.Fatalf("%d behind %v, want %d", len(got), h, len(slow))
			}
			first, due := f.first()
			if i := slices.Index(f.due, want.due); due != want.due || !due.IsNever() && f.nodes[i] != first {
				t.Fatalf("first at %v, want leaf %d at %v", due, i, want.due)
			}
		}
	})
}

// Frames that one worker spends must reach one that needs them.
func TestStockBalances(t *testing.T) {
	d := &depot{}
	a, b := &stock{depot: d}, &stock{depot: d}
	made := map[*frame]bool{}
	for range 1000 {
		for range 40 {
			f := a.take()
			made[f] = true
			b.put(f)
		}
	}
	if len(made) > 5*stockBatch {
		t.Errorf("%d frames made for 40 in use", len(made))
	}
}
