package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/prefixindex"
	"blis/vtime"
	"blis/workload"
)

// mustRoute makes a routing policy from settings like "tie", "random".
func mustRoute(t testing.TB, name string, env Env, settings ...Setting) Routing {
	t.Helper()
	if env.Prefixes == nil {
		env.Prefixes = prefixindex.NewRouted(env.BlockSize, 0)
	}
	p, err := NewRouting(name, settings, env)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// state is shared: no routing policy here reads it.
var state RouterState

// route asks p, which may read what it declares, as the router does.
func route(p Routing, req *Request, view *View) RoutingDecision { return routeAt(p, req, view, 0) }

func routeAt(p Routing, req *Request, view *View, now vtime.Time) RoutingDecision {
	view.Declared = p.Observes()
	index := indexOf(p)
	if index != nil {
		index.Cover(view)
		index.Look(req.Input, req.Spans)
	}
	d := p.Route(req, 0, &state, view, now)
	if d.Target >= 0 {
		if index != nil {
			index.Record(d.Target)
		}
		if w, ok := p.(RouteObserver); ok {
			w.OnRouted(req, d.Target)
		}
	}
	return d
}

// indexOf is the prefix index that a policy reads, or its filters; nil: none.
func indexOf(p Routing) *prefixindex.Index {
	switch p := p.(type) {
	case *weighted:
		return p.index
	case *longestPrefix:
		return p.index
	case *filtered:
		return indexOf(p.inner)
	case *filteredExplainer:
		return indexOf(p.inner)
	case *narrowed:
		return p.index()
	case *narrowedExplainer:
		return p.index()
	}
	return nil
}

// viewOf makes a view of these.
func viewOf(slots ...Slot) *View {
	view := &View{}
	for _, s := range slots {
		view.Add(s)
	}
	return view
}

// loads makes a view of routable instances with these queue depths.
func loads(queue ...int32) *View {
	view := &View{}
	for _, q := range queue {
		view.Add(Slot{Queue: q, Routable: true, Total: 100})
	}
	return view
}

// close makes instances not routable.
func (v *View) close(instances ...int) *View {
	for _, i := range instances {
		s := v.Slot(i)
		s.Routable = false
		v.Set(i, s)
	}
	return v
}

func TestRoundRobin(t *testing.T) {
	for _, c := range []struct {
		name string
		view *View
		want []int
	}{
		{"in index order", loads(9, 0, 5), []int{0, 1, 2, 0, 1}},
		{"passes over instances that are not routable", loads(0, 0, 0, 0).close(0, 2), []int{1, 3, 1, 3}},
		{"none routable", loads(0, 0).close(0, 1), []int{-1, -1}},
		{"no instance", loads(), []int{-1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustRoute(t, "round-robin", Env{})
			for i, want := range c.want {
				if d := route(p, &Request{}, c.view); d.Target != want || (want < 0) != (d.Reason == NoInstance) {
					t.Fatalf("decision %d: %+v, want %d", i, d, want)
				}
			}
		})
	}
	t.Run("goes on when the cluster shrinks and grows", func(t *testing.T) {
		p := mustRoute(t, "round-robin", Env{})
		var got []int
		for _, n := range []int{4, 4, 4, 2, 2, 4, 4} {
			got = append(got, route(p, &Request{}, loads(make([]int32, n)...)).Target)
		}
		if want := []int{0, 1, 2, 0, 1, 2, 3}; !slices.Equal(got, want) {
			t.Errorf("targets %v, want %v", got, want)
		}
	})
}

func TestLeastLoaded(t *testing.T) {
	for _, c := range []struct {
		name string
		view *View
		want int
	}{
		{"smallest queue", loads(3, 1, 2), 1},
		{"the first of unequal loads", loads(1, 3, 2), 0},
		{"batch and in-flight count like the queue", viewOf(
			Slot{Queue: 1, Batch: 1, InFlight: 1, Routable: true}, Slot{Queue: 4, Routable: true}, Slot{Batch: 2, Routable: true}, Slot{InFlight: 4, Routable: true}), 2},
		{"KV use does not count", viewOf(Slot{Queue: 1, Routable: true}, Slot{Used: 90, Total: 100, Routable: true}), 1},
		{"not the idle one that is not routable", loads(0, 5, 7).close(0), 1},
		{"none routable", loads(0).close(0), -1},
		{"counts near the end of int32 do not wrap", viewOf(
			Slot{Queue: math.MaxInt32, Batch: math.MaxInt32, Routable: true}, Slot{Queue: 5, Routable: true}), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := route(mustRoute(t, "least-loaded", Env{}), &Request{}, c.view); d.Target != c.want {
				t.Errorf("%+v, want %d", d, c.want)
			}
		})
	}
}

