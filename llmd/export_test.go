package llmd

import (
	"slices"
	"testing"

	"blis/policy"
)

// TestEveryScorerHasARule, so that none is called unknown.
func TestEveryScorerHasARule(t *testing.T) {
	weighted, err := policy.Find(policy.RoutingKind, "weighted")
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]bool{"prefix-affinity": true, "session-affinity": true, "no-hit-lru": true}
	for _, p := range weighted.Parameters {
		_, known := scorerRules[p.Name]
		if p.Type == policy.Weight && !known && !own[p.Name] {
			t.Errorf("the scorer %s has no rule", p.Name)
		}
		if p.Type != policy.Weight && !slices.Contains(noScorers, p.Name) {
			t.Errorf("the parameter %s of weighted is lost in silence", p.Name)
		}
	}
}

// TestParametersOfRoutingPolicies are those that are exported or named: a new one needs a
// rule.
func TestParametersOfRoutingPolicies(t *testing.T) {
	known := map[string][]string{
		"round-robin": nil, "least-loaded": {"tie"}, "prefix-affinity": {"min_match", "max_imbalance", "tie"}, "power-of-two": nil, "session-hash": {"tie"}, "always-busiest": {"tie"},
	}
	filters := []string{"max_queue", "max_kv", "max_in_flight", "max_running", "sticky_session", "min_prefix"} // of each
	for _, r := range policy.OfKind(policy.RoutingKind) {
		names, ok := known[r.Name]
		if !ok {
			continue // refused, or weighted
		}
		names = append(names, filters...)
		for i, p := range r.Parameters {
			if i >= len(names) || names[i] != p.Name {
				t.Errorf("%s has the parameter %s, which the export does not look at", r.Name, p.Name)
			}
		}
	}
}
