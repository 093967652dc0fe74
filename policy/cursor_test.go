package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/internal/prefixtwin"
	"blis/workload"
)

// pair is a policy that follows a view, and its twin that looks at all of it.
type pair struct {
	name string
	fast Routing
	slow interface {
		decide(*Request, *View) RoutingDecision
	}
	draws *twinDraws // of the twin; nil with tie: lowest
	every int        // steps between two decisions
}

// scorerNames are all scorers of this package.
var scorerNames = func() (names []string) {
	for _, r := range scorerTable {
		names = append(names, r.name)
	}
	return names
}()

// newPair makes a policy with random parameters, weighted with some scorers in
// some order.
func newPair(t *testing.T, rng *rand.Rand, name string, instances int) *pair {
	const block = 4
	p := &pair{every: 1 + rng.IntN(3)*rng.IntN(6)}
	env := Env{BlockSize: block, Instances: 1 + rng.IntN(instances)} // there may come more
	var settings []Setting
	env.Draws = NewDraws(rng.Uint64())
	draws := &twinDraws{draws: env.Draws}
	if name != "power-of-two" {
		switch rng.IntN(3) {
		case 0:
			draws, settings = nil, append(settings, Setting{"tie", "lowest"})
		case 1:
			settings = append(settings, Setting{"tie", "random"})
		}
	}
	cached := &prefixtwin.LRU{Lists: make([][]prefixtwin.Block, instances)}
	sessions := 1 + rng.IntN(12)
	switch name {
	case "least-loaded":
		p.slow = &naiveLeastLoaded{draws}
	case "always-busiest":
		p.slow = &naiveBusiest{draws}
	case "power-of-two":
		p.slow = &naiveTwo{draws}
	case "prefix-affinity":
		imbalance, match := rng.IntN(12), float64(rng.IntN(5))/4
		settings = append(settings, Setting{"max_imbalance", fmt.Sprint(imbalance)}, Setting{"min_match", fmt.Sprint(match)})
		p.slow = &naivePrefix{block: block, imbalance: float64(imbalance), match: match, cached: cached, draws: draws}
	case "weighted":
		slow := &naiveWeighted{block: block, draws: draws, cached: cached, sessions: &twinSessions{capacity: sessions}}
		unit := []float64{1, 10}[rng.IntN(2)] // whole weights, that sums may tie, and others
		for _, k := range rng.Perm(len(scorerNames))[:1+rng.IntN(len(scorerNames))] {
			weight := float64(1+rng.IntN(int(4*unit-1))) / unit
			settings = append(settings, Setting{scorerNames[k], fmt.Sprint(weight)})
			slow.names, slow.weights = append(slow.names, scorerNames[k]), append(slow.weights, weight)
		}
		p.slow = slow
	}
	p.name, p.draws = fmt.Sprint(name, settings), draws
	p.fast = mustRoute(t, name, env, settings...)
	if w, ok := p.fast.(*weighted); ok && w.sessions != nil {
		w.sessions.capacity = sessions // few, that some are forgotten
	}
	return p
}

// compare asks both and says how they differ.
func (p *pair) compare(req *Request, view *View) (RoutingDecision, error) {
	got, want := route(p.fast, req, view), p.slow.decide(req, view)
	if got.Target != want.Target || got.Reason != want.Reason || !slices.Equal(got.Scores, want.Scores) {
		return got, fmt.Errorf("%s:\n%+v, want\n%+v", p.name, got, want)
	}
	return got, nil
}

// disturbView changes what a few decisions would, or what a refresh would, or
// nothing.
func disturbView(rng *rand.Rand, view *View, most int) {
	n := view.Len()
	changes := rng.IntN(4)
	if rng.IntN(20) == 0 {
		changes = rng.IntN(2*n + 1)
	}
	for range changes {
		i := rng.IntN(n)
		s := view.Slot(i)
		if s.Phase == Gone {
			continue
		}
		switch rng.IntN(9) {
		case 8:
			looked := rng.Int64N(200)
			view.ShowService(i, Service{LookedUpTokens: looked, CachedTokens: rng.Int64N(looked + 1)})
			continue
		case 0:
			s.Routable = !s.Routable
		case 1, 2:
			s = randomSlot(rng)
		case 3: // as it is
		case 4:
			view.Show(i, min(s.Queue+1, 40), s.Batch, s.InFlight, min(s.Used+1, s.Total))
			continue
		default:
			if more := int32(rng.IntN(3) - 1); s.InFlight+more >= 0 {
				view.AddInFlight(i, more)
			}
			continue
		}
		view.Set(i, s)
	}
	if n < most && rng.IntN(30) == 0 {
		view.Add(randomSlot(rng))
	}
}

