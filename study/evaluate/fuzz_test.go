package evaluate

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"sync"
	"testing"
)

// small is a suite for thousands of candidates.
var small = sync.OnceValues(func() (*Suite, *Reference) {
	s, err := Parse("small.yaml", []byte(strings.ReplaceAll(tiny, "60", "8")))
	if err != nil {
		panic(err)
	}
	r, err := s.Reference(context.Background(), Options{HeldOut: true})
	if err != nil {
		panic(err)
	}
	return s, r
})

// Whatever a candidate is, there is an answer: a score between 0 and 1, or exactly 0 with a reason
// in one line.
func FuzzEvaluate(f *testing.F) {
	for _, c := range games {
		f.Add("{" + c + "}")
	}
	f.Add("routing:\n  type: weighted\n  params: {prefix-affinity: 1, queue-depth: 1e300}\nmetadata: {a: [1, {b: null}]}")
	f.Add("scheduler: {type: sjf, params: {preemption: priority}}\npriority: {type: deadline-aware}\nobservability: {refresh: 0s}")
	f.Add("admission: {type: tenant-quota, params: {max_active: 1}, tenants: {shop: 1}}")
	f.Add("admission: {type: saturation-shed}\nrouting: {type: power-of-two}")
	f.Fuzz(func(t *testing.T, text string) {
		s, r := small()
		o := Options{MaxEvents: 100_000, MaxSteps: 100_000, HeldOut: true, Workers: 1}
		a, err := s.Evaluate(context.Background(), r, yaml(text), o)
		if err != nil {
			t.Fatal(err)
		}
		coded, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if a.OK != (a.Error == nil) || a.OK != (a.Score > 0) || !(a.Score < 1) || math.IsNaN(a.Score) || len(a.Feedback) > maxFeedback {
			t.Fatalf("%s", coded)
		}
		if !a.OK && (a.Error.Message == "" || strings.ContainsAny(a.Error.Message, "\n\r") || len(a.Error.Message) > 2000) {
			t.Fatalf("%+v", a.Error)
		}
	})
}
