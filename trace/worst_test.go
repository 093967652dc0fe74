package trace

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/vtime"
)

// What is kept is what sorting all requests gives, whatever the order of their ends, and
// records that are used again do not change it.
func TestWorstIsThatOfSorting(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		most, classes := 1+r.IntN(12), 1+r.IntN(4)
		w := NewWorst(most)
		var routing Routing
		var outcome Outcome
		target, score := 0, 0.0
		type request struct {
			id, ttft int64
			class    string
		}
		var all []request
		for id := range int64(r.IntN(60)) {
			target, score = int(id%7), float64(id)
			routing = Routing{Request: id, Target: &target, Score: &score, Candidates: append(routing.Candidates[:0], Candidate{Score: float64(id)})}
			if err := w.Consume(&routing); err != nil {
				t.Fatal(err)
			}
			all = append(all, request{id, r.Int64N(10), fmt.Sprintf("c%d", r.IntN(classes))})
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, q := range all {
			ttft := vtime.Duration(q.ttft)
			outcome = Outcome{Request: q.id, Class: q.class, TTFT: &ttft}
			if err := w.Consume(&outcome); err != nil {
				t.Fatal(err)
			}
		}
		if len(w.pending) != 0 {
			t.Fatalf("seed %d: %d decisions about requests that ended are kept", seed, len(w.pending))
		}
		var names []string
		for _, q := range all {
			if !slices.Contains(names, q.class) {
				names = append(names, q.class)
			}
		}
		slices.Sort(names)
		var want []int64
		for i, name := range names {
			of := slices.DeleteFunc(slices.Clone(all), func(q request) bool { return q.class != name })
			slices.SortFunc(of, func(a, b request) int { return cmp.Or(cmp.Compare(b.ttft, a.ttft), cmp.Compare(a.id, b.id)) })
			for _, q := range of[:min(len(of), (most+len(names)-1-i)/len(names))] {
				want = append(want, q.id)
			}
		}
		var got []int64
		for _, q := range w.Requests() {
			got = append(got, q.Outcome.Request)
			if d := q.Routing; d.Request != q.Outcome.Request || *d.Target != int(d.Request%7) || *d.Score != float64(d.Request) || d.Candidates[0].Score != float64(d.Request) {
				t.Fatalf("seed %d: request %d has the decision %+v", seed, q.Outcome.Request, d)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %d requests of %d classes: kept %v, want %v", seed, most, classes, got, want)
		}
	}
}

// Requests without a token have no TTFT, and those that nothing routed no decision.
func TestWorstOfRequestsThatHadNoToken(t *testing.T) {
	w := NewWorst(3)
	ttft := vtime.Duration(5)
	for _, o := range []*Outcome{{Request: 1}, {Request: 2, TTFT: &ttft}} {
		if err := w.Consume(o); err != nil {
			t.Fatal(err)
		}
	}
	if list := w.Requests(); len(list) != 1 || list[0].Outcome.Request != 2 || list[0].Routing != nil {
		t.Errorf("%+v", list)
	}
}
