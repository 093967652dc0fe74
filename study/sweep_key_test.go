package study

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blis/latency"
	"blis/setup"
	"blis/study/pointlog"
)

// TestKeysDoNotDependOnEarlierOnes: what is kept of bundles that came before, more of them
// than are kept, changes no key.
func TestKeysDoNotDependOnEarlierOnes(t *testing.T) {
	var weights []string
	for i := range 20 {
		weights = append(weights, fmt.Sprint(i+1))
	}
	base := smallBase()
	b := base.Policies
	if err := b.Set("routing.type", "weighted"); err != nil {
		t.Fatal(err)
	}
	if err := base.UseBundle(b); err != nil {
		t.Fatal(err)
	}
	s := NewSweep(base, numbers("rate", "5", "10"), numbers("routing.params.queue-depth", weights...), numbers("autoscale.interval", "1000000", "2000000"))
	p := mustPlan(t, s)
	seen := map[string]bool{}
	for i := range p.Len() {
		raw, err := p.Config(i)
		if err != nil {
			t.Fatal(err)
		}
		effective, err := setup.Effective(raw)
		if err != nil {
			t.Fatal(err)
		}
		prefix, err := (&keyWriter{inputs: p.inputs}).prefix(&effective)
		if err != nil {
			t.Fatal(err)
		}
		want := keyOf(prefix, p.seeds(&effective, 0))
		if got := p.Key(i); got != want {
			t.Fatalf("point %d (%s) has the key %v, alone %v", i, p.Label(i), got, want)
		}
		seen[want.String()] = true
	}
	if len(seen) < 40 {
		t.Errorf("only %d keys of %d points", len(seen), p.Len())
	}
}

// Coefficients of a pool count by the content of their file, as those of the run do.
func TestKeysKnowTheCoefficientsOfPools(t *testing.T) {
	set := latency.PhysicsSets()[0].Format()
	dir := t.TempDir()
	key := func(file string, content []byte, settings ...string) pointlog.Key {
		t.Helper()
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		base := smallBase()
		base.LatencyModel = "auto"
		for _, s := range settings {
			name, text, _ := strings.Cut(strings.ReplaceAll(s, "FILE", path), "=")
			if err := base.Set(name, text); err != nil {
				t.Fatal(err)
			}
		}
		p := mustPlan(t, NewSweep(base, numbers("rate", "1")))
		if p.Refused() > 0 {
			t.Fatal(p.Refusal(0))
		}
		return p.Key(0)
	}
	for _, settings := range [][]string{
		{"architecture=pd", "prefill-coefficients=FILE"},
		{"architecture=pd", "decode-coefficients=FILE"},
		{"num-instances=0", "model=", "deployments=[{id: a, model: Llama-3.1-8B-Instruct, replicas: 1, coefficients: FILE}, {id: b, model: Llama-3.1-8B-Instruct, replicas: 1}]"},
		{"num-instances=0", "model=", "deployments=[{id: a, model: Llama-3.1-8B-Instruct, architecture: pd, prefill: {replicas: 1, coefficients: FILE}, decode: {replicas: 1}}]"},
	} {
		before := key("a.json", set, settings...)
		if key("b.json", set, settings...) != before {
			t.Errorf("%q: the same content under another name, another key", settings)
		}
		if key("a.json", append(slices.Clip(set), '\n'), settings...) == before {
			t.Errorf("%q: another content, the same key", settings)
		}
	}
}
