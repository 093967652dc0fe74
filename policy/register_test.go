package policy

import (
	"slices"
	"strings"
	"testing"

	"blis/vtime"
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
		{"the parameter of a filter", Template{Name: "own", Help: "h", Parameters: number("max_kv", "1")}, `"max_kv": the name is taken`},
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

// picky is a routing policy of another module: it leaves out the first instance that it sees, and takes the next.
type picky struct{ out [1]int32 }

func (*picky) Observes() Signals { return NoSignals }

func (p *picky) Route(_ *Request, _ float64, _ *RouterState, view *View, _ vtime.Time) RoutingDecision {
	d, seen := RoutingDecision{Target: -1}, 0
	for _, i := range view.Present() {
		if view.Routable(int(i)) {
			if seen++; seen == 1 {
				p.out[0], d.FilteredOut = i, p.out[:]
			} else if d.Target < 0 {
				d.Target = int(i)
			}
		}
	}
	return d
}

func (*picky) Printed() string { return "picked\n" }

// TestOwnRoutingTakesFilters: what they leave out and what it leaves out itself are told together, and what it prints is.
func TestOwnRoutingTakesFilters(t *testing.T) {
	withTemplates(func() {
		Register(Template{Name: "picky", Help: "h"}, func(Values, Env) (Routing, error) { return &picky{}, nil })
		view := viewOf(Slot{Queue: 1, Routable: true}, Slot{Queue: 1, Routable: true}, Slot{Queue: 4, Routable: true}, Slot{Queue: 2, Routable: true})
		for _, c := range []struct {
			most   string
			target int
			out    []int32
		}{{"9", 1, []int32{0}}, {"3", 1, []int32{0, 2}}, {"1", 1, []int32{0, 2, 3}}, {"0", 1, []int32{0}}} {
			p := mustRoute(t, "picky", Env{BlockSize: 16}, Setting{"max_queue", c.most})
			if d := route(p, &Request{}, view); d.Target != c.target || !slices.Equal(d.FilteredOut, c.out) {
				t.Errorf("max_queue %s: %+v, want instance %d without %v", c.most, d, c.target, c.out)
			}
			if text := p.(Printer).Printed(); text != "picked\n" {
				t.Errorf("max_queue %s: printed %q", c.most, text)
			}
		}
		view.Set(0, Slot{Queue: 4, Routable: true})
		if d := route(mustRoute(t, "picky", Env{BlockSize: 16}, Setting{"max_queue", "3"}), &Request{}, view); d.Target != 3 || !slices.Equal(d.FilteredOut, []int32{0, 1, 2}) {
			t.Errorf("%+v, want instance 3 without the others", d)
		}
	})
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
