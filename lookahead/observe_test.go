package lookahead

import "testing"

// A message that a process sends before it observes its receiver is part of
// what it observes, in one turn or in several.
func TestObservationAfterOwnMessage(t *testing.T) {
	for _, c := range []struct {
		name           string
		effectAt, read Key
		want           int
	}{
		{"received by then", Key{At: 20}, at(50, 1), 1},
		{"received in the instant before", Key{At: 50}, at(50, 1), 1},
		{"not to be seen by then", at(50, 1), at(50, 1), 0},
	} {
		for _, workers := range []int{1, 2} {
			s := New(Config{Workers: workers, InlineBelow: -1, Reply: func(Key) Key { return NeverKey }})
			leaf := &script{}
			router, seen := &script{events: []Key{at(10, 2), c.read}}, -1
			router.observe = func() Observation {
				if len(router.events) == 0 {
					return Observation{At: NeverKey}
				}
				return Observation{At: c.read, Until: c.read.Next(), StateBefore: c.read, LeafLimit: c.read}
			}
			router.event = func(k Key, out *Outbox) {
				if k == c.read {
					seen = len(leaf.log)
					return
				}
				out.BeginWithEffectAt(FirstLeaf, c.effectAt, c.effectAt, 0, 0)
				out.End()
			}
			s.AddControl("router", router)
			s.AddLeaf("leaf", leaf)
			if finish(t, s); seen != c.want {
				t.Errorf("%s, %d workers: saw %d messages received, want %d", c.name, workers, seen, c.want)
			}
		}
	}
}
