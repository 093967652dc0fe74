package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/workload"
)

// naiveScore is one score of policies.md for one instance.
func naiveScore(name string, view *View, i int, twin *twinLRU, blocks []twinBlock) float64 {
	load := func(j int) float64 {
		s := view.Slots[j]
		if name == "waiting-queue" {
			return float64(s.Queue)
		}
		return float64(s.Queue) + float64(s.Batch) + float64(s.InFlight)
	}
	switch name {
	case "prefix-affinity":
		if len(blocks) == 0 {
			return 0
		}
		return float64(twin.matched(blocks, i)) / float64(len(blocks))
	case "queue-depth", "waiting-queue":
		least, most := math.Inf(1), math.Inf(-1)
		for j := range view.Slots {
			if view.Slots[j].Routable {
				least, most = math.Min(least, load(j)), math.Max(most, load(j))
			}
		}
		if most == least {
			return 1
		}
		return (most - load(i)) / (most - least)
	case "kv-utilization":
		return 1 - float64(view.Slots[i].Used)/float64(view.Slots[i].Total)
	case "load-balance":
		return 1 / (1 + load(i))
	}
	panic(name)
}

// TestWeightedEqualsNaiveSum compares winner and scores, bit for bit, with a
// recomputation instance by instance over the plain LRU.
func TestWeightedEqualsNaiveSum(t *testing.T) {
	names := []string{"prefix-affinity", "queue-depth", "waiting-queue", "kv-utilization", "load-balance"}
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 5))
		const instances, size = 7, 4
		var settings []Setting
		var weights []float64
		sum := 0.0
		for _, k := range rng.Perm(len(names))[:1+rng.IntN(len(names))] {
			weight := float64(1+rng.IntN(40)) / 10
			settings = append(settings, Setting{names[k], fmt.Sprint(weight)})
			weights = append(weights, weight)
			sum += weight
		}
		p := mustRoute(t, "weighted", Env{BlockSize: size, Instances: instances}, settings...)
		twin := &twinLRU{capacity: indexCapacity, lists: make([][]twinBlock, instances)}
		source := &traffic{rng: rng, longest: 6}
		for step := range 120 {
			view, req := randomView(rng, instances), source.next(size)
			blocks := twinBlocks(&req, size)
			want := RoutingDecision{Target: -1}
			for i := range instances {
				score := 0.0
				for k, s := range settings {
					naive := math.Min(1, math.Max(0, naiveScore(s.Name, view, i, twin, blocks)))
					score += float64(weights[k] / sum * naive)
				}
				if !view.Slots[i].Routable {
					score = -1
				} else if want.Target < 0 || score > want.Scores[want.Target] {
					want.Target = i
				}
				want.Scores = append(want.Scores, score)
			}
			got := route(p, &req, view)
			if got.Target != want.Target || (want.Target >= 0 && !slices.Equal(got.Scores, want.Scores)) {
				t.Fatalf("seed %d, step %d, %v:\n%+v, want\n%+v", seed, step, settings, got, want)
			}
			if got.Target >= 0 {
				twin.record(blocks, got.Target)
			}
		}
	}
}

func TestWeighted(t *testing.T) {
	env := Env{BlockSize: 16, Instances: 4}
	shared := Request{Input: 64, Spans: []workload.Span{{Content: 1, Length: 64}}}
	for _, c := range []struct {
		name     string
		settings []Setting
		view     *View
		want     int
		scores   []float64
	}{
		{"all equal: the lowest index", []Setting{{"queue-depth", "1"}}, loads(2, 2, 2), 0, []float64{1, 1, 1}},
		{"linear between the extremes", []Setting{{"queue-depth", "7"}}, loads(4, 2, 0), 2, []float64{0, 0.5, 1}},
		{"extremes are those of the candidates", []Setting{{"queue-depth", "7"}}, loads(0, 4, 2, 8).close(0, 3), 2, []float64{-1, 0, 1, -1}},
		{"in-flight is no waiting queue", []Setting{{"waiting-queue", "1"}}, &View{Slots: []Slot{{InFlight: 5, Routable: true}, {Queue: 1, Routable: true}}}, 0, []float64{1, 0}},
		{"free blocks", []Setting{{"kv-utilization", "1"}}, &View{Slots: []Slot{{Used: 75, Total: 100, Routable: true}, {Used: 25, Total: 100, Routable: true}}}, 1, []float64{0.25, 0.75}},
		{"no blocks, no score", []Setting{{"kv-utilization", "1"}}, &View{Slots: []Slot{{Routable: true}, {Used: 25, Total: 100, Routable: true}}}, 1, []float64{0, 0.75}},
		{"load balance", []Setting{{"load-balance", "1"}}, loads(3, 1), 1, []float64{0.25, 0.5}},
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
		short := Request{Input: 15, Spans: []workload.Span{{Content: 1, Length: 15}}}
		if d := route(p, &short, loads(0, 0)); d.Target != 0 || d.Scores[0] != 0 {
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
