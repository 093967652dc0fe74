package script

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"blis/policy"
)

func TestTreesAreProgramsOfRows(t *testing.T) {
	for _, c := range []struct{ tree, program string }{
		{`{if: "kv > 0.003 and queue > 1", then: -1, else: {if: in_flight == 1, then: 2 + prefix_hit, else: "1 / (1 + running)"}}`,
			"def f(x):\n  if x.kv > 0.003 and x.queue > 1: return -1\n  return 2 + x.prefix_hit if x.in_flight == 1 else 1 / (1 + x.running)\ndef route(req, i):\n  return [f(x) for x in i]"},
		{`queue + input / 100`, "def route(req, i):\n  return i.queue + 1"},
		{`{if: "input > 99 and not arrived", then: "max(queue, 3)", else: 0}`, "def route(req, i):\n  return max(i.queue, 3) + cluster.arrived"},
		{`7`, "def route(req, i):\n  return [7] * len(i)"},
	} {
		p, err := policy.NewRouting("tree", []policy.Setting{{Name: "source", Value: c.tree}}, policy.Env{})
		if err != nil {
			t.Errorf("%s: %v", c.tree, err)
			continue
		}
		q := mustRouting(t, c.program)
		if p.Observes() != q.Observes() {
			t.Errorf("%s observes %v, want %v", c.tree, p.Observes(), q.Observes())
		}
		for n := 1; n < 12; n++ {
			view := viewOf(n)
			view.Declared = p.Observes()
			st := &policy.RouterState{View: view, Declared: p.Observes()}
			req := &policy.Request{}
			req.ID, req.Input = int64(n), 100
			got, want := p.Route(req, 0, st, view, 0), q.Route(req, 0, st, view, 0)
			if got.Target != want.Target {
				t.Errorf("%s: %d of %d, want %d", c.tree, got.Target, n, want.Target)
			}
		}
	}
}

func TestTreesSayWhatIsWrong(t *testing.T) {
	for tree, want := range map[string]string{
		"":                                              "want a tree: params",
		"if: kv > 3":                                    "mine.yaml:1:1: tree: want then",
		"{if: kvv > 3, then: 1, else: 2}":               "mine.yaml:1:6: tree: there is no kvv, the nearest is \"kv\"",
		"{if: kv > 3,\n then: foo(3), else: 2}":         "mine.yaml:2:8: tree: there is no function foo",
		"{if: kv > 3, then: [1], else: 2}":              "a list is not allowed",
		"{if: 3, then: 1, else: 2}":                     "3 is not allowed, want a condition",
		"{if: kv > 3, than: 1}":                         "unknown field \"than\", the nearest is \"then\"",
		"{if: kv > 3, then: a is b, else: 2}":           "want == in place of is",
		"{if: kv > 3, then: '[x for x in 3]', else: 2}": "that is not for trees: want a program",
		"{if: kv > 3, then: 'lambda: 3', else: 2}":      "that is not for trees",
		"{if: a: b":                                     "mine.yaml:1",
		strings.Repeat("{if: kv > 3, else: 1, then: ", 40) + "1" + strings.Repeat("}", 40): "nested",
		"{if: kv > 3, then: admit, else: 2}":                                               "there is no admit",
	} {
		_, err := policy.NewRouting("tree", []policy.Setting{{Name: "source", Value: tree}, {Name: "file", Value: "mine.yaml"}}, policy.Env{})
		var fault *Error
		if !errors.As(err, &fault) || !strings.Contains(fault.Error(), want) || strings.Contains(fault.Error(), "\n") {
			t.Errorf("%q: %v, want %q", tree, err, want)
		}
	}
}

// TestFunctionsOfVectorsAreThoseOfNumbers compares vectors with slow twins, entry by entry.
func TestFunctionsOfVectorsAreThoseOfNumbers(t *testing.T) {
	const seed = 20261130
	t.Logf("seed %d", seed)
	programs := map[string]string{ // the vector's way, and the slow one
		"a + b * c - a / (c + 9)":                 "[a[k] + b[k] * c[k] - a[k] / (c[k] + 9) for k in R]",
		"2 * a // 3 - -b":                         "[2 * a[k] // 3 - -b[k] for k in R]",
		"7 - a + 1 / (1 + abs(c))":                "[7 - a[k] + 1 / (1 + abs(c[k])) for k in R]",
		"above(a, b) + 2 * below(a, 0.5)":         "[(1 if a[k] > b[k] else 0) + 2 * (1 if a[k] < 0.5 else 0) for k in R]",
		"where(above(a, b), c, equal(a, b))":      "[c[k] if a[k] > b[k] else (1 if a[k] == b[k] else 0) for k in R]",
		"clip(a, -0.5, b + 2)":                    "[min(max(a[k], -0.5), b[k] + 2) for k in R]",
		"max(a, b, 0.1) - min(a, c)":              "[max(a[k], b[k], 0.1) - min(a[k], c[k]) for k in R]",
		"rank(a) + 0 * b":                         "[len([x for x in a if x < a[k]]) for k in R]",
		"normalize(abs(a))":                       "[abs(a[k]) / sum([abs(x) for x in a]) if max(list(abs(a))) > 0 else 0 for k in R]",
		"minmax(a, 0.25)":                         "[(a[k] - min(list(a))) / (max(list(a)) - min(list(a))) if min(list(a)) < max(list(a)) else 0.25 for k in R]",
		"exp(a) + log(abs(b) + 1) + sqrt(abs(c))": "[exp(a[k]) + log(abs(b[k]) + 1) + sqrt(abs(c[k])) for k in R]",
		"pow(abs(a), c)":                          "[pow(abs(a[k]), c[k]) for k in R]",
		"vec([argmax(a), argmin(a), sum(a), mean(a), max(a), min(a)])": "[[k for k in R if a[k] == max(list(a))][0], [k for k in R if a[k] == min(list(a))][0], total(a), total(a) / len(a), max(list(a)), min(list(a))]",
		"floor(a) + ceil(b) + round(c)":                                "[floor(a[k]) + ceil(b[k]) + round(c[k]) for k in R]",
		"a[::-1]":                                                      "[a[len(a) - 1 - k] for k in R]",
	}
	for fast, slow := range programs { // in any order: each has draws of its own
		rng := rand.New(rand.NewPCG(seed, uint64(len(fast))))
		p := mustRouting(t, `
def total(v):
    s = 0.0
    for x in v: s += x
    return s

def route(req, i):
    l = state["in"]
    n = len(l) // 3
    a, b, c = vec(l[:n]), vec(l[n:2*n]), vec(l[2*n:])
    R = range(n)
    x, y = list(`+fast+`), `+slow+`
    if len(x) != len(y): fail("%s, want %s" % (x, y))
    for k in range(len(x)):
        if x[k] != y[k]: fail("entry %d of %s is %r, want %r, of %s" % (k, "f", x[k], y[k], l))
    return 0
`).(*routing)
		view := viewOf(1)
		for range 50 {
			n := 1 + rng.IntN(20)
			list := make([]float64, 3*n)
			for k := range list {
				list[k] = float64(rng.IntN(9)-4) / float64(1+rng.IntN(3))
				if rng.IntN(3) == 0 {
					list[k] = rng.NormFloat64()
				}
			}
			p.state.set("in", list)
			p.Route(&policy.Request{}, 0, &policy.RouterState{View: view}, view, 0)
		}
	}
}
