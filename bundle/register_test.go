package bundle

import (
	"testing"

	"blis/policy"
)

func TestRegisteredNamesWinOverAliases(t *testing.T) {
	typeAliases[policy.RoutingKind]["first-instance"] = "weighted"
	defer delete(typeAliases[policy.RoutingKind], "first-instance")
	if b := mustParse(t, "routing: first-instance"); b.Routing.Type != "weighted" {
		t.Errorf("an alias alone: %s", b.Routing.Type)
	}
	policy.Register(policy.Template{Name: "first-instance", Help: "the first instance"},
		func(policy.Values, policy.Env) (policy.Routing, error) { return nil, nil })
	if b := mustParse(t, "routing: first-instance"); b.Routing.Type != "first-instance" {
		t.Errorf("in a file: %s", b.Routing.Type)
	}
	var b Bundle
	if err := b.Set("routing.type", "first-instance"); err != nil || b.Routing.Type != "first-instance" {
		t.Errorf("set: %s, %v", b.Routing.Type, err)
	}
}

// A signal of another module cannot be called like a field of the section that says
// how fresh signals are.
func TestSignalsCannotTakeTheNameOfAField(t *testing.T) {
	s, problem := findSection("observability")
	if s == nil {
		t.Fatal(problem)
	}
	for _, f := range s.fields {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a signal can be called %s", f.Name)
				}
			}()
			policy.RegisterSignal(f.Name, func(*policy.InstanceState) float64 { return 0 })
		}()
	}
}
