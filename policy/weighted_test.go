package policy

import (
	"math/rand/v2"
	"slices"
	"testing"

	"blis/workload"
)

// inFlight makes a view of routable instances with so much in flight.
func inFlight(counts ...int32) *View {
	view := &View{}
	for _, n := range counts {
		view.Add(Slot{InFlight: n, Routable: true})
	}
	return view
}

// TestSessionAffinity is one story, told in decisions.
func TestSessionAffinity(t *testing.T) {
	p := mustRoute(t, "weighted", Env{Instances: 3, BlockSize: 16}, Setting{"session-affinity", "3"}, Setting{"load-balance", "1"})
	p.(*weighted).sessions.capacity = 2
	for _, c := range []struct {
		name    string
		session uint64
		view    *View
		want    int
		score   float64 // of the chosen
	}{
		{"a new session goes where the load is least", 7, loads(1, 0, 1), 1, 0.25},
		{"and stays there", 7, loads(0, 3, 0), 1, 0.75 + 0.0625},
		{"others do not follow it", 8, loads(0, 3, 1), 0, 0.25},
		{"nor do requests without a session", 0, loads(1, 3, 0), 2, 0.25},
		{"its instance is not routable: to the least loaded", 7, loads(3, 0, 1).close(1), 2, 0.125},
		{"that one has served it last", 7, loads(0, 0, 1), 2, 0.75 + 0.125},
		{"nowhere to go is no service", 7, loads(0, 0, 0).close(0, 1, 2), -1, 0},
		{"so it stays", 7, loads(0, 0, 1), 2, 0.75 + 0.125},
		{"a third session", 9, loads(1, 0, 1), 1, 0.25},
		{"drives out the one used least recently", 8, loads(1, 0, 1), 1, 0.25},
		{"and only that", 9, loads(0, 3, 0), 1, 0.75 + 0.0625},
		{"an instance that is gone", 9, loads(0), 0, 0.25},
	} {
		d := route(p, &Request{Identity: workload.Identity{Input: 8, Session: c.session}}, c.view)
		if d.Target != c.want || d.Target >= 0 && d.Scores[d.Target] != c.score {
			t.Errorf("%s: %+v, want %d with score %v", c.name, d, c.want, c.score)
		}
	}
}