func TestAlwaysBusiest(t *testing.T) {
	for _, c := range []struct {
		name string
		view *View
		want int
	}{
		{"longest queue", loads(3, 1, 4, 2), 2},
		{"batch and in-flight count like the queue", viewOf(Slot{Queue: 4, Routable: true}, Slot{Queue: 1, Batch: 2, InFlight: 3, Routable: true}), 1},
		{"not the busiest that is not routable", loads(1, 5, 7).close(2), 1},
		{"none routable", loads(3).close(0), -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := route(mustRoute(t, "always-busiest", Env{}), &Request{}, c.view)
			if d.Target != c.want || d.Reason != MostLoad && c.want >= 0 {
				t.Errorf("%+v, want %d", d, c.want)
			}
		})
	}
}

// TestPowerOfTwo counts 6,000 decisions: the less loaded of a pair, the first
// of equals, every pair as likely as any other.
func TestPowerOfTwo(t *testing.T) {
	for _, c := range []struct {
		name string
		view *View
		want []int // of 6,000, about
	}{
		{"two of three, the less loaded", loads(5, 3, 4), []int{0, 4000, 2000}},
		{"equals", loads(2, 2, 2), []int{2000, 2000, 2000}},
		{"two equals and a busier one", loads(2, 9, 2), []int{3000, 0, 3000}},
		{"four of six routable", loads(0, 4, 3, 2, 0, 1).close(0, 4), []int{0, 0, 1000, 2000, 0, 3000}},
		{"only two routable", loads(1, 0, 0, 2).close(1, 2), []int{6000, 0, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			const seed = 3
			p := mustRoute(t, "power-of-two", Env{Draws: NewDraws(seed)})
			got := make([]int, len(c.want))
			for id := range int64(6000) {
				d := route(p, &Request{Identity: workload.Identity{ID: id}}, c.view)
				if d.Reason != LessOfTwo {
					t.Fatalf("%+v", d)
				}
				got[d.Target]++
			}
			for i, want := range c.want {
				if off := got[i] - want; off < -200 || off > 200 || want == 0 && got[i] > 0 {
					t.Errorf("seed %d: %v, want about %v", seed, got, c.want)
				}
			}
		})
	}
	t.Run("no choice", func(t *testing.T) {
		p := mustRoute(t, "power-of-two", Env{})
		for _, c := range []struct {
			view *View
			want int
		}{{loads(7, 0, 0).close(1, 2), 0}, {loads(0, 0).close(0, 1), -1}, {loads(), -1}} {
			if d := route(p, &Request{}, c.view); d.Target != c.want {
				t.Errorf("%+v, want %d", d, c.want)
			}
		}
	})
}

