package policy

import (
	"math/rand/v2"
	"slices"
	"testing"

	"blis/internal/prefixtwin"
	"blis/prefixindex"
	"blis/vtime"
	"blis/workload"
)

// index is the prefix index that a filter reads, or the policy behind.
func (n *narrowed) index() *prefixindex.Index {
	for _, f := range n.filters {
		if c, ok := f.(*cachedShare); ok {
			return c.index
		}
	}
	return indexOf(n.inner)
}

// twinRequestFilters are sticky_session and min_prefix; 0: off.
type twinRequestFilters struct {
	sessions *twinSessions
	least    float64
	cached   *prefixtwin.LRU
}

// narrow returns the routable instances that are left out, one filter after the other.
func (f *twinRequestFilters) narrow(req *Request, view *View, now vtime.Time) (out []int32) {
	var candidates []int
	for i, s := range view.slots {
		if s.Routable {
			candidates = append(candidates, i)
		}
	}
	only := func(keep func(i int) bool) {
		rest := slices.DeleteFunc(slices.Clone(candidates), func(i int) bool { return !keep(i) })
		if len(rest) > 0 {
			candidates = rest
		}
	}
	if f.sessions.ttl > 0 && req.Session != 0 {
		at := f.sessions.find(req.Session, now)
		only(func(i int) bool { return at >= 0 && f.sessions.list[at].instance == i })
	}
	blocks := prefixtwin.Blocks(req.ID, req.Input, req.Spans, 4)
	if f.least > 0 {
		only(func(i int) bool {
			return len(blocks) > 0 && float64(f.cached.Matched(blocks, i))/float64(len(blocks)) >= f.least
		})
	}
	for i, s := range view.slots {
		if s.Routable && !slices.Contains(candidates, i) {
			out = append(out, int32(i))
		}
	}
	return out
}

// TestRequestFiltersEqualTheirTwin: policies behind them decide as policies that never saw the instances left out, while
// instances change, come and go.
func TestRequestFiltersEqualTheirTwin(t *testing.T) {
	reached := map[string]int{}
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 31))
		name := []string{"least-loaded", "weighted", "power-of-two", "round-robin", "session-hash"}[seed%5]
		var plain, settings []Setting
		if name == "weighted" {
			plain = []Setting{{"queue-depth", "1"}, {"session-affinity", "2"}, {"active-requests", "1"}}
		}
		cached := &prefixtwin.LRU{Lists: make([][]prefixtwin.Block, 60)}
		twin := &twinRequestFilters{sessions: &twinSessions{capacity: 1 + rng.IntN(12)}, cached: cached}
		if seed%3 != 0 {
			settings, twin.sessions.ttl = append(settings, Setting{"sticky_session", "20us"}), 20
		}
		if seed%3 != 1 {
			settings, twin.least = append(settings, Setting{"min_prefix", "0.5"}), 0.5
		}
		env := Env{BlockSize: 4, Draws: NewDraws(seed)}
		fast, behind := mustRoute(t, name, env, append(slices.Clone(plain), settings...)...), mustRoute(t, name, env, plain...)
		n := &narrowed{}
		switch f := fast.(type) {
		case *narrowed:
			n = f
		case *narrowedExplainer:
			n = &f.narrowed
		}
		if s, ok := n.filters[0].(*sticky); ok {
			s.sessions.capacity = twin.sessions.capacity
		}
		view, now := randomView(rng, 1+rng.IntN(20)), vtime.Time(0)
		source := &prefixtwin.Traffic{Rng: rng, Longest: 1 + rng.IntN(6)}
		for step := range 200 {
			disturbView(rng, view, 50)
			turnOver(rng, view, 50)
			now = now.Add(vtime.Duration(rng.IntN(4)))
			req := asked(source.Next(4))
			req.ID, req.Session = rng.Int64N(1e6), uint64(rng.IntN(10))
			cached.Join(view.Len(), func(i int) int64 { return view.slots[i].Total })
			out := twin.narrow(&req, view, now)
			masked := copyOf(view)
			for _, i := range out {
				masked.close(int(i))
			}
			masked.Declared = behind.Observes()
			want := behind.Route(&req, 0, &state, masked, now)
			got := routeAt(fast, &req, view, now)
			if got.Target != want.Target || got.Reason != want.Reason || !slices.Equal(got.Scores, want.Scores) || !slices.Equal(got.FilteredOut, out) {
				t.Fatalf("seed %d, %s, step %d: %+v, want %+v without %v", seed, name, step, got, want, out)
			}
			if got.Target < 0 {
				continue
			}
			cached.Record(prefixtwin.Blocks(req.ID, req.Input, req.Spans, 4), got.Target)
			if req.Session != 0 {
				twin.sessions.record(req.Session, got.Target, now)
			}
			if o, ok := behind.(RouteObserver); ok {
				o.OnRouted(&req, got.Target)
			}
			for what, in := range map[string]bool{"nobody left out": len(out) == 0, "some left out": len(out) > 0, // any order
				"kept by a session": len(n.kept) == 1 && twin.sessions.ttl > 0, "kept to several": len(n.kept) > 1} {
				if in {
					reached[what]++
				}
			}
		}
	}
	for _, what := range []string{"nobody left out", "some left out", "kept by a session", "kept to several"} {
		if reached[what] < 500 {
			t.Errorf("too little is tested: %d decisions with %s", reached[what], what)
		}
	}
}

