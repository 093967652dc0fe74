package lookahead

import "testing"

// A periodic event that a message makes possible is not part of the turn that
// read the message: it happens only if something is left to do after it, and
// then sees everything before it.
func TestPeriodicEventMadePossibleByAMessage(t *testing.T) {
	for _, c := range []struct {
		name string
		last Key // event of the leaf
		want int // periodic events
	}{
		{"nothing is left", at(10, 6), 0},
		{"something is left", at(20, 6), 1},
	} {
		for mode, cfg := range modes() {
			cfg.Notices = unanswered()
			s := New(cfg)
			leaf := &script{events: []Key{at(5, 6), at(10, 5)}, promise: NeverKey}
			leaf.events = append(leaf.events, c.last)
			router := &script{events: []Key{at(10, 0)}, promise: at(10, 9)}
			router.event = func(k Key, out *Outbox) {
				router.promise = NeverKey
				send(out, 1, Key{At: k.At, Class: 9})
			}
			asked, stood := 0, 0
			scaler := &script{}
			scaler.receive = func(m *Message, _ *Outbox) { scaler.periodic = []Key{m.Stamp.Key()} }
			scaler.event = func(Key, *Outbox) { asked++; stood = len(leaf.log) }
			s.AddControl("router", router)
			s.AddControl("scaler", scaler)
			s.AddLeaf("leaf", leaf)
			finish(t, s)
			if asked != c.want || asked > 0 && stood != 2 {
				t.Errorf("%s, %s: %d periodic events, after %d events of the leaf; want %d, after 2", c.name, mode, asked, stood, c.want)
			}
		}
	}
}
