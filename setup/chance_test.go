package setup

import (
	"testing"

	"blis/policy"
)

func init() {
	policy.Register(policy.Template{Name: "coin", Seeded: true, Help: "admits by the toss of a coin"},
		func(policy.Values, policy.Env) (policy.Admission, error) { return nil, nil })
}

// A policy of another module says itself whether it draws.
func TestDecisionsOfRegisteredPoliciesDependOnTheSeed(t *testing.T) {
	for name, want := range map[string]bool{"coin": true, "always-admit": false} {
		c := DefaultConfig()
		c.AdmissionPolicy = name
		p, err := Resolve(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Summary.Chance.Decisions; got != want || p.Config.Policies.Seeded() != want {
			t.Errorf("%s: decisions depend on the seed: %v, of the bundle: %v; want %v", name, got, p.Config.Policies.Seeded(), want)
		}
	}
}
