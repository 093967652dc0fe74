package policy

import (
	"slices"
	"testing"

	"blis/internal/prefixtwin"
	"blis/workload"
)

// hits reports whether a candidate has a block of the prompt.
func (p *naiveWeighted) hits(view *View, blocks []prefixtwin.Block) bool {
	for i, s := range view.slots {
		if s.Routable && p.cached.Matched(blocks, i) > 0 {
			return true
		}
	}
	return false
}

// noHit is no-hit-lru.
func (p *naiveWeighted) noHit(view *View, blocks []prefixtwin.Block) []float64 {
	scores := make([]float64, len(view.slots))
	if p.hits(view, blocks) {
		for i := range scores {
			scores[i] = 0.5
		}
		return scores
	}
	var order []int
	for i, s := range view.slots {
		if s.Routable && !slices.Contains(p.cold, i) {
			order = append(order, i)
		}
	}
	for _, i := range p.cold {
		if i < len(view.slots) && view.slots[i].Routable {
			order = append(order, i)
		}
	}
	for rank, i := range order {
		scores[i] = 1
		if len(order) > 1 {
			scores[i] = 1 - float64(rank)/float64(len(order)-1)
		}
	}
	return scores
}

// TestNoHitLRU is one story, told in decisions.
func TestNoHitLRU(t *testing.T) {
	p := mustRoute(t, "weighted", Env{BlockSize: 16, Instances: 3}, Setting{"no-hit-lru", "1"}, Setting{"tie", "lowest"})
	if p.Observes() != Prefixes {
		t.Errorf("observes %v", p.Observes())
	}
	view := loads(0, 0, 0)
	prompt := func(content workload.ContentID) Request {
		return Request{Identity: workload.Identity{Input: 32}, Terms: workload.Terms{Spans: []workload.Span{{Content: content, Length: 32}}}}
	}
	for _, c := range []struct {
		name    string
		content workload.ContentID
		closed  []int
		scores  []float64
		target  int
	}{
		{"nobody had a cold request: in their order", 1, nil, []float64{1, 0.5, 0}, 0},
		{"those that never had one first", 2, nil, []float64{0, 1, 0.5}, 1},
		{"a hit is neutral", 1, nil, []float64{0.5, 0.5, 0.5}, 0},
		{"and no cold request", 3, nil, []float64{0.5, 0, 1}, 2},
		{"least recently", 4, nil, []float64{1, 0.5, 0}, 0},
		{"ranks are among candidates", 5, []int{1}, []float64{0, -1, 1}, 2},
		{"a hit where nobody can go is none", 2, []int{1}, []float64{1, -1, 0}, 0},
		{"a single candidate", 6, []int{0, 2}, []float64{-1, 1, -1}, 1},
		{"nowhere to go is no cold request", 7, []int{0, 1, 2}, nil, -1},
		{"so the order stays", 8, nil, []float64{0.5, 0, 1}, 2},
	} {
		for i := range view.Len() {
			s := view.Slot(i)
			s.Routable = !slices.Contains(c.closed, i)
			view.Set(i, s)
		}
		req := prompt(c.content)
		d := route(p, &req, view)
		if d.Target != c.target || !slices.Equal(d.Scores, c.scores) {
			t.Errorf("%s: %d, %v, want %d, %v", c.name, d.Target, d.Scores, c.target, c.scores)
		}
	}
	view.Add(Slot{Routable: true})
	req := prompt(9)
	if d := route(p, &req, view); d.Target != 3 || d.Scores[2] != 0 {
		t.Errorf("a new instance comes first: %+v", d)
	}
}

// TestNoHitLRUOfForcedRequests counts them where they went.
func TestNoHitLRUOfForcedRequests(t *testing.T) {
	p := mustRoute(t, "weighted", Env{BlockSize: 16, Instances: 3}, Setting{"no-hit-lru", "1"})
	view := loads(0, 0, 0)
	view.Declared = p.Observes()
	p.Route(&Request{}, 0, &state, view, 0)
	p.(RouteObserver).OnRouted(&Request{}, 1)
	if d := p.Route(&Request{}, 0, &state, view, 0); !slices.Equal(d.Scores, []float64{1, 0, 0.5}) {
		t.Errorf("%v, want what was forced to instance 1 to count there", d.Scores)
	}
}
