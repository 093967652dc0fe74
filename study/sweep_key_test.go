package study

import (
	"fmt"
	"testing"

	"blis/setup"
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
