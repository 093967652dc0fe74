package study

import (
	"fmt"
	"testing"

	"blis/actors"
	"blis/bundle"
	"blis/vtime"
	"blis/workload"
	"blis/workload/traffic"
)

// small is a cluster whose runs take milliseconds.
func small() actors.Config {
	cfg := actors.DefaultConfig()
	cfg.NumRequests, cfg.NumInstances = 60, 2
	return cfg
}

// parse reads a bundle from text.
func parse(t *testing.T, name, text string) Bundle {
	t.Helper()
	b, err := bundle.Parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return Bundle{Name: name, Policies: b}
}

// three are the routings of the acceptance tests.
func three(t *testing.T) []Bundle {
	t.Helper()
	return []Bundle{
		parse(t, "round-robin", "routing: {type: round-robin}"),
		parse(t, "least-loaded", "routing: {type: least-loaded}"),
		parse(t, "weighted", "routing: {type: weighted, params: {prefix-affinity: 3, queue-depth: 2, kv-utilization: 2}}"),
	}
}

// estimateOf is a measure of a bundle by their names.
func estimateOf(t *testing.T, r *Result, bundle, measure string) *Estimate {
	t.Helper()
	for b := range r.Bundles {
		for m := range r.Measures {
			if r.Bundles[b].Name == bundle && r.Measures[m].Name == measure {
				return &r.Bundles[b].Estimates[m]
			}
		}
	}
	t.Fatalf("no %s of %s", measure, bundle)
	return nil
}

// grouped is a source whose prompts begin with one of several long documents,
// drawn evenly.
type grouped struct {
	*traffic.Source
	documents [][]workload.Span
	draws     *vtime.Stream
}

func newGrouped(c traffic.SyntheticConfig, documents int, tokens int32) (*grouped, error) {
	c.PrefixTokens = tokens
	s, err := traffic.NewSynthetic(c)
	g := &grouped{Source: s, draws: vtime.NewStream(c.Seed, "workload/documents")}
	for i := range documents {
		g.documents = append(g.documents, []workload.Span{{Content: workload.NamedContent(fmt.Sprintf("document %d", i)), Length: tokens}})
	}
	return g, err
}

// Pull implements workload.Source.
func (g *grouped) Pull(r *workload.Request) (bool, error) {
	ok, err := g.Source.Pull(r)
	if ok {
		r.Spans = g.documents[g.draws.IntN(len(g.documents))]
	}
	return ok, err
}
