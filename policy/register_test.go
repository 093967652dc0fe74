package policy

import (
	"strings"
	"testing"

	"blis/workload"
)

// withTemplates runs f, after which the registry is as it was.
func withTemplates(f func()) {
	templates, scorers := routingTemplates, scorerTable
	defer func() { routingTemplates, scorerTable = templates, scorers }()
	routingTemplates = append([]template[Routing](nil), templates...)
	scorerTable = append([]scorerRow(nil), scorers...)
	f()
}

func TestRegisterRefuses(t *testing.T) {
	build := func(Values, Env) (Routing, error) { return &roundRobin{}, nil }
	number := func(name, text string) []Parameter {
		return []Parameter{{Name: name, Type: Number, Default: text, Max: 9, Help: "h"}}
	}
	for _, c := range []struct {
		name string
		t    Template
		want string
	}{
		{"a name that is taken", Template{Name: "round-robin", Help: "h"}, "is taken"},
		{"no name", Template{Help: "h"}, "want a name"},
		{"a name in capitals", Template{Name: "Own", Help: "h"}, "want a name"},
		{"no help", Template{Name: "own"}, "help text"},
		{"a bad default", Template{Name: "own", Help: "h", Parameters: number("x", "10")}, `the default "10" is not allowed`},
		{"a parameter twice", Template{Name: "own", Help: "h", Parameters: append(number("x", "1"), number("x", "1")...)}, `"x": the name is taken`},
		{"a weight", Template{Name: "own", Help: "h", Parameters: []Parameter{{Name: "x", Type: Weight, Default: "1", Max: 9, Help: "h"}}}, "RegisterScorer"},
		{"tenants by another name", Template{Name: "own", Help: "h", Open: &Parameter{Name: "each"}}, "Open"},
	} {
		withTemplates(func() {
			if problem := panicked(func() { Register(c.t, build) }); !strings.Contains(problem, c.want) {
				t.Errorf("%s: %q, want %q", c.name, problem, c.want)
			}
		})
	}
	if problem := panicked(func() { Register(Template{Name: "own", Help: "h"}, func(Values, Env) (int, error) { return 0, nil }) }); !strings.Contains(problem, "want a function") {
		t.Errorf("no policy: %q", problem)
	}
	for name, want := range map[string]string{"queue-depth": "is taken", "tie": "is taken", "A": "want a name"} { // any order
		if problem := panicked(func() { RegisterScorer(Scorer{Name: name, Help: "h", Score: func(*View, int) float64 { return 0 }}) }); !strings.Contains(problem, want) {
			t.Errorf("scorer %q: %q, want %q", name, problem, want)
		}
	}
}

// TestOwnScorerCounts weighs a registered scorer alone and beside a built-in one.
func TestOwnScorerCounts(t *testing.T) {
	withTemplates(func() {
		score := func(view *View, i int) float64 { return float64(view.QueueDepth(i)) / 4 }
		RegisterScorer(Scorer{Name: "longest", Help: "h", Observes: QueueDepth, Score: score})
		view := viewOf(Slot{Queue: 1, Routable: true}, Slot{Queue: 4, Routable: true}, Slot{Queue: 2, Routable: true})
		env := Env{BlockSize: 16, Instances: 3}
		req := &Request{Identity: workload.Identity{Input: 5}}
		for weight, want := range map[string]int{"0.1": 0, "9": 1} { // any order
			if d := route(mustRoute(t, "weighted", env, Setting{"waiting-queue", "1"}, Setting{"longest", weight}), req, view); d.Target != want {
				t.Errorf("weight %s: instance %d, want %d", weight, d.Target, want)
			}
		}
		view.Set(0, Slot{Queue: 9, Routable: true})
		if problem := panicked(func() { route(mustRoute(t, "weighted", env, Setting{"longest", "1"}), req, view) }); !strings.Contains(problem, `"longest" is 2.25`) {
			t.Errorf("a score above 1: %q", problem)
		}
	})
	if err := try(RoutingKind, "weighted", Setting{"longest", "1"}); err == nil {
		t.Error("a scorer that nobody registered has a weight")
	}
}
