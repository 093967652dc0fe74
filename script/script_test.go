package script

import (
	"errors"
	"math"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"blis/policy"
	"blis/vtime"
)

// routeOnce makes a policy of a program and asks it once, and returns what came of it.
func routeOnce(source string, n int) (d policy.RoutingDecision, err error) {
	defer func() {
		if fault, ok := recover().(policy.Fault); ok {
			err = fault
		}
	}()
	p, err := policy.NewRouting("starlark", []policy.Setting{{Name: "source", Value: source}, {Name: "file", Value: "mine.star"}}, policy.Env{BlockSize: 16})
	if err != nil {
		return d, err
	}
	view := viewOf(n)
	view.Declared = p.Observes()
	st := &policy.RouterState{View: view, Declared: p.Observes()}
	req := &policy.Request{Attempt: 1}
	req.ID, req.Input, req.Deadline = 7, 100, vtime.Never
	return p.Route(req, 2, st, view, 5_000_000), nil
}

// TestErrorsSayWhereAndWhatWouldBeRight: one line each, with kind and place.
func TestErrorsSayWhereAndWhatWouldBeRight(t *testing.T) {
	for _, c := range []struct {
		source, want string
		kind         ErrorKind
	}{
		{"def route(req, i):\n    return x", "mine.star:2:12: there is no x", SyntaxError},
		{"import math", "mine.star:1:1: got import, want primary expression: there is nothing to import", SyntaxError},
		{"def route(req, i):\n    return math.log(2)", "mine.star:2:12: there is no math: exp, log", SyntaxError},
		{"def route(req, i):\n  return 2 ** 3", "mine.star:2:12: got '**', want newline: want pow(x, y)", SyntaxError},
		{"def route(req, i):\n  return f\"a\"", "there are no f-strings", SyntaxError},
		{"def route(req, i):\n  return sum(x for x in i)", "there are no generators", SyntaxError},
		{"def route(req, i):\n  return 1 < 2 < 3", "comparisons do not chain", SyntaxError},
		{"def route(req: int, i):\n  return 0", "no annotations", SyntaxError},
		{"def route(req, i):\n  return i.load", "load is a reserved word", SyntaxError},
		{"def route(req, i):\n  return getattr(i, 'kv')", "mine.star:2:10: getattr is not offered", SyntaxError},
		{"load('x', 'y')", "nothing to load", SyntaxError},
		{"def route(req, i):\n    return i.queu", "mine.star:2:14: nothing has \"queu\", the nearest is \"queue\"", SyntaxError},
		{"def route(req, i):\n    return req.id", "nothing has \"id\"", SyntaxError},
		{"def route(req, i):\n    return req.seed", "nothing has \"seed\"", SyntaxError},
		{"def rout(req, i):\n    return 0", "want a function route(…), the nearest is \"rout\": def route(req, i)", SyntaxError},
		{"def route(a, b, c):\n    return 0", "mine.star:1:1: route: has 3 parameters, want def route(req, i)", SyntaxError},
		{"def route(req, i):\n    while True:\n        req.input", "mine.star:3:9: route: takes more than 1000000 steps", StepsError},
		{"def route(req, i):\n    for _ in range(1000000000): pass", "takes more than 1000000 steps", StepsError},
		{"while True: pass", "takes more than 1000000 steps", StepsError},
		{"def f(x):\n  return f(x)\ndef route(req, i):\n  return f(1)", "mine.star:2:10: f: function f called recursively", Exception},
		{"def route(req, i):\n  return list(range(1<<62))", "mine.star:2:14: route: list of", StepsError},
		{"def route(req, i):\n  return sorted(range(1000001))", "sorted of 1000001 entries", StepsError},
		{"def route(req, i):\n  return [1][3]", "mine.star:2:13: route: list index 3 out of range", ValueError},
		{"def route(req, i):\n  return i.kv[99]", "out of range", ValueError},
		{"def route(req, i):\n  return 1 / 0", "division by zero: want a test before", ValueError},
		{"def route(req, i):\n  return 'a' + 1", "mine.star:2:14: route: unknown binary op: string + int", TypeError},
		{"def route(req, i):\n  return i.kv > 1", "want above(x, y) or below(x, y)", TypeError},
		{"def route(req, i):\n  return i.kv == i.kv", "has no single answer", TypeError},
		{"def route(req, i):\n  return 1 if i.kv else 0", "mine.star:2:16: route: a vec is neither true nor false", TypeError},
		{"def route(req, i):\n  return i.kv + [1]", "want vec(…) of the list", TypeError},
		{"def route(req, i):\n  return i.kv + vec([1])", "vec + vec of 3 and 1 entries", ValueError},
		{"def route(req, i):\n  return 3", "mine.star:1:1: route: returns 3: want the index of an instance, 0 to 2", ValueError},
		{"def route(req, i):\n  return -1", "returns -1", ValueError},
		{"def route(req, i):\n  pass", "route: returns a NoneType: want the index", TypeError},
		{"def route(req, i):\n  return [1, 2]", "returns 2 scores: want one for each of 3", ValueError},
		{"def route(req, i):\n  return log(i.kv * 0)", "returns the score -Inf for entry 0", ValueError},
		{"def route(req, i):\n  return 0 * log(i.kv * 0)", "returns the score NaN", ValueError},
		{"def route(req, i):\n  return argmax(0 * log(i.kv * 0))", "argmax: entry 0 is not a number", ValueError},
		{"def route(req, i):\n  return argmax(vec([]))", "argmax of nothing", ValueError},
		{"def route(req, i):\n  fail('a\\nb', 'c')", "mine.star:2:7: route: fail: a\\nb c", Exception},
		{"def route(req, i):\n  state['x'] = 'a' * 70000\n  return 0", "mine.star:1:1: route: state is larger than 64 KiB", StateError},
		{"def route(req, i):\n  state['x'] = req\n  return 0", "state has a request in it", StateError},
		{"def route(req, i):\n  x = []\n  for _ in range(20): x = [x]\n  state['x'] = x\n  return 0", "lists in lists more than 16 deep", StateError},
		{"L = []\ndef route(req, i):\n  L.append(1)\n  return 0", "cannot append to frozen list", Exception},
		{"x = rand()", "rand: outside of a decision", Exception},
		{"def route(req, i):\n  return cluster.active + i.queue\nx = cluster.arrived", "cluster.arrived is known in decisions", TypeError},
		{"def route(req, i):\n  return delay(-1)", "delay: -1 s is not allowed", ValueError},
		{"def route(req, i):\n  return above(1)", "above has 1 arguments, want 2", TypeError},
		{"def route(req, i):\n  return above('a', 1)", "above: a string is not allowed, want a vec or a number", TypeError},
		{"def route(req, i):\n  return req.preempted", "req.preempted is not known in a policy of the kind routing", TypeError},
		{"def route(req, i):\n  return " + strings.Repeat("n", 100000), "is longer", SyntaxError},
		{"def " + strings.Repeat("n", 50000) + "(req, i):\n  return 0", "want a function route", SyntaxError},
		{"x = " + strings.Repeat("(", 30000), "excessive nesting", SyntaxError},
		{"x = " + strings.Repeat("-", 60000) + "1", "", SyntaxError},
		{"x = " + strings.Repeat("not ", 15000) + "1", "", SyntaxError},
		{"x = a" + strings.Repeat(".b", 20000), "", SyntaxError},
		{"x = 1" + strings.Repeat("+1", 20000), "", SyntaxError},
		{"x = " + strings.Repeat("9", 60000), "want a function route", SyntaxError},
		{"x = [0] * (1 << 40)", "too large", ValueError},
		{"x = 1 << 100000", "", ValueError},
		{"x = 'a' % 3", "", TypeError},
		{"\x00\xff", "", SyntaxError},
	} {
		_, err := routeOnce(c.source, 3)
		var fault *Error
		short := clip(c.source, 80)
		switch {
		case err == nil:
			t.Errorf("%q: no error, want %q", short, c.want)
		case strings.HasPrefix(c.want, "is longer"):
			if !strings.Contains(err.Error(), "a text of at most 64 KiB") || strings.Contains(err.Error(), "\n") || len(err.Error()) > 600 {
				t.Errorf("%q: %v", short, err)
			}
		case !errors.As(err, &fault):
			t.Errorf("%q: %T %v, want an *Error", short, err, err)
		case !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 600:
			t.Errorf("%q: %s, want %q", short, clip(err.Error(), 700), c.want)
		case c.want != "" && fault.Kind != c.kind:
			t.Errorf("%q: %v is of the kind %s, want %s", short, err, fault.Kind, c.kind)
		case fault.Kind == PanicError:
			t.Errorf("%q: %v", short, err)
		}
	}
}

