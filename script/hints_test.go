package script

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"blis/policy"
)

// settingsOf are those of a program in mine.star.
func settingsOf(source string) []policy.Setting {
	return []policy.Setting{{Name: "source", Value: source}, {Name: "file", Value: "mine.star"}}
}

// scoreOnce makes a priority policy of a program and asks it once.
func scoreOnce(source string) (score float64, hints policy.Hints, err error) {
	defer func() {
		if fault, ok := recover().(policy.Fault); ok {
			err = fault
		}
	}()
	p, err := policy.NewPriority("starlark", settingsOf(source), policy.Env{})
	if err != nil {
		return 0, hints, err
	}
	view := viewOf(1)
	st, req := &policy.RouterState{View: view}, &policy.Request{}
	req.ID, req.Input = 7, 100
	score = p.Score(req, st, 0)
	p.(policy.Hinter).Hint(req, st, 0, &hints)
	return score, hints, nil
}

// TestHintsOfAnAnswer: a number, or a pair; hints that are not in it are 0, those of the last answer too.
func TestHintsOfAnAnswer(t *testing.T) {
	const three = "hints = ['urgent', 'heavy', 'b2']\n"
	for _, c := range []struct {
		source string
		score  float64
		hints  policy.Hints
	}{
		{three + "def priority(req):\n  return 5, {'heavy': 0.3, 'urgent': 1}", 5, policy.Hints{1, 0.3}},
		{three + "def priority(req):\n  return (req.input, {'b2': -req.input / 8})", 100, policy.Hints{0, 0, -12.5}},
		{three + "def priority(req):\n  return 5, {}", 5, policy.Hints{}},
		{three + "def priority(req):\n  return 5", 5, policy.Hints{}},
		{"hints = ('urgent',)\ndef priority(req):\n  d = dict(urgent=2)\n  return 0.5, d", 0.5, policy.Hints{2}},
		{"hints = ['h%d' % k for k in range(8)]\ndef priority(req):\n  return 1, {h: k for k, h in enumerate(hints)}", 1, policy.Hints{0, 1, 2, 3, 4, 5, 6, 7}},
		{"hints = []\ndef priority(req):\n  return 1, {}", 1, policy.Hints{}},
		{"def priority(req):\n  hints = {}\n  return 1, hints", 1, policy.Hints{}},
	} {
		score, hints, err := scoreOnce(c.source)
		if err != nil || score != c.score || hints != c.hints {
			t.Errorf("%s:\n%v, %v, %v; want %v, %v", c.source, score, hints, err, c.score, c.hints)
		}
	}
	p, err := policy.NewPriority("starlark", settingsOf("hints = ['a']\ndef priority(req):\n  return (1, {'a': 1}) if req.input > 9 else 0"), policy.Env{})
	if err != nil {
		t.Fatal(err)
	}
	st := &policy.RouterState{View: viewOf(1)}
	for input, want := range map[int32]float64{100: 1, 1: 0} { // in either order
		for range 2 {
			req, hints := &policy.Request{}, policy.Hints{}
			req.Input = input
			p.Score(req, st, 0)
			if p.(policy.Hinter).Hint(req, st, 0, &hints); hints[0] != want {
				t.Errorf("hint %v with input %d, want %v", hints[0], input, want)
			}
		}
	}
}

