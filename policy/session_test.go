package policy

import (
	"math/rand/v2"
	"testing"

	"blis/vtime"
	"blis/workload"
)

// TestSessionMemoryEqualsPlainLRU compares it with a list, mostly full.
func TestSessionMemoryEqualsPlainLRU(t *testing.T) {
	forgotten := 0
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 11))
		capacity, sessions := 1+rng.IntN(20), 1+rng.IntN(40)
		ttl, now := vtime.Duration(seed%4*20), vtime.Time(0)
		fast, slow := newSessionMemory(capacity, ttl), &twinSessions{capacity: capacity, ttl: ttl}
		seen := map[uint64]bool{}
		for step := range 500 {
			session := rng.Uint64N(uint64(sessions)) << (seed % 3 * 28)
			want := int32(-1)
			now = now.Add(vtime.Duration(rng.IntN(3)))
			if at := slow.find(session, now); at >= 0 {
				want = int32(slow.list[at].instance)
			} else if seen[session] {
				forgotten++
			}
			if got := fast.last(session, now); got != want {
				t.Fatalf("seed %d, step %d: session %d was on %d, want %d", seed, step, session, got, want)
			}
			if rng.IntN(3) == 0 {
				continue // to ask is no use
			}
			seen[session] = true
			instance := rng.IntN(300)
			fast.record(session, instance, now)
			slow.record(session, instance, now)
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
	m := newSessionMemory(1000, 0)
	session := uint64(0)
	feed := func() {
		for range 3000 {
			session++
			m.record(session%1700, int(session%7), 0)
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

// TestSessionAffinityForgets a session that is idle for session_ttl, not one in use.
func TestSessionAffinityForgets(t *testing.T) {
	p := mustRoute(t, "weighted", Env{BlockSize: 16}, Setting{"session-affinity", "1"}, Setting{"session_ttl", "10us"})
	view := loads(0, 0)
	for _, c := range []struct {
		at   vtime.Time
		want float64 // score of instance 1
	}{{0, 0}, {9, 1}, {18, 1}, {28, 0}, {29, 1}} {
		req := Request{Identity: workload.Identity{Session: 3}}
		if d := p.Route(&req, 0, &state, view, c.at); d.Scores[1] != c.want {
			t.Errorf("at %v: scores %v, want %v of instance 1", c.at, d.Scores, c.want)
		}
		p.(RouteObserver).OnRouted(&req, 1)
	}
}
