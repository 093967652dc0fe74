package lookahead

import "testing"

// patient is a leaf that publishes nothing: it is stable for ever.
type patient struct{ *script }

func (patient) StableUntil() Key { return NeverKey }

// A leaf that no process waits for must not keep a sink from reading for ever: it
// stands at an early event while another leaf sends the sink more and more.
func TestLeavesThatStandStillDoNotFillASink(t *testing.T) {
	const rounds, each = 200, 2_000
	s := New(Config{Notices: unanswered()})
	most := int64(0)
	router := &script{promise: NeverKey}
	for i := range int64(rounds) {
		router.events = append(router.events, at(1000*(i+1), 0))
	}
	router.observe = func() Observation {
		k := router.Next()
		return Observation{At: k, Until: k.Next(), StateBefore: k, LeafLimit: k}
	}
	router.event = func(Key, *Outbox) { most = max(most, s.loop.sinks[0].mailbox.waiting.Load()) }
	talker := &script{promise: NeverKey}
	for i := range int64(rounds) {
		talker.events = append(talker.events, at(1000*i+500, 0))
	}
	talker.event = func(k Key, out *Outbox) {
		for range each {
			send(out, FirstSink, Key{At: k.At + 1})
		}
	}
	still := &script{events: []Key{at(1, 0), at(1000*rounds, 0)}, promise: NeverKey}
	sink := &script{}
	s.AddControl("router", router)
	s.AddLeaf("talker", talker)
	s.AddLeaf("still", patient{still})
	s.AddSink("sink", sink)
	finish(t, s)
	if len(sink.log) != rounds*each || len(still.log) != 2 {
		t.Errorf("the sink read %d messages, want %d; the leaf that stands still executed %d events, want 2", len(sink.log), rounds*each, len(still.log))
	}
	if limit := int64(sinkMax + 2*each); most > limit {
		t.Errorf("%d messages waited for the sink at once, want at most %d", most, limit)
	}
}