// TestHintsThatCannotBe: one line, with the place and what would be right.
func TestHintsThatCannotBe(t *testing.T) {
	const two = "hints = ['urgent', 'heavy']\ndef priority(req):\n  return "
	for source, want := range map[string]string{
		two + "5, {'urgnt': 1}":                                                 `mine.star:2:1: priority: returns the hint "urgnt", which is not declared, the nearest is "urgent" (in hints are: urgent, heavy)`,
		two + "5, {'urgent': 1, 'x y': 1}":                                      `priority: returns the hint "x y", which is not declared (in hints are: urgent, heavy)`,
		two + "5, {'urgent': exp(999)}":                                         `mine.star:2:1: priority: returns +Inf for the hint "urgent": want a finite number`,
		two + "5, {'heavy': float('nan')}":                                      `returns NaN for the hint "heavy": want a finite number`,
		two + "5, {'heavy': '1'}":                                               `returns a string for the hint "heavy": want a number`,
		two + "5, {'heavy': None}":                                              `returns a NoneType for the hint "heavy"`,
		two + "5, {3: 1}":                                                       `returns hints with the key 3: want names`,
		two + "5, ['urgent']":                                                   `returns (5, ["urgent"]): want a number, or a number and a dict of hints`,
		two + "5, {}, {}":                                                       `want a number, or a number and a dict of hints, like return 5, {"urgent": 1}`,
		two + "'5', {}":                                                         `returns a string: want a number`,
		two + "{'urgent': 1}":                                                   `returns a dict: want a number`,
		"def priority(req):\n  return 5, {'a': 1}":                              `mine.star:1:1: priority: returns the hint "a", which is not declared: want hints = ["a"] outside of functions`,
		"hints = 'urgent'\ndef priority(req):\n  return 5":                      `mine.star:1:1: hints is a string, want a list of names: hints = ["urgent"]`,
		"x = 1\nhints = {'urgent': 1}\ndef priority(req):\n  return 5":          `mine.star:2:1: hints is a dict, want a list of names`,
		"hints = [1]\ndef priority(req):\n  return 5":                           `mine.star:1:1: hints has a int, want a list of names`,
		"hints = ['a', 'a']\ndef priority(req):\n  return 5":                    `mine.star:1:1: hints: the hint "a" is there twice`,
		"hints = ['A']\ndef priority(req):\n  return 5":                         `hints: a hint cannot be called "A": want at most 40 small letters, digits and _, a letter first`,
		"hints = ['h%d' % k for k in range(9)]\ndef priority(req):\n  return 5": `mine.star:1:1: hints: there are 9 hints: want at most 8`,
		"hints = ['a']\ndef priority(req):\n  return req.hints.a":               `mine.star:3:20: hints are not known in a policy of the kind priority: want them in route, filter and the functions of schedulers`,
		"hints = ['a']\ndef priority(req):\n  return 5, {'a': 10}\ndef f(x):\n  return x.": `mine.star:5`,
	} {
		_, _, err := scoreOnce(source)
		var fault *Error
		if !errors.As(err, &fault) || !strings.Contains(fault.Error(), want) || strings.Contains(fault.Error(), "\n") {
			t.Errorf("%q:\n%v, want\n%s", source, err, want)
		}
	}
}