// TestPoliciesReadOnlyWhatTheyDeclare changes every signal that a policy did
// not declare and expects the same decisions.
func TestPoliciesReadOnlyWhatTheyDeclare(t *testing.T) {
	const instances = 6
	rng := rand.New(rand.NewPCG(4, 4))
	for _, c := range []struct {
		name     string
		settings []Setting
		observes Signals
	}{
		{"round-robin", nil, NoSignals},
		{"least-loaded", nil, QueueDepth | BatchSize | InFlight},
		{"weighted", nil, QueueDepth | BatchSize | InFlight | KVUse | Prefixes},
		{"weighted", []Setting{{"prefix-affinity", "1"}}, Prefixes},
		{"weighted", []Setting{{"waiting-queue", "1"}, {"load-balance", "0"}}, QueueDepth},
		{"weighted", []Setting{{"kv-utilization", "1"}}, KVUse},
		{"weighted", []Setting{{"load-balance", "1"}}, QueueDepth | BatchSize | InFlight},
		{"weighted", []Setting{{"active-requests", "1"}}, InFlight},
		{"weighted", []Setting{{"session-affinity", "1"}, {"waiting-queue", "1"}}, QueueDepth},
		{"weighted", []Setting{{"session-affinity", "1"}}, NoSignals},
		{"weighted", []Setting{{"running-requests", "1"}}, BatchSize},
		{"weighted", []Setting{{"vllm-dp", "1"}}, QueueDepth | BatchSize},
		{"weighted", []Setting{{"no-hit-lru", "1"}}, Prefixes},
		{"weighted", []Setting{{"load-aware", "1"}}, QueueDepth},
		{"prefix-affinity", nil, QueueDepth | BatchSize | InFlight | Prefixes},
		{"power-of-two", nil, QueueDepth | BatchSize | InFlight},
		{"session-hash", nil, InFlight},
		{"always-busiest", nil, QueueDepth | BatchSize | InFlight},
	} {
		t.Run(fmt.Sprint(c.name, c.settings), func(t *testing.T) {
			create := func() Routing {
				return mustRoute(t, c.name, Env{BlockSize: 16, Instances: instances, Draws: NewDraws(1)}, c.settings...)
			}
			p, q := create(), create()
			if p.Observes() != c.observes {
				t.Fatalf("observes %v, want %v", p.Observes(), c.observes)
			}
			for step := range 200 {
				view := randomView(rng, instances)
				other := &View{}
				for i := range instances {
					s := view.Slot(i)
					disturb(rng, &s, c.observes)
					other.Add(s)
				}
				req := Request{Identity: workload.Identity{ID: int64(step), Input: 100, Session: uint64(rng.IntN(4))}}
				if a, b := route(p, &req, view), route(q, &req, other); a.Target != b.Target {
					t.Fatalf("step %d: %d, but %d when undeclared signals differ", step, a.Target, b.Target)
				}
			}
		})
	}
}

// disturb changes the signals of s that are not in keep.
func disturb(rng *rand.Rand, s *Slot, keep Signals) {
	if keep&QueueDepth == 0 {
		s.Queue += int32(rng.IntN(10))
	}
	if keep&BatchSize == 0 {
		s.Batch += int32(rng.IntN(10))
	}
	if keep&InFlight == 0 {
		s.InFlight += int32(rng.IntN(10))
	}
	if keep&KVUse == 0 {
		s.Used, s.Total = int64(rng.IntN(100)), 100
	}
}

func TestUndeclaredReadPanicsInDebugBuilds(t *testing.T) {
	if !checkReads {
		t.Skip("needs -tags debug")
	}
	view := loads(1)
	for name, read := range map[string]func(){
		"QueueDepth": func() { view.QueueDepth(0) }, "BatchSize": func() { view.BatchSize(0) }, "InFlight": func() { view.InFlight(0) },
		"UsedBlocks": func() { view.UsedBlocks(0) }, "TotalBlocks": func() { view.TotalBlocks(0) }, "Load": func() { view.Load(0) },
	} {
		view.Declared = NoSignals
		if name == "Load" {
			view.Declared = QueueDepth | BatchSize // not enough
		}
		if !panics(read) {
			t.Errorf("%s: no panic", name)
		}
		view.Declared = QueueDepth | BatchSize | InFlight | KVUse
		if panics(read) {
			t.Errorf("%s: panics though declared", name)
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// randomSlot has small numbers, so that ties are common and extremes have
// several holders; now and then one that is an extreme.
func randomSlot(rng *rand.Rand) Slot {
	s := Slot{
		Queue: int32(rng.IntN(4)), Batch: int32(rng.IntN(3)), InFlight: int32(rng.IntN(5)),
		Used: int64(rng.IntN(5)), Total: 4 + int64(rng.IntN(3)), Routable: rng.IntN(6) != 0,
	}
	if rng.IntN(12) == 0 {
		s.Queue = int32(rng.IntN(40))
	}
	return s
}

// randomView has n such slots.
func randomView(rng *rand.Rand, n int) *View {
	view := &View{}
	for range n {
		view.Add(randomSlot(rng))
	}
	return view
}
