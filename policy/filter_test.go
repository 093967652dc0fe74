package policy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/vtime"
)

// twinLimits are those of the twin.
type twinLimits struct {
	queue, inFlight, running int32
	kv                       float64
}

// naiveFiltered is a view in which instances that are left out are not routable, made anew, and those instances.
func naiveFiltered(view *View, most twinLimits) (masked *View, out []int32) {
	masked = &View{MaxNumSeqs: view.MaxNumSeqs}
	passed := 0
	for i, s := range view.slots {
		wanting := s.Queue > most.queue || s.InFlight > most.inFlight || s.Batch > most.running || float64(s.Used) > most.kv*float64(s.Total)
		switch {
		case s.Routable && wanting:
			out = append(out, int32(i))
		case s.Routable:
			passed++
		}
	}
	for i, s := range view.slots {
		s.Routable = s.Routable && (passed == 0 || !slices.Contains(out, int32(i)))
		masked.Add(s)
	}
	if passed == 0 {
		out = nil
	}
	return masked, out
}

// seenBehindFilters is the view that a policy with filters was given.
func seenBehindFilters(r Routing) *View {
	if f, ok := r.(*filteredExplainer); ok {
		return f.view
	}
	return r.(*filtered).view
}

// Filtered policies decide as policies that never saw the instances left out, while instances change, come and go.
func TestFiltersEqualTheirTwin(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 11))
		name := []string{"least-loaded", "weighted", "power-of-two", "round-robin", "always-busiest"}[seed%5]
		settings, most := []Setting{{"max_queue", "3"}, {"max_kv", "0.6"}}, twinLimits{3, math.MaxInt32, math.MaxInt32, 0.6}
		if seed%4 == 1 {
			settings, most = []Setting{{"max_in_flight", "2"}, {"max_running", "1"}}, twinLimits{math.MaxInt32, 2, 1, 1}
		}
		var plain []Setting
		if name == "weighted" {
			plain = []Setting{{"queue-depth", "1"}, {"kv-utilization", "1"}}
		}
		env := Env{BlockSize: 16, Draws: NewDraws(seed)}
		filtered := mustRoute(t, name, env, append(slices.Clone(plain), settings...)...)
		twin := mustRoute(t, name, env, plain...)
		view := randomView(rng, 1+rng.IntN(9))
		left := 0
		for n := range 300 {
			for range rng.IntN(4) {
				s := randomSlot(rng)
				if rng.IntN(3) == 0 {
					s.Queue, s.Used, s.InFlight = 9, s.Total, 9 // one more that is left out
				}
				if i := rng.IntN(view.Len() + 1); i < view.Len() {
					view.Set(i, s)
					state := InstanceState{Own: [MaxOwnSignals]float64{1: rng.Float64()}}
					state.CachedTokens, state.LookedUpTokens = rng.Int64N(9), 9
					view.ShowSignals(i, &state, HitRate|OwnSignals)
				} else if view.Len() < 14 {
					view.Add(s)
				}
			}
			req := &Request{}
			req.ID = int64(n)
			masked, out := naiveFiltered(view, most)
			view.Declared, masked.Declared = filtered.Observes(), twin.Observes()
			want := twin.Route(req, 0, &RouterState{}, masked, vtime.Time(n))
			got := filtered.Route(req, 0, &RouterState{}, view, vtime.Time(n))
			if got.Target != want.Target || got.Reason != want.Reason || !slices.Equal(got.Scores, want.Scores) || !slices.Equal(got.FilteredOut, out) {
				t.Fatalf("seed %d, %s, decision %d: %+v, want %+v without %v", seed, name, n, got, want, out)
			}
			if seen := seenBehindFilters(filtered); !slices.Equal(seen.services, view.services) || !slices.Equal(seen.own, view.own) {
				t.Fatalf("seed %d, %s, decision %d: the policy behind the filters sees services %v and own signals %v, want %v and %v", seed, name, n, seen.services, seen.own, view.services, view.own)
			}
			if len(out) > 0 {
				left++
			}
		}
		if left < 30 {
			t.Errorf("seed %d: instances were left out in %d decisions: too few", seed, left)
		}
	}
}

// Between two decisions the only instance that passes fills up, and another one frees: in between none passes.
func TestFiltersWhenAnotherInstancePasses(t *testing.T) {
	p := mustRoute(t, "least-loaded", Env{BlockSize: 16, Draws: NewDraws(1)}, Setting{"max_queue", "3"})
	view := &View{}
	for _, queue := range []int32{9, 0, 9} {
		view.Add(Slot{Queue: queue, Total: 1, Routable: true})
	}
	view.Declared = p.Observes()
	for k, want := range []int{1, 2} {
		if k == 1 {
			view.Set(1, Slot{Queue: 7, Total: 1, Routable: true})
			view.Set(0, Slot{Queue: 8, Total: 1, Routable: true})
			view.Set(2, Slot{Queue: 3, Batch: 50, Total: 1, Routable: true})
		}
		if d := p.Route(&Request{}, 0, &RouterState{}, view, 0); d.Target != want {
			t.Errorf("decision %d: %+v, want instance %d", k, d, want)
		}
	}
}

// A policy with a filter that is asked about one view and then about another decides as one that is new.
func TestFiltersFollowAnotherView(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 12))
	for _, name := range []string{"least-loaded", "weighted"} {
		make := func() Routing {
			return mustRoute(t, name, Env{BlockSize: 16, Draws: NewDraws(1)}, Setting{"max_queue", "3"})
		}
		old := make()
		for n := range 200 {
			view := randomView(rng, 1+rng.IntN(6))
			view.Declared = old.Observes()
			want, got := make().Route(&Request{}, 0, &RouterState{}, view, 0), old.Route(&Request{}, 0, &RouterState{}, view, 0)
			if got.Target != want.Target || !slices.Equal(got.FilteredOut, want.FilteredOut) {
				t.Fatalf("%s, view %d: %+v, want %+v", name, n, got, want)
			}
		}
	}
}

func TestFiltersObserveWhatTheyRead(t *testing.T) {
	env := Env{BlockSize: 16}
	for _, c := range []struct {
		settings []Setting
		want     Signals
	}{
		{nil, NoSignals},
		{[]Setting{{"max_kv", "1"}}, NoSignals},
		{[]Setting{{"max_kv", "0.9"}}, KVUse},
		{[]Setting{{"max_queue", "0"}}, QueueDepth},
		{[]Setting{{"max_queue", "4"}, {"max_kv", "0"}}, QueueDepth | KVUse},
		{[]Setting{{"max_in_flight", "4"}}, InFlight},
		{[]Setting{{"max_running", "4"}}, BatchSize},
	} {
		if got := mustRoute(t, "round-robin", env, c.settings...).Observes(); got != c.want {
			t.Errorf("%v observes %v, want %v", c.settings, got, c.want)
		}
	}
	weighted := mustRoute(t, "weighted", env, Setting{"queue-depth", "1"}, Setting{"max_kv", "0.9"})
	if e, ok := weighted.(Explainer); !ok || !slices.Equal(e.Scorers(), []string{"queue-depth"}) {
		t.Error("a weighted policy with filters explains nothing")
	}
	if _, ok := mustRoute(t, "round-robin", env, Setting{"max_kv", "0.9"}).(Explainer); ok {
		t.Error("round-robin with filters explains scores")
	}
}
