package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/vtime"
)

// pair is a policy that follows a view, and its twin that looks at all of it.
type pair struct {
	name string
	fast Routing
	slow interface {
		decide(*Request, *View) RoutingDecision
	}
	streams [2]*vtime.Stream // nil with tie: lowest
	every   int              // asked in one of so many steps
}

var scorerNames = []string{"prefix-affinity", "queue-depth", "waiting-queue", "kv-utilization", "load-balance"}

// newPair makes least-loaded, or weighted with some scorers in some order.
func newPair(t *testing.T, rng *rand.Rand, name string, instances int) *pair {
	const block = 4
	p := &pair{every: 1 + rng.IntN(3)*rng.IntN(6)}
	env := Env{BlockSize: block, Instances: instances}
	var settings []Setting
	if rng.IntN(2) == 0 {
		settings = append(settings, Setting{"tie", "random"})
		seed := rng.Uint64()
		p.streams = [2]*vtime.Stream{vtime.NewStream(seed, "router"), vtime.NewStream(seed, "router")}
		env.Stream = p.streams[0]
	}
	if name == "least-loaded" {
		p.slow = &naiveLeastLoaded{p.streams[1]}
	} else {
		slow := &naiveWeighted{block: block, stream: p.streams[1], cached: &twinLRU{capacity: indexCapacity, lists: make([][]twinBlock, instances)}}
		unit := []float64{1, 10}[rng.IntN(2)] // whole weights, that sums may tie, and others
		for _, k := range rng.Perm(len(scorerNames))[:1+rng.IntN(len(scorerNames))] {
			weight := float64(1+rng.IntN(int(4*unit-1))) / unit
			settings = append(settings, Setting{scorerNames[k], fmt.Sprint(weight)})
			slow.names, slow.weights = append(slow.names, scorerNames[k]), append(slow.weights, weight)
		}
		p.slow = slow
	}
	p.name = fmt.Sprint(name, settings)
	p.fast = mustRoute(t, name, env, settings...)
	return p
}

// compare asks both and says how they differ.
func (p *pair) compare(req *Request, view *View) (RoutingDecision, error) {
	got, want := route(p.fast, req, view), p.slow.decide(req, view)
	if got.Target != want.Target || got.Reason != want.Reason || !slices.Equal(got.Scores, want.Scores) {
		return got, fmt.Errorf("%s:\n%+v, want\n%+v", p.name, got, want)
	}
	if p.streams[0] != nil && p.streams[0].Fold() != p.streams[1].Fold() {
		return got, fmt.Errorf("%s: other draws than the twin's", p.name)
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
		switch rng.IntN(8) {
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

// TestWhatStandsThereIsNoChange, lest followers are kept busy for nothing.
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
	var followed, anew, draws, matches int
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 5))
		n := 1 + rng.IntN([]int{5, 20, 20, 70, 70, 300}[rng.IntN(6)])
		most := n + rng.IntN(5)
		var pairs []*pair
		for _, name := range []string{"least-loaded", "weighted", "weighted"} {
			pairs = append(pairs, newPair(t, rng, name, most))
		}
		view, other := randomView(rng, n), randomView(rng, 1+rng.IntN(n))
		source := &traffic{rng: rng, longest: 1 + rng.IntN(6)}
		ask := func(p *pair, step int) {
			req := source.next(4)
			before := uint64(0)
			if p.streams[0] != nil {
				before = p.streams[0].Fold()
			}
			got, err := p.compare(&req, view)
			if err != nil {
				t.Fatalf("seed %d, %d instances, step %d: %v", seed, view.Len(), step, err)
			}
			if p.streams[0] != nil && p.streams[0].Fold() != before {
				draws++
			}
			if w, ok := p.fast.(*weighted); ok && got.Target >= 0 && len(w.matched) > 0 {
				matches++
			}
		}
		for i := range min(n, []int{0, 3, n}[rng.IntN(3)]) {
			only(view, i)
			ask(pairs[1], -1)
		}
		for step := range 150 {
			disturbView(rng, view, most)
			if rng.IntN(50) == 0 { // an answer about one view holds for no other
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
	if min(followed, anew, draws, matches) < 5000 {
		t.Errorf("too little is tested: %d decisions followed changes, %d began anew, %d drew, %d had matches", followed, anew, draws, matches)
	}
}

// seen is how far the policy has followed the view.
func (p *pair) seen() uint64 {
	if l, ok := p.fast.(*leastLoaded); ok {
		return l.follower.seen
	}
	return p.fast.(*weighted).follower.seen
}