// TestStickySession is one story, told in decisions.
func TestStickySession(t *testing.T) {
	p := mustRoute(t, "least-loaded", Env{BlockSize: 16}, Setting{"sticky_session", "10us"}, Setting{"max_queue", "5"})
	if p.Observes() != effectiveLoad {
		t.Errorf("observes %v", p.Observes())
	}
	for _, c := range []struct {
		name    string
		at      vtime.Time
		session uint64
		view    *View
		want    int
		out     []int32
	}{
		{"a new session goes where the load is least", 0, 7, loads(1, 0, 1), 1, nil},
		{"and stays there", 9, 7, loads(0, 5, 0), 1, []int32{0, 2}},
		{"others do not follow", 9, 0, loads(0, 5, 1), 0, nil},
		{"in use it is not forgotten; a limit leaves out one, the session the other", 18, 7, loads(0, 5, 9), 1, []int32{0, 2}},
		{"its instance is above a limit: to the least loaded of the others", 19, 7, loads(1, 6, 0), 2, []int32{1}},
		{"where it is from now on", 20, 7, loads(0, 0, 3), 2, []int32{0, 1}},
		{"idle for ttl it is forgotten", 30, 7, loads(1, 0, 3), 1, nil},
	} {
		d := routeAt(p, &Request{Identity: workload.Identity{Session: c.session}}, c.view, c.at)
		if d.Target != c.want || !slices.Equal(d.FilteredOut, c.out) {
			t.Errorf("%s: %+v, want %d without %v", c.name, d, c.want, c.out)
		}
	}
}

func TestRequestFiltersObserveWhatTheyRead(t *testing.T) {
	env := Env{BlockSize: 16}
	for _, c := range []struct {
		settings []Setting
		want     Signals
	}{
		{[]Setting{{"sticky_session", "0"}, {"min_prefix", "0"}}, NoSignals},
		{[]Setting{{"sticky_session", "5m"}}, NoSignals},
		{[]Setting{{"min_prefix", "0.8"}, {"max_kv", "0.5"}}, Prefixes | KVUse},
	} {
		if got := mustRoute(t, "round-robin", env, c.settings...).Observes(); got != c.want {
			t.Errorf("%v observes %v, want %v", c.settings, got, c.want)
		}
	}
	weighted := mustRoute(t, "weighted", env, Setting{"queue-depth", "1"}, Setting{"min_prefix", "0.9"}, Setting{"max_kv", "0.5"})
	if e, ok := weighted.(Explainer); !ok || !slices.Equal(e.Scorers(), []string{"queue-depth"}) {
		t.Error("a weighted policy with filters explains nothing")
	}
}
