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
		n := &node{worker: &worker{frames: framePool{shared: &sharedPool{}}}}
		m := &mailbox{node: n}
		n.mailbox.node = n
		var twin []Stamp
		floor := vtime.Time(0)
		seqs := map[ProcessID]uint64{}
		for range rapid.IntRange(1, 12).Draw(t, "rounds") {
			for range rapid.IntRange(0, 4).Draw(t, "frames") {
				source := ProcessID(rapid.IntRange(0, 4).Draw(t, "source"))
				f := n.worker.frames.get()
				f.start(source)
				for range rapid.IntRange(1, 5).Draw(t, "messages") {
					seqs[source]++
					s := Stamp{floor + vtime.Time(rapid.IntRange(0, 6).Draw(t, "at")), uint8(rapid.IntRange(0, 2).Draw(t, "class")), uint32(source), seqs[source]}
					f.begin(s, 0, 0)
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

// Frames that one worker spends must reach a worker that needs them.
func TestFramePoolsBalance(t *testing.T) {
	d := &sharedPool{}
	a, b := &framePool{shared: d}, &framePool{shared: d}
	made := map[*frame]bool{}
	for range 1000 {
		for range 40 {
			f := a.get()
			made[f] = true
			b.put(f)
		}
	}
	if len(made) > 5*poolBatch {
		t.Errorf("%d frames made for 40 in use", len(made))
	}
}
