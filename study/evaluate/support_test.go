package evaluate

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
)

// standard is the default suite with the figures of its baseline, held-out scenarios included.
var standard = sync.OnceValues(func() (*Suite, *Reference) {
	s, err := Shipped("")
	if err != nil {
		panic(err)
	}
	r, err := s.Reference(context.Background(), Options{HeldOut: true})
	if err != nil {
		panic(err)
	}
	return s, r
})

// yaml is a candidate that is a bundle.
func yaml(text string) Candidate { return Candidate{File: "candidate.yaml", Text: []byte(text)} }

// evaluate evaluates a candidate, which may be bad.
func evaluate(t *testing.T, s *Suite, r *Reference, c Candidate, o Options) *Answer {
	t.Helper()
	a, err := s.Evaluate(context.Background(), r, c, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// good evaluates a candidate that must not fail in the default suite.
func good(t *testing.T, text string) *Answer {
	t.Helper()
	s, r := standard()
	a := evaluate(t, s, r, yaml(text), Options{HeldOut: true})
	if !a.OK || !a.HeldOut.OK {
		t.Fatalf("%s fails: %v %v", text, a.Error, a.HeldOut.Error)
	}
	return a
}

// text is an answer as JSON.
func text(t *testing.T, a any) string {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// parse parses a suite that must be good.
func parse(t *testing.T, text string) *Suite {
	t.Helper()
	s, err := Parse("suite.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// reference runs the baseline of a suite.
func reference(t *testing.T, s *Suite, o Options) *Reference {
	t.Helper()
	r, err := s.Reference(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tiny is a suite that takes little time.
const tiny = `schema: blis.suite/v1
measures: {slo_attainment: 2, p99_ttft: 1, cache_hit_rate: 0}
settings: {num-instances: 2, slo-targets: "ttft=200ms"}
scenarios:
  - name: a
    smoke: true
    seeds: [1, 2]
    settings: {num-requests: 60, rate: 30}
  - name: b
    weight: 3
    seeds: [3, 4]
    workload:
      version: "2"
      aggregate_rate: 40
      num_requests: 60
      clients:
        - {id: x, rate_fraction: 1, slo_class: batch, input_distribution: {type: constant, params: {value: 300}}, output_distribution: {type: constant, params: {value: 20}}}
  - name: held
    held_out: true
    seeds: [5, 6]
    settings: {num-requests: 60, rate: 35}
`

// edited is a text with one part replaced, which must be in it.
func edited(t *testing.T, text, old, new string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("%q is not in the text", old)
	}
	return strings.Replace(text, old, new, 1)
}