// turnOver lets instances go for good and others come.
func turnOver(rng *rand.Rand, view *View, most int) {
	if i := rng.IntN(view.Len()); len(view.present) > 1 && rng.IntN(4) == 0 {
		s := view.Slot(i)
		s.Phase, s.Routable = Gone, false
		view.Set(i, s)
	}
	if view.Len() < most && rng.IntN(4) == 0 {
		view.Add(randomSlot(rng))
	}
}

// copyOf is a view that was never anything else.
func copyOf(view *View) *View {
	c := viewOf(view.slots...)
	for i, s := range view.services {
		c.ShowService(i, s)
	}
	return c
}

// TestWhatStandsThereIsNoChange, so that cursors have nothing to read.
func TestWhatStandsThereIsNoChange(t *testing.T) {
	view := loads(3, 4)
	before := view.changes
	s := view.Slot(1)
	view.Set(1, s)
	view.Show(1, s.Queue, s.Batch, s.InFlight, s.Used)
	if view.changes != before {
		t.Errorf("%d changes", view.changes-before)
	}
	s.Used++
	view.Set(1, s)
	view.Show(1, s.Queue, s.Batch, s.InFlight, 7)
	view.AddInFlight(1, 1)
	if view.changes != before+3 || view.Slot(1) != (Slot{Queue: 4, InFlight: 1, Routable: true, Used: 7, Total: 100}) {
		t.Errorf("%d changes, want 3: %+v", view.changes-before, view.Slot(1))
	}
}

// only makes i the one routable instance.
func only(view *View, i int) {
	for j := range view.Len() {
		s := view.Slot(j)
		s.Routable = i == j
		view.Set(j, s)
	}
}

// TestFollowersEqualNaivePolicies has several policies follow one view, each at
// its own pace, and compares winner, scores bit for bit and draws with those of
// the twins. Prompts share prefixes that few instances have, or all.
func TestFollowersEqualNaivePolicies(t *testing.T) {
	var followed, anew, draws int
	reached := map[string]int{}
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 5))
		n := 1 + rng.IntN([]int{5, 20, 20, 70, 70, 300}[rng.IntN(6)])
		most := n + rng.IntN(5)
		turnover := seed%2 == 1
		if turnover {
			most += 40
		}
		var pairs []*pair
		for _, name := range []string{"weighted", "weighted", "least-loaded", "prefix-affinity", "power-of-two", "always-busiest"} {
			pairs = append(pairs, newPair(t, rng, name, most))
		}
		view, other := randomView(rng, n), randomView(rng, 1+rng.IntN(n))
		source := &prefixtwin.Traffic{Rng: rng, Longest: 1 + rng.IntN(6)}
		ask := func(p *pair, step int) {
			req := asked(source.Next(4))
			req.ID, req.Attempt, req.Session = rng.Int64N(1e6), int32(rng.IntN(3)), uint64(rng.IntN(10))
			got, err := p.compare(&req, view)
			if err != nil {
				t.Fatalf("seed %d, %d instances, step %d: %v", seed, view.Len(), step, err)
			}
			if p.draws != nil {
				draws, p.draws.made = draws+p.draws.made, 0
			}
			for _, what := range p.reached(&req, got, view) {
				reached[what]++
			}
		}
		for i := range min(n, []int{0, 3, n}[rng.IntN(3)]) {
			only(view, i)
			ask(pairs[0], -1)
			ask(pairs[4], -1)
		}
		for step := range 150 {
			disturbView(rng, view, most)
			switch {
			case turnover:
				turnOver(rng, view, most)
			case rng.IntN(50) == 0: // an answer about one view holds for no other
				view, other = other, view
			}
			for _, p := range pairs {
				if rng.IntN(p.every) != 0 {
					continue
				}
				if behind := view.changes - p.seen(); behind > uint64(len(view.log)) {
					anew++
				} else if behind > 0 {
					followed++
				}
				ask(p, step)
			}
		}
	}
	if min(followed, anew, draws) < 5000 {
		t.Errorf("too little is tested: %d decisions followed changes, %d began anew, %d drew", followed, anew, draws)
	}
	for _, what := range []string{"a prefix", "a session", "both on one instance", "both on two instances", "a session forgotten",
		"longest prefix", "least load in spite of a prefix", "one routable", "nowhere", "some gone", "a place of one that is gone",
		"ranks of no-hit-lru", "a hit that makes no-hit-lru neutral"} {
		if reached[what] < 1000 {
			t.Errorf("too little is tested: %d decisions with %s", reached[what], what)
		}
	}
}

