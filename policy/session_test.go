package policy

import (
	"math/rand/v2"
	"testing"
)

// TestSessionMemoryEqualsPlainLRU compares it with a list, mostly full.
func TestSessionMemoryEqualsPlainLRU(t *testing.T) {
	forgotten := 0
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 11))
		capacity, sessions := 1+rng.IntN(20), 1+rng.IntN(40)
		fast, slow := newSessionMemory(capacity), &twinSessions{capacity: capacity}
		seen := map[uint64]bool{}
		for step := range 500 {
			session := rng.Uint64N(uint64(sessions)) << (seed % 3 * 28)
			want := int32(-1)
			if at := slow.find(session); at >= 0 {
				want = int32(slow.list[at].instance)
			} else if seen[session] {
				forgotten++
			}
			if got := fast.last(session); got != want {
				t.Fatalf("seed %d, step %d: session %d was on %d, want %d", seed, step, session, got, want)
			}
			if rng.IntN(3) == 0 {
				continue // to ask is no use
			}
			seen[session] = true
			instance := rng.IntN(300)
			fast.record(session, instance)
			slow.record(session, instance)
			if fast.where.Len() != len(slow.list) {
				t.Fatalf("seed %d, step %d: %d sessions, want %d", seed, step, fast.where.Len(), len(slow.list))
			}
		}
	}
	if forgotten < 1000 {
		t.Errorf("too little is tested: only %d forgotten sessions came back", forgotten)
	}
}

func TestSessionMemoryStopsGrowing(t *testing.T) {
	m := newSessionMemory(1000)
	session := uint64(0)
	feed := func() {
		for range 3000 {
			session++
			m.record(session%1700, int(session%7))
		}
	}
	feed()
	if allocations := testing.AllocsPerRun(5, feed); allocations != 0 {
		t.Errorf("%v allocations in steady state, want 0", allocations)
	}
	if len(m.visits) != 1001 || m.where.Len() != 1000 {
		t.Errorf("%d visits, %d sessions, want the capacity", len(m.visits)-1, m.where.Len())
	}
}