// TestHintsThatAreRead: what the priority policy of the run gives, in all functions that may read
// them; else an error where the policy is made.
func TestHintsThatAreRead(t *testing.T) {
	env := policy.Env{BlockSize: 16, Hints: []string{"heavy", "urgent"}}
	view := viewOf(3)
	for _, template := range []struct{ name, source string }{
		{"starlark", "def route(req, i):\n  return int(req.hints.urgent) if req.hints.heavy == 0.25 else 0"},
		{"starlark", "def f(r):\n  return (r.hints).urgent\ndef route(req, i):\n  return int(f(req))"},
		{"tree", "{if: hints.heavy > 0.2, then: '1 if index == hints.urgent else 0', else: 0}"},
	} {
		route, err := policy.NewRouting(template.name, settingsOf(template.source), env)
		if err != nil {
			t.Fatal(err)
		}
		st, req := &policy.RouterState{View: view}, &policy.Request{Hints: &policy.Hints{0.25, 2}}
		if got := route.Route(req, 0, st, view, 0).Target; got != 2 {
			t.Errorf("%s: instance %d, want 2", template.source, got)
		}
	}
	for _, template := range []struct{ name, source string }{
		{"starlark", "def order(req):\n  return 0 - req.hints.urgent\ndef victim(running):\n  return argmax(running.hints.heavy + 0 * running.hints.urgent)"},
		{"tree", "0 - hints.urgent"},
	} {
		s, err := policy.NewScheduler(template.name, settingsOf(template.source), env)
		if err != nil {
			t.Fatal(err)
		}
		a, b, none := &policy.Waiting{Hints: &policy.Hints{0, 1}}, &policy.Waiting{Hints: &policy.Hints{0, 3}}, &policy.Waiting{}
		a.ID, b.ID, none.ID = 1, 2, 3
		if !s.Less(b, a, nil) || !s.Less(a, none, nil) || s.Less(none, b, nil) {
			t.Errorf("%s: the order is not that of the hints", template.source)
		}
		running := []policy.Running{{}, {Hints: &policy.Hints{0.5}}, {Hints: &policy.Hints{-0.5}}}
		if got := s.Victim(running, &policy.SchedulerContext{}); template.name == "starlark" && got != 1 {
			t.Errorf("%s: victim %d, want 1", template.source, got)
		}
	}
	batches, err := policy.NewScheduler("starlark", settingsOf("def on_arrival(req):\n  state['most'] = max(state.get('most', 0), req.hints.urgent)\n"+
		"def make_batch(waiting, running):\n  if sum(running.hints.heavy) + running[1].hints.urgent != 4.5: fail(running.hints.heavy)\n"+
		"  return [k for k in range(len(waiting)) if waiting.hints.urgent[k] + waiting[k].hints.urgent == 2 * state['most']]"), env)
	if err != nil {
		t.Fatal(err)
	}
	waiting := []policy.Waiting{{}, {Hints: &policy.Hints{0, 5}}, {Hints: &policy.Hints{9, 3}}, {Hints: &policy.Hints{0, 5}}}
	for k := range waiting {
		batches.(policy.ArrivalObserver).OnRequestArrival(&waiting[k], &policy.SchedulerContext{})
	}
	running := []policy.Running{{Hints: &policy.Hints{0.5}}, {Hints: &policy.Hints{1, 3}}}
	if got := batches.(policy.BatchMaker).MakeBatch(waiting, running, &policy.SchedulerContext{}, nil); !slices.Equal(got, []int32{1, 3}) {
		t.Errorf("batch %v, want [1 3]", got)
	}
	for source, want := range map[string]string{
		"def filter(req, i):\n  return req.hints.urgnt\ndef route(req, i):\n  return 0": `mine.star:2:20: the priority policy gives no hint "urgnt"`,
		"def route(req, i):\n  return req.hints.urgnt":                                  `mine.star:2:20: the priority policy gives no hint "urgnt", the nearest is "urgent" (there are: heavy, urgent)`,
		"def f(x):\n  return x.hints.b\ndef route(req, i):\n  return f(req)":            `mine.star:2:18: the priority policy gives no hint "b" (there are: heavy, urgent)`,
		"def route(req, i):\n  h = req.hints\n  return 0":                               `mine.star:2:11: want the name of a hint, like req.hints.urgent`,
		"def route(req, i):\n  return req.hints.heavy.urgent":                           `mine.star:2:26: nothing has "urgent"`,
		"def route(req, i):\n  return i.hints.heavy":                                    `has no hints`,
		"def route(req, i):\n  return req.hints":                                        `want the name of a hint`,
	} {
		_, err := routeIn(source, env)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q:\n%v, want\n%s", source, err, want)
		}
	}
	if _, err := routeOnce("def route(req, i):\n  return req.hints.urgent", 3); err == nil || err.Error() != `mine.star:2:20: there is no hint "urgent": the priority policy gives none; a program gives hints with hints = ["urgent"] and return 5, {"urgent": 1}` {
		t.Errorf("without any hints: %v", err)
	}
	if _, err := routeOnce("def f(req):\n  return req.hints.urgent\ndef route(req, i):\n  return 0", 3); err != nil {
		t.Errorf("hints in what nobody reaches: %v", err)
	}
	for _, kind := range []struct {
		source string
		make   func(source string) error
	}{
		{"def admit(req):\n  return req.hints.urgent > 0", func(source string) error {
			_, err := policy.NewAdmission("starlark", settingsOf(source), env)
			return err
		}},
		{"def scale(ctx, i):\n  return ctx.hints.urgent", func(source string) error {
			_, err := policy.NewAutoscale("starlark", settingsOf(source), env)
			return err
		}},
	} {
		if err := kind.make(kind.source); err == nil || !strings.Contains(err.Error(), "hints are not known in a policy of the kind a") {
			t.Errorf("%s: %v", kind.source, err)
		}
	}
	if _, err := policy.NewScheduler("tree", settingsOf("0 - hints.urgnt"), env); err == nil || !strings.Contains(err.Error(), `mine.star:1:11: the priority policy gives no hint "urgnt", the nearest is "urgent"`) {
		t.Errorf("tree: %v", err)
	}
}

// routeIn is routeOnce in an environment.
func routeIn(source string, env policy.Env) (d policy.RoutingDecision, err error) {
	defer func() {
		if fault, ok := recover().(policy.Fault); ok {
			err = fault
		}
	}()
	p, err := policy.NewRouting("starlark", settingsOf(source), env)
	if err != nil {
		return d, err
	}
	view := viewOf(3)
	return p.Route(&policy.Request{}, 0, &policy.RouterState{View: view}, view, 0), nil
}

// TestHintsAreReadInPlace: an answer with hints costs the dict of the program, and nothing of ours.
func TestHintsAreReadInPlace(t *testing.T) {
	p, err := policy.NewPriority("starlark", settingsOf("hints = ['a', 'b']\nH = {'a': 1.5, 'b': 2.5}\ndef priority(req):\n  return 5, H"), policy.Env{})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := policy.NewPriority("starlark", settingsOf("def priority(req):\n  return 5"), policy.Env{})
	if err != nil {
		t.Fatal(err)
	}
	st, req, hints := &policy.RouterState{View: viewOf(1)}, &policy.Request{}, policy.Hints{}
	score := func(p policy.Priority) float64 {
		return testing.AllocsPerRun(100, func() {
			p.Score(req, st, 0)
			p.(policy.Hinter).Hint(req, st, 0, &hints)
		})
	}
	if with, without := score(p), score(plain); with > without+2 { // the pair
		t.Errorf("%v allocations with hints, %v without", with, without)
	}
	if hints[0] != 0 {
		t.Errorf("hint %v of an answer without hints", hints[0])
	}
}
