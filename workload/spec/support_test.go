package spec

import (
	"testing"

	"blis/workload/traffic"
)

// defaults are those of a small cluster: 10 requests per second of 1000 tokens.
func defaults() Defaults {
	return Defaults{Seed: 42, Requests: 1000, Capacity: func(input, output float64) float64 { return 10_000 / (input + output) }}
}

// build parses a specification and makes its traffic.
func build(t testing.TB, text string) (traffic.Config, Notes) {
	t.Helper()
	s, err := Parse("w.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return trafficOf(t, s)
}

func trafficOf(t testing.TB, s *Spec) (traffic.Config, Notes) {
	t.Helper()
	c, notes, err := s.Traffic(defaults())
	if err != nil {
		t.Fatal(err)
	}
	if err := acceptable(&c); err != nil {
		t.Fatalf("%s: %v", s.Name(), err)
	}
	return c, notes
}

// clientOf is the one of that id.
func clientOf(t testing.TB, c *traffic.Config, id string) *traffic.Client {
	t.Helper()
	for i := range c.Clients {
		if c.Clients[i].ID == id {
			return &c.Clients[i]
		}
	}
	var ids []string
	for i := range c.Clients {
		ids = append(ids, c.Clients[i].ID)
	}
	t.Fatalf("no client %q among %q", id, ids)
	return nil
}

const (
	lengths = "input_distribution: {type: constant, params: {value: 100}}, output_distribution: {type: constant, params: {value: 10}}"
)

// acceptable is what package traffic wants of a configuration.
func acceptable(c *traffic.Config) error { return c.Check() }
