package traffic

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
)

// workload.Play against the tests' own way of answering, which keeps its answers
// in a sorted list.
func TestPlayAnswersInOrder(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		c := chat(1, Accumulate)
		c.Times, c.Process, c.Rate, c.Requests = nil, draw.ArrivalProcess{Kind: draw.Poisson}, draw.Flat(5000), 60
		c.Kinds[0].Session.Rounds = draw.Length{Dist: draw.Gaussian(3, 3), Min: 1, Max: 9}
		config := Config{Seed: seed, Clients: []Client{c, users(1+r.Int32N(5), 40)}}
		answer := func(q *workload.Request) vtime.Duration {
			return vtime.Duration(1 + (q.Index*2654435761+uint64(q.Round)*97)%700/100*100)
		}
		want := play(t, source(t, config), func(q *workload.Request) (vtime.Duration, bool) { return answer(q), true })
		got, err := workload.Collect(workload.Play(source(t, config), answer))
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			want[i].Awaited = false
		}
		for i := range got {
			if len(got[i].Spans) == 0 {
				got[i].Spans = want[i].Spans
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %d requests, want %d: %v\nwant %v", seed, len(got), len(want), describe(got), describe(want))
		}
	}
}
