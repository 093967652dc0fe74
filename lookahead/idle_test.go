package lookahead

import (
	"fmt"
	"testing"
)

// Leaves without events must not be asked for each decision whether the run goes
// on: with a thousand idle leaves as many processes are asked as without.
func TestIdleLeavesAreNotAsked(t *testing.T) {
	asked := func(idle int, cfg Config) uint64 {
		const checks = 100
		cfg.Notices = unanswered()
		s := New(cfg)
		scaler := &script{}
		for i := range int64(checks) {
			scaler.periodic = append(scaler.periodic, at(10*(i+1), 9))
		}
		s.AddControl("scaler", scaler)
		for i := range idle {
			s.AddLeaf(fmt.Sprintf("idle/%d", i), &ticker{next: NeverKey})
		}
		s.AddLeaf("busy", &ticker{next: at(1, 6), period: 1, last: 20 * checks / 2})
		s.AddSink("sink", &script{})
		finish(t, s)
		if len(scaler.log) != checks-1 { // the last one comes when nothing is left
			t.Fatalf("%d checks, want %d", len(scaler.log), checks-1)
		}
		return s.Stats().Asked
	}
	for name, cfg := range modes() {
		few, many := asked(0, cfg), asked(1000, cfg)
		if few == 0 || few != many {
			t.Errorf("%s: %d visits without idle leaves, %d with a thousand", name, few, many)
		}
	}
}

// Only leaves with unposted frames to sinks are asked for them.
func TestOnlySinkSendersAreFlushed(t *testing.T) {
	asked := func(idle int) uint64 {
		s := New(Config{Workers: 1, Notices: unanswered()})
		s.AddControl("router", &script{})
		for i := range idle {
			s.AddLeaf(fmt.Sprintf("idle/%d", i), &ticker{next: NeverKey})
		}
		talker := &script{promise: NeverKey}
		for i := range int64(10) {
			talker.events = append(talker.events, at(i+1, 0))
		}
		talker.event = func(k Key, out *Outbox) { send(out, FirstSink, k.Next()) }
		s.AddLeaf("talker", aperiodic{talker})
		sink := &script{}
		s.AddSink("sink", sink)
		finish(t, s)
		if len(sink.log) != 10 {
			t.Fatalf("the sink read %d messages, want 10", len(sink.log))
		}
		return s.Stats().Asked
	}
	if few, many := asked(0), asked(1000); few == 0 || few != many {
		t.Errorf("%d visits without idle leaves, %d with a thousand", few, many)
	}
}

// aperiodic hides the periodic events of a process.
type aperiodic struct{ Process }