// reached names the corners that a decision has been in.
func (p *pair) reached(req *Request, d RoutingDecision, view *View) (corners []string) {
	note := func(in bool, corner string) {
		if in {
			corners = append(corners, corner)
		}
	}
	note(d.Target < 0, "nowhere")
	switch f := p.fast.(type) {
	case *weighted:
		note(!f.rows.identity, "some gone")
		note(f.index != nil && view.Len() > f.index.Places(), "a place of one that is gone")
		if d.Target < 0 {
			break
		}
		prefixes, sessions, both := 0, 0, 0
		for _, i := range f.matched {
			prefix := f.prefix >= 0 && f.scorers[f.prefix].shares[i] > 0 || f.bonus >= 0 && f.scorers[f.bonus].shares[i] > 0
			session := f.sessions != nil && f.scorers[f.session].shares[i] > 0
			switch {
			case prefix && session:
				both++
			case prefix:
				prefixes++
			case session:
				sessions++
			}
		}
		if f.noHit >= 0 {
			note(f.scorers[f.noHit].noHit.cold, "ranks of no-hit-lru")
			note(!f.scorers[f.noHit].noHit.cold, "a hit that makes no-hit-lru neutral")
		}
		note(prefixes > 0, "a prefix")
		note(sessions > 0, "a session")
		note(both > 0, "both on one instance")
		note(sessions > 0 && prefixes > 0, "both on two instances")
		note(f.sessions != nil && f.sessions.where.Len() == f.sessions.capacity, "a session forgotten")
	case *longestPrefix:
		note(d.Reason == LongestPrefix, "longest prefix")
		note(d.Reason == LeastLoad && len(f.best) > 0, "least load in spite of a prefix")
	case *powerOfTwo:
		note(len(f.routable.list) == 1, "one routable")
	}
	return corners
}

// seen is how far the policy has followed the view.
func (p *pair) seen() uint64 {
	switch f := p.fast.(type) {
	case *byLoad:
		return f.rows.read
	case *longestPrefix:
		return f.ranking.rows.read
	case *powerOfTwo:
		return f.routable.cursor.read
	}
	return p.fast.(*weighted).rows.read
}

// TestDecisionsDependOnValuesAlone asks three copies of a policy. All are shown
// the same values, but one in order, one in any order with other values in
// between, and one in a view made for this decision: executors differ in that.
func TestDecisionsDependOnValuesAlone(t *testing.T) {
	weights := make([]Setting, len(scorerNames))
	for k, name := range scorerNames {
		weights[k] = Setting{name, fmt.Sprint(0.1 + 0.7*float64(k))}
	}
	for _, c := range []struct {
		name     string
		settings []Setting
	}{
		{"round-robin", nil}, {"power-of-two", nil}, {"least-loaded", []Setting{{"tie", "random"}}}, {"always-busiest", []Setting{{"tie", "random"}}},
		{"prefix-affinity", []Setting{{"tie", "random"}, {"max_imbalance", "3"}}}, {"weighted", append(weights, Setting{"tie", "random"})},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(60) {
				rng := rand.New(rand.NewPCG(seed, 9))
				n := 1 + rng.IntN(60)
				var policies [3]Routing
				for k := range policies {
					policies[k] = mustRoute(t, c.name, Env{BlockSize: 4, Instances: n, Draws: NewDraws(seed)}, c.settings...)
				}
				values := randomView(rng, n)
				shuffled := viewOf(values.slots...)
				source := &prefixtwin.Traffic{Rng: rng, Longest: 3}
				for step := range 60 {
					disturbView(rng, values, n)
					for range rng.IntN(3) {
						for _, i := range rng.Perm(n)[:rng.IntN(n+1)] {
							shuffled.Set(i, randomSlot(rng))
							shuffled.ShowService(i, Service{LookedUpTokens: 9, CachedTokens: rng.Int64N(9)})
						}
					}
					for _, i := range rng.Perm(n) {
						shuffled.Set(i, values.slots[i])
						shuffled.ShowService(i, values.services[i])
					}
					req := asked(source.Next(4))
					req.Session = uint64(rng.IntN(5))
					want := route(policies[0], &req, values)
					for k, view := range []*View{shuffled, copyOf(values)} {
						got := route(policies[k+1], &req, view)
						if got.Target != want.Target || got.Reason != want.Reason || !slices.Equal(got.Scores, want.Scores) {
							t.Fatalf("seed %d, step %d, way %d:\n%+v, want\n%+v", seed, step, k+1, got, want)
						}
					}
				}
			}
		})
	}
}

// asked returns what policies may know of a request.
func asked(r workload.Request) Request { return Request{Identity: r.Identity, Terms: r.Terms} }