// TestWhatProgramsSee: columns, requests, and what functions make of them.
func TestWhatProgramsSee(t *testing.T) {
	for _, c := range []struct {
		expression string
		want       float64
	}{
		{"i.queue[2]", 2}, {"i.queue_depth[2]", 2}, {"len(i)", 3}, {"sum([x.queue for x in i])", 3}, {"i[1].in_flight", 1}, {"i.kv[2]", 0.006},
		{"i.index[1]", 1}, {"req.input", 100}, {"req.age", 5}, {"req.attempt", 1}, {"req.priority", 2}, {"1 if req.deadline == None else 0", 1},
		{"1 if req.tenant == '' else 0", 1}, {"cluster.arrived", 0}, {"max(i.queue)", 2}, {"max(1, 3)", 3}, {"max([4, 1])", 4}, {"max(i.queue, 1)[0]", 1},
		{"argmax(vec([1, 5, 5]))", 1}, {"argmin([3, 1, 1])", 1}, {"mean(vec([1, 2, 6]))", 3}, {"sum([1, 2])", 3}, {"where(above(i.queue, 1), 7, 8)[2]", 7},
		{"where(1 > 2, 7, 8)", 8}, {"clip(5, 0, 3)", 3}, {"rank(vec([5, 1, 5]))[2]", 1}, {"normalize(vec([1, 3]))[1]", 0.75}, {"minmax(vec([1, 3, 2]))[2]", 0.5},
		{"minmax(vec([2, 2]), 1)[0]", 1}, {"log(exp(2))", 2}, {"pow(2, 10)", 1024}, {"sqrt(i.queue + 7)[2]", 3}, {"abs(-3)", 3}, {"abs(0 - i.queue)[1]", 1},
		{"floor(2.7)", 2}, {"ceil(2.1)", 3}, {"round(2.5)", 2}, {"round(2.675, 2)", 2.67}, {"round(-1.25, 1)", -1.2}, {"round(7, 1)", 7}, {"round(i.queue / 3, 2)[1]", 0.33}, {"floor(i.queue / 2)[1]", 0}, {"(i.queue // 2)[2]", 1}, {"(i.queue / (0 * i.queue))[0]", 0},
		{"len(i.queue[1:])", 2}, {"i.queue[::-1][0]", 2}, {"i.queue[-1]", 2}, {"(-i.queue)[1]", -1}, {"(3 - i.queue)[1]", 2}, {"(4 / (i.queue + 1))[1]", 2},
		{"equal(i.queue, 1)[1]", 1}, {"above(1, 0.5)", 1}, {"below(i.queue, vec([0, 2, 2]))[1]", 1}, {"1 if rand() < 1 else 0", 1}, {"1 if rand() == rand() else 0", 0},
		{"len(str(i.kv)) - len(str(i.kv))", 0}, {"int(i.queue[2])", 2}, {"i.warming[0]", 0}, {"i.free_seqs[1]", 255}, {"i.prefix_hit[1]", 0},
	} {
		d, err := routeOnce("def route(req, i):\n  return [float("+c.expression+")] * 3", 3)
		if err != nil {
			t.Errorf("%s: %v", c.expression, err)
		} else if math.Abs(d.Scores[0]-c.want) > 1e-12 {
			t.Errorf("%s is %v, want %v", c.expression, d.Scores[0], c.want)
		}
	}
}

