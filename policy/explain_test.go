package policy

import (
	"math/rand/v2"
	"testing"

	"blis/workload"
)

// The shares of a score, added up in their order, are the score, bit by bit,
// whatever affinities the request has.
func TestSharesAddUpToTheScore(t *testing.T) {
	const seed = 11
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	p := mustRoute(t, "weighted", Env{BlockSize: 16, Instances: 6}, Setting{"queue-depth", "0.7"}, Setting{"prefix-affinity", "1.3"}, Setting{"kv-utilization", "0.37"},
		Setting{"session-affinity", "0.9"}, Setting{"load-balance", "0.11"}, Setting{"waiting-queue", "0"})
	e := p.(Explainer)
	if got := len(e.Scorers()); got != 5 || e.Scorers()[1] != "prefix-affinity" {
		t.Fatalf("scorers %v", e.Scorers())
	}
	affine := 0
	for range 500 {
		var slots []Slot
		for range 6 {
			slots = append(slots, Slot{Queue: random.Int32N(5), Batch: random.Int32N(9), InFlight: random.Int32N(9), Used: random.Int64N(100), Total: 100, Routable: random.IntN(5) > 0})
		}
		r := &Request{Identity: workload.Identity{Input: 80, Session: random.Uint64N(8)}, Terms: workload.Terms{Spans: []workload.Span{{Content: workload.ContentID(1 + random.IntN(5)), Length: 64}}}}
		d := route(p, r, viewOf(slots...))
		for i, score := range d.Scores {
			if score < 0 {
				continue
			}
			shares, sum := e.Explain(i, nil), 0.0
			for _, s := range shares {
				sum += s
			}
			if len(shares) != 5 || sum != score {
				t.Fatalf("instance %d: %v add up to %v, the score is %v", i, shares, sum, score)
			}
			if shares[1] > 0 && shares[3] > 0 {
				affine++
			}
		}
	}
	if affine == 0 {
		t.Error("no request had both affinities")
	}
}
