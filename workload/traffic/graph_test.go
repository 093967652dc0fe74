package traffic

import (
	"math/rand/v2"
	"slices"
	"testing"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
)

// graph is a client of one session: nodes with 10 tokens in and 5 out.
func graph(context Context, nodes ...Node) Client {
	c := chat(1, context)
	c.Kinds[0].Session.Rounds, c.Kinds[0].Session.Graph = draw.Length{}, nodes
	return c
}

func TestGraphFansOutAndJoins(t *testing.T) {
	c := graph(Accumulate,
		Node{Name: "plan"},
		Node{Name: "search", After: []int{0}, Wait: draw.Always(100)},
		Node{Name: "read", After: []int{0}},
		Node{Name: "write", After: []int{1, 2}, Wait: draw.Always(7)},
	)
	s := source(t, Config{Clients: []Client{c}})
	all := play(t, s, after(50))
	// plan is answered at 1050; read goes out 1 µs later, search after its tool;
	// write waits for the later of the two.
	want := []string{"1000: 15+5 of 0, 2 spans", "1051: 30+5 of 2, 4 spans", "1150: 30+5 of 1, 4 spans", "1207: 50+5 of 3, 6 spans"}
	if got := describe(all); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	// The join continues the first of its nodes, and has the answer of the other.
	first := append(slices.Clone(all[2].Spans), workload.Span{Content: all[2].OutputContent, Length: 5})
	first = append(first, workload.Span{Content: all[1].OutputContent, Length: 5})
	if got := all[3].Spans; !slices.Equal(got, first) {
		t.Errorf("the join begins with %v, want %v", got, first)
	}
	if got, want := s.Sessions(), (workload.Sessions{Completed: 1}); got != want {
		t.Errorf("sessions %+v, want %+v", got, want)
	}
}

func TestFailedNodeEndsItsGraph(t *testing.T) {
	c := graph(NoContext,
		Node{}, Node{Wait: draw.Always(500)}, // two roots, one of them late
		Node{After: []int{0}, Wait: draw.Always(1000)}, Node{After: []int{1, 2}}, Node{After: []int{3}},
	)
	s := source(t, Config{Clients: []Client{c}})
	all := play(t, s, func(r *workload.Request) (vtime.Duration, bool) { return 20, r.Round != 1 })
	// Root 1 fails at 1520, while node 2 waits for its tool until 2020.
	want := []string{"1000: 15+5 of 0, 1 spans", "1500: 15+5 of 1, 1 spans"}
	if got := describe(all); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got, want := s.Sessions(), (workload.Sessions{EndedEarly: 1, NotSent: 3}); got != want {
		t.Errorf("sessions %+v, want %+v", got, want)
	}
	if len(s.sessions.live) != 0 || s.due.len() != 0 {
		t.Errorf("%d sessions held, %d requests due", len(s.sessions.live), s.due.len())
	}
}

// A session that fails while one of its first requests is still to come is held
// until that has come and gone.
func TestLateRootOfAFailedGraph(t *testing.T) {
	c := graph(NoContext, Node{}, Node{Wait: draw.Always(500)}, Node{After: []int{0, 1}})
	s := source(t, Config{Clients: []Client{c}})
	all := play(t, s, func(r *workload.Request) (vtime.Duration, bool) { return 20, r.Round != 0 })
	if len(all) != 2 || len(s.sessions.live) != 0 {
		t.Errorf("%q, %d sessions held", describe(all), len(s.sessions.live))
	}
	if got, want := s.Sessions(), (workload.Sessions{EndedEarly: 1, NotSent: 1}); got != want {
		t.Errorf("sessions %+v, want %+v", got, want)
	}
}

// Random graphs under random answers: nobody is sent before what it waits for is
// answered and its wait has passed, and everybody is sent then.
func TestGraphsCompleteInTheOrderOfTheirDependencies(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 5))
		var nodes []Node
		for i := range 1 + r.IntN(12) {
			n := Node{Wait: draw.Always(vtime.Duration(r.IntN(3) * r.IntN(200)))}
			for a := range i {
				if r.IntN(3) == 0 {
					n.After = append(n.After, a)
				}
			}
			r.Shuffle(len(n.After), func(i, j int) { n.After[i], n.After[j] = n.After[j], n.After[i] })
			nodes = append(nodes, n)
		}
		s := source(t, Config{Seed: seed, Clients: []Client{graph(Context(r.IntN(2)), nodes...)}})
		answered := make([]vtime.Time, len(nodes))
		all := play(t, s, func(q *workload.Request) (vtime.Duration, bool) {
			d := vtime.Duration(1 + r.IntN(300))
			answered[q.Round] = q.Arrival.Add(d)
			return d, true
		})
		if len(all) != len(nodes) {
			t.Fatalf("seed %d: %d of %d nodes were sent", seed, len(all), len(nodes))
		}
		for _, q := range all {
			n := &nodes[q.Round]
			want := vtime.Time(1000).Add(n.Wait.Min)
			if len(n.After) > 0 {
				want = 0
				for _, a := range n.After {
					want = max(want, answered[a].Add(max(1, n.Wait.Min)))
				}
			}
			if q.Arrival != want {
				t.Fatalf("seed %d: node %d came at %v, want %v", seed, q.Round, q.Arrival, want)
			}
		}
	}
}