// TestSignalsAreThoseThatAPolicyCanReach: by the text of the program.
func TestSignalsAreThoseThatAPolicyCanReach(t *testing.T) {
	const source = `
def helper(x):
    return x.running

def far(x):
    return other(x)

def other(x):
    return x.in_flight

f = lambda x: x.hit_rate

def route(req, i):
    return helper(i)

def admit(req, i):
    return max(far(i)) < 3 and cluster.active < 5

def priority(req):
    return req.tenant_rate

def order(req):
    return req.priority

def scale(ctx, i):
    return ctx.replicas
`
	settings := []policy.Setting{{Name: "source", Value: source}}
	env := policy.Env{BlockSize: 16}
	check := func(p interface{ Observes() policy.Signals }, err error, want policy.Signals) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Observes(); got != want {
			t.Errorf("observes %v, want %v", got, want)
		}
	}
	route, err := policy.NewRouting("starlark", settings, env)
	check(route, err, policy.BatchSize|policy.HitRate)
	admit, err := policy.NewAdmission("starlark", settings, env)
	check(admit, err, policy.InFlight|policy.Active|policy.HitRate)
	priority, err := policy.NewPriority("starlark", settings, env)
	check(priority, err, policy.Rates|policy.HitRate)
	order, err := policy.NewScheduler("starlark", settings, env)
	check(order, err, policy.NoSignals)
	scale, err := policy.NewAutoscale("starlark", settings, env)
	check(scale, err, policy.HitRate)
}