func TestWeighted(t *testing.T) {
	env := Env{BlockSize: 16, Instances: 4}
	shared := Request{Identity: workload.Identity{Input: 64}, Terms: workload.Terms{Spans: []workload.Span{{Content: 1, Length: 64}}}}
	for _, c := range []struct {
		name     string
		settings []Setting
		view     *View
		want     int
		scores   []float64
	}{
		{"all equal: the lowest index if that is to be", []Setting{{"queue-depth", "1"}, {"tie", "lowest"}}, loads(2, 2, 2), 0, []float64{1, 1, 1}},
		{"linear between the extremes", []Setting{{"queue-depth", "7"}}, loads(4, 2, 0), 2, []float64{0, 0.5, 1}},
		{"extremes are those of the candidates", []Setting{{"queue-depth", "7"}}, loads(0, 4, 2, 8).close(0, 3), 2, []float64{-1, 0, 1, -1}},
		{"in-flight is no waiting queue", []Setting{{"waiting-queue", "1"}}, viewOf(Slot{InFlight: 5, Routable: true}, Slot{Queue: 1, Routable: true}), 0, []float64{1, 0}},
		{"free blocks", []Setting{{"kv-utilization", "1"}}, viewOf(Slot{Used: 75, Total: 100, Routable: true}, Slot{Used: 25, Total: 100, Routable: true}), 1, []float64{0.25, 0.75}},
		{"no blocks, no score", []Setting{{"kv-utilization", "1"}}, viewOf(Slot{Routable: true}, Slot{Used: 25, Total: 100, Routable: true}), 1, []float64{0, 0.75}},
		{"load balance", []Setting{{"load-balance", "1"}}, loads(3, 1), 1, []float64{0.25, 0.5}},
		{"active requests are measured from none", []Setting{{"active-requests", "2"}}, inFlight(4, 1, 2), 1, []float64{0, 0.75, 0.5}},
		{"all equally active", []Setting{{"active-requests", "2"}, {"tie", "lowest"}}, inFlight(4, 4), 0, []float64{0, 0}},
		{"nobody active", []Setting{{"active-requests", "2"}, {"tie", "lowest"}}, inFlight(0, 0), 0, []float64{1, 1}},
		{"the most active is a candidate", []Setting{{"active-requests", "1"}}, inFlight(8, 4, 1).close(0), 2, []float64{-1, 0, 0.75}},
		{"a queue is no active request", []Setting{{"active-requests", "1"}}, viewOf(Slot{InFlight: 1, Routable: true}, Slot{Queue: 5, Routable: true}), 1, []float64{0, 1}},
		{"no session, no affinity", []Setting{{"session-affinity", "1"}, {"queue-depth", "1"}}, loads(1, 0), 1, []float64{0, 0.5}},
		{"weights are shares", []Setting{{"queue-depth", "1"}, {"load-balance", "3"}}, loads(1, 3), 0, []float64{0.25 + 0.375, 0.1875}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := route(mustRoute(t, "weighted", env, c.settings...), &shared, c.view)
			if d.Target != c.want || !slices.Equal(d.Scores, c.scores) || d.Reason != BestScore {
				t.Errorf("%+v, want target %d, scores %v", d, c.want, c.scores)
			}
		})
	}
	t.Run("a prefix follows its first request", func(t *testing.T) {
		p := mustRoute(t, "weighted", env)
		route(p, &shared, loads(1, 1, 0, 1))
		if d := route(p, &shared, loads(1, 1, 2, 1)); d.Target != 2 {
			t.Errorf("target %d, want 2: %v", d.Target, d.Scores)
		}
	})
	t.Run("a prompt without a full block has no affinity", func(t *testing.T) {
		p := mustRoute(t, "weighted", env, Setting{"prefix-affinity", "1"})
		short := Request{Identity: workload.Identity{Input: 15}, Terms: workload.Terms{Spans: []workload.Span{{Content: 1, Length: 15}}}}
		if d := route(p, &short, loads(0, 0)); d.Scores[0] != 0 || d.Scores[1] != 0 {
			t.Errorf("%+v", d)
		}
	})
	t.Run("a decision without a candidate leaves the index alone", func(t *testing.T) {
		p := mustRoute(t, "weighted", env, Setting{"prefix-affinity", "1"})
		if d := route(p, &shared, loads(0, 0).close(0, 1)); d.Target != -1 || d.Reason != NoInstance {
			t.Errorf("%+v", d)
		}
		if d := route(p, &shared, loads(0, 0)); d.Scores[0] != 0 {
			t.Errorf("%+v", d)
		}
	})
	t.Run("weights times ten change nothing", func(t *testing.T) {
		a := mustRoute(t, "weighted", env, Setting{"queue-depth", "3"}, Setting{"kv-utilization", "4"})
		b := mustRoute(t, "weighted", env, Setting{"queue-depth", "30"}, Setting{"kv-utilization", "40"})
		rng := rand.New(rand.NewPCG(6, 6))
		for range 200 {
			view := randomView(rng, 4)
			if x, y := route(a, &shared, view), route(b, &shared, view); x.Target != y.Target || !slices.Equal(x.Scores, y.Scores) {
				t.Fatalf("%+v and %+v", x, y)
			}
		}
	})
}

// scored is a view and the scores that one scorer alone gives in it; −1 where an instance
// is not routable.
type scored struct {
	name string
	view *View
	want []float64
}

// scoresOf checks what a scorer with a file of its own observes, and its scores.
func scoresOf(t *testing.T, scorer string, observes Signals, list []scored) {
	t.Helper()
	for _, c := range list {
		p := mustRoute(t, "weighted", Env{BlockSize: 16}, Setting{scorer, "2"})
		if p.Observes() != observes {
			t.Fatalf("%s observes %v, want %v", scorer, p.Observes(), observes)
		}
		if d := route(p, &Request{}, c.view); !slices.Equal(d.Scores, c.want) {
			t.Errorf("%s: %v, want %v", c.name, d.Scores, c.want)
		}
	}
}
