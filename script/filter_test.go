package script

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"blis/policy"
	"blis/vtime"
)

// TestFiltersOfProgramsAreThoseOfTemplates: a program that filters as max_queue does chooses
// as the template with it, and names the same instances.
func TestFiltersOfProgramsAreThoseOfTemplates(t *testing.T) {
	const seed = 20261201
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	route := "\ndef route(req, i):\n    return 0 - (i.queue + i.running + i.in_flight)"
	all := 0
	for n, filter := range []string{
		"1 - above(i.queue, 3)", "[q <= 3 for q in i.queue]", "[0 if x.queue > 3 else -7 for x in i]", "0.5 * below(i.queue, 4)",
	} {
		env := policy.Env{BlockSize: 16, Draws: policy.NewDraws(uint64(n))}
		mine, err := policy.NewRouting("starlark", []policy.Setting{{Name: "source", Value: "def filter(req, i):\n    return " + filter + route}}, env)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := policy.NewRouting("least-loaded", []policy.Setting{{Name: "max_queue", Value: "3"}}, env)
		if err != nil {
			t.Fatal(err)
		}
		if mine.Observes() != theirs.Observes() {
			t.Errorf("%s observes %v, want %v", filter, mine.Observes(), theirs.Observes())
		}
		for k := range int64(300) {
			view := &policy.View{MaxNumSeqs: 256, BlockSize: 16, Declared: mine.Observes()}
			for range 1 + rng.IntN(6) {
				view.Add(policy.Slot{Routable: rng.IntN(5) > 0, Queue: rng.Int32N(7), Batch: rng.Int32N(3), Total: 100})
			}
			st, req := &policy.RouterState{View: view, Declared: mine.Observes()}, &policy.Request{}
			req.ID = k
			got, want := mine.Route(req, 0, st, view, vtime.Time(k)), theirs.Route(req, 0, st, view, vtime.Time(k))
			if got.Target != want.Target || !slices.Equal(got.FilteredOut, want.FilteredOut) {
				t.Fatalf("%s, decision %d: %+v, want %+v", filter, k, got, want)
			}
			if want.Target >= 0 && len(want.FilteredOut) == 0 && view.QueueDepth(want.Target) > 3 {
				all++
			}
		}
	}
	if all == 0 {
		t.Error("there was never a decision in which every instance was left out")
	}
}

// TestFiltersOfBothKinds: the parameters leave instances out before the program's filter sees
// them, and each kind leaves at least one.
func TestFiltersOfBothKinds(t *testing.T) {
	view := &policy.View{MaxNumSeqs: 256, BlockSize: 16}
	for i, queue := range []int32{9, 2, 0, 5, 2} {
		view.Add(policy.Slot{Routable: i != 2, Queue: queue, Used: int64(10 * i), Total: 100})
	}
	for _, c := range []struct {
		most   string
		filter string
		seen   string
		out    []int32
	}{
		{"5", "below(i.kv, 0.4)", "[1.0, 3.0]", []int32{0, 4}},
		{"2", "above(i.kv, 0.2)", "[4.0]", []int32{0, 1, 3}},
		{"2", "above(i.kv, 0.9)", "[1.0, 4.0]", []int32{0, 3}},
		{"0", "above(i.kv, 0.2)", "[3.0, 4.0]", []int32{0, 1}},
		{"0", "above(i.kv, 0.9)", "[0.0, 1.0, 3.0, 4.0]", nil},
	} {
		source := fmt.Sprintf("def filter(req, i):\n    return %s\ndef route(req, i):\n    print(list(i.index))\n    return i.index", c.filter)
		p, err := policy.NewRouting("starlark", []policy.Setting{{Name: "source", Value: source}, {Name: "max_queue", Value: c.most}}, policy.Env{BlockSize: 16})
		if err != nil {
			t.Fatal(err)
		}
		view.Declared = p.Observes()
		d := p.Route(&policy.Request{}, 0, &policy.RouterState{View: view, Declared: p.Observes()}, view, 0)
		if seen := p.(policy.Printer).Printed(); seen != c.seen+"\n" || !slices.Equal(d.FilteredOut, c.out) || d.Scores[0] != -1 && c.out != nil {
			t.Errorf("max_queue %s, %s: route sees %s and %+v comes of it, want %s without %v", c.most, c.filter, seen, d, c.seen, c.out)
		}
	}
}

// TestFiltersAreToldWhatIsWrong: one line each, with kind and place.
func TestFiltersAreToldWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		source, want string
		kind         ErrorKind
	}{
		{"def filter(req, i):\n  pass", "mine.star:1:1: filter: returns a NoneType: want an entry for each instance, a vec or a list", TypeError},
		{"def filter(req, i):\n  return True", "returns a bool: want an entry for each instance", TypeError},
		{"def filter(req, i):\n  return ['a', 1, 1]", "mine.star:1:1: filter: returns a list that is no list of numbers, True and False", TypeError},
		{"def filter(req, i):\n  return [1]", "filter: returns 1 entries: want one for each of 3 instances", ValueError},
		{"def filter(req, i):\n  return log(0 - i.queue)", "mine.star:1:1: filter: returns NaN for entry 1: want 0 or False", ValueError},
		{"def filter(req, i):\n  while True: pass", "filter: takes more than 1000000 steps at once", StepsError},
		{"def filter(req, i):\n  return i.kv > 1", "mine.star:2:15: filter: vec > int not implemented: want above", TypeError},
		{"def filter(req, i):\n  return i.quue", "mine.star:2:12: nothing has \"quue\", the nearest is \"queue\"", SyntaxError},
		{"def filter(a, b, c):\n  return 1", "mine.star:1:1: filter: has 3 parameters, want def filter(req, i)", SyntaxError},
		{"filter = 3", "mine.star: filter is a int, want a function: def filter(…)", TypeError},
	} {
		_, err := routeOnce(c.source+"\ndef route(req, i):\n  return 0", 3)
		fault, _ := err.(*Error)
		if fault == nil || !strings.Contains(fault.Error(), c.want) || fault.Kind != c.kind || strings.Contains(fault.Error(), "\n") {
			t.Errorf("%q: %v, want %q of the kind %s", c.source, err, c.want, c.kind)
		}
	}
	if _, err := routeOnce("def filter(req, i):\n  return i.kv", 3); err == nil || !strings.Contains(err.Error(), "want a function route(…): def route(req, i); filter is asked before route") {
		t.Errorf("a filter without route: %v", err)
	}
}

// TestStepsOfFiltersCountOnce: what filter and route take together is taken from max_steps.
func TestStepsOfFiltersCountOnce(t *testing.T) {
	took := func(source string) uint64 {
		p := mustRouting(t, source).(*routing)
		view, before := viewOf(100), p.left
		view.Declared = p.Observes()
		p.Route(&policy.Request{}, 0, &policy.RouterState{View: view, Declared: p.Observes()}, view, 0)
		return before - p.left
	}
	route := "def route(req, i):\n  return i.queue * 2 - i.queue\n"
	half := took(route)
	if both := took(route + "def filter(req, i):\n  return i.queue * 2 - i.queue + 1"); both < 2*half+100 || both > 2*half+110 {
		t.Errorf("route takes %d steps, both %d: want twice as many, and 100 for an operation more", half, both)
	}
}