// TestDecisionsAllocateLittle: a linear policy takes at most 20 allocations, however many
// instances there are.
func TestDecisionsAllocateLittle(t *testing.T) {
	for _, n := range []int{16, 256} {
		p, view := mustRouting(t, linear), viewOf(n)
		view.Declared = p.Observes()
		st := &policy.RouterState{View: view, Declared: p.Observes()}
		req := &policy.Request{}
		if got := testing.AllocsPerRun(100, func() { p.Route(req, 0, st, view, 0) }); got > 20 {
			t.Errorf("%v allocations with %d instances, want at most 20", got, n)
		}
	}
}

// TestStateKeepsVectors: the memory of a vec that a policy remembers is not used again.
func TestStateKeepsVectors(t *testing.T) {
	p := mustRouting(t, `
def route(req, i):
    old = state.get("v")
    state["v"] = i.queue + req.input
    keep = state.setdefault("all", [])
    keep.append(i.queue + req.input)
    if len(keep) > 3: keep.pop(0)
    junk = [i.queue * 1000 for _ in range(20)]
    if old != None and old[0] != req.input - 1: fail("got %s" % old)
    for k, v in enumerate(keep):
        if v[0] != req.input - len(keep) + 1 + k: fail("kept %s" % keep)
    return 0
`)
	view := viewOf(4)
	view.Declared = p.Observes()
	st := &policy.RouterState{View: view, Declared: p.Observes()}
	for n := range int32(50) {
		req := &policy.Request{}
		req.Input = n + 1
		p.Route(req, 0, st, view, 0)
	}
}

// TestStepsOfARunAreBounded: max_steps counts all decisions, and ends at the same one.
func TestStepsOfARunAreBounded(t *testing.T) {
	ends := map[int]bool{}
	for range 2 {
		p, err := policy.NewRouting("starlark", []policy.Setting{{Name: "source", Value: "def route(req, i):\n  return argmin(i.queue + i.running)"}, {Name: "max_steps", Value: "1000"}}, policy.Env{})
		if err != nil {
			t.Fatal(err)
		}
		view := viewOf(4)
		view.Declared = p.Observes()
		decisions := 0
		func() {
			defer func() {
				fault, _ := recover().(*Error)
				if fault == nil || fault.Kind != StepsError || !strings.Contains(fault.Message, "max_steps") {
					t.Errorf("ended by %v", fault)
				}
			}()
			for ; decisions < 1000; decisions++ {
				p.Route(&policy.Request{}, 0, &policy.RouterState{View: view}, view, 0)
			}
		}()
		ends[decisions] = true
	}
	if len(ends) != 1 || ends[1000] || ends[0] {
		t.Errorf("ended after %v decisions", ends)
	}
}

// FuzzLoad: no text makes the reader panic, and every error is one line.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{linear, "def route(req, i):\n  return i.kv", "x = [y for y in 3]", "\"\\xff", "if 1:\n\t\tx\n  y", "load(", "f\"{x}\"", "a ** b", "lambda x: x."} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := load("f.star", text, "route")
		if (p == nil) == (err == nil) && err == nil {
			t.Fatal("neither program nor error")
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Fatalf("%q", err.Error())
		}
	})
}

// set gives the state a list of numbers.
func (s *state) set(name string, list []float64) {
	var values []starlark.Value
	for _, x := range list {
		values = append(values, starlark.Float(x))
	}
	s.Dict.SetKey(starlark.String(name), starlark.NewList(values))
}

// TestScalesAreToldWhatIsWrong: answers that are no number of replicas, and what there is
// not without a request.
func TestScalesAreToldWhatIsWrong(t *testing.T) {
	for body, want := range map[string]string{
		"len(i.prefix_hit)": "prefix_hit is not known in a policy of the kind autoscale", "2.5": "returns 2.5: want a whole number of replicas", "'a'": "returns a string: want a number",
		"1e400": "invalid float literal", "ctx.replicas + None": "unknown binary op: int + NoneType", "3": "", "None": "", "ceil(2.5)": "", "10.0": "",
	} {
		p, err := policy.NewAutoscale("starlark", []policy.Setting{{Name: "source", Value: "def scale(ctx, i):\n  return " + body}}, policy.Env{})
		if err != nil {
			if want == "" || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", body, err)
			}
			continue
		}
		func() {
			defer func() {
				fault, _ := recover().(*Error)
				if (fault != nil) != (want != "") || fault != nil && !strings.Contains(fault.Error(), want) {
					t.Errorf("%s: %v, want %q", body, fault, want)
				}
			}()
			view := viewOf(3)
			view.Declared = p.Observes()
			d := p.Evaluate(&policy.AutoscaleContext{Replicas: 3, Ready: 3, Min: 1, Max: 5, View: view, State: &policy.RouterState{View: view}, LastScale: vtime.Never})
			if got := map[string]int32{"3": 3, "None": 3, "ceil(2.5)": 3, "10.0": 5}[body]; d.Target != got {
				t.Errorf("%s: %d replicas, want %d", body, d.Target, got)
			}
		}()
	}
}

// TestVecsCountTheirEntries: an operation with a vec of n entries takes n steps more than
// one with a vec of one.
func TestVecsCountTheirEntries(t *testing.T) {
	steps := func(n int) uint64 {
		p := mustRouting(t, "def route(req, i):\n  return i.queue + i.queue * 2 - i.kv").(*routing)
		view := viewOf(n)
		view.Declared = p.Observes()
		p.Route(&policy.Request{}, 0, &policy.RouterState{View: view, Declared: p.Observes()}, view, 0)
		return p.thread.Steps
	}
	if one, many := steps(1), steps(101); many-one != 5*100 { // two columns, three operations
		t.Errorf("%d steps with one instance, %d with 101: want 500 more", one, many)
	}
}
