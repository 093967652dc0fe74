package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// routeOf is a program whose routing policy has this body.
func routeOf(lines ...string) string {
	return "def route(req, i):\n    " + strings.Join(lines, "\n    ") + "\n"
}

// hostile are candidates that hang, take memory, recurse, answer with nonsense or are nonsense.
var hostile = map[string]string{
	"endless loop":            routeOf("while True:", "    pass"),
	"endless at the top":      "while True:\n    pass\n" + routeOf("return 0"),
	"long loop":               routeOf("for x in range(1 << 40):", "    pass", "return 0"),
	"nested loops":            routeOf("for x in range(100000):", "    for y in range(100000):", "        pass", "return 0"),
	"vectors in a loop":       routeOf("v = i.queue", "while True:", "    v = exp(minmax(v + 1, 1))"),
	"comprehension":           routeOf("return len([a for a in range(100000) for b in range(100000)])"),
	"recursion":               "def f(x):\n    return f(x + 1)\n" + routeOf("return f(0)"),
	"mutual recursion":        "def f(x):\n    return g(x)\ndef g(x):\n    return f(x)\n" + routeOf("return f(0)"),
	"recursion by argument":   "def f(g, x):\n    return g(g, x)\n" + routeOf("return f(f, 0)"),
	"recursion of a lambda":   "F = [None]\nF[0] = lambda x: F[0](x)\n" + routeOf("return F[0](0)"),
	"doubling string":         routeOf(`s = "x"`, "while True:", "    s = s + s"),
	"doubling at the top":     "s = \"x\"\nfor k in range(60):\n    s = s + s\n" + routeOf("return 0"),
	"doubling list":           routeOf("s = [0]", "while True:", "    s = s + s"),
	"long string":             routeOf(`s = "x" * (1 << 36)`, "return 0"),
	"long list":               routeOf("s = [0] * (1 << 33)", "return 0"),
	"list of a billion":       routeOf("s = list(range(1000000000))", "return 0"),
	"list that panics":        routeOf("return len(list(range(1 << 62)))"),
	"squaring":                routeOf("x = 3", "for k in range(278):", "    x = x * x", "return 0"),
	"shifting":                routeOf("return 1 << (1 << 40)"),
	"sorting":                 routeOf("while True:", "    sorted(range(1000000), reverse=True)"),
	"largest of a billion":    routeOf("return max(range(1000000000))"),
	"replacing":               routeOf(`s = "a" * 60000`, `for k in range(9):`, `    s = s.replace("a", s)`, "return 0"),
	"joining":                 routeOf(`s = "a" * 60000`, `for k in range(9):`, `    s = s.join([s] * 1000)`, "return 0"),
	"formatting":              routeOf(`s = "%s" * 1000`, `for k in range(30):`, `    s = s % tuple([s] * 1000)`, "return 0"),
	"dictionary":              routeOf("d = {}", "while True:", "    d[len(d)] = [0] * 1000"),
	"growing state":           routeOf("for k in range(5000):", "    state[len(state)] = k", "return 0"),
	"large state":             routeOf(`state["a"] = "x" * 100000`, "return 0"),
	"state in itself":         routeOf(`state["a"] = state`, "return 0"),
	"list in itself":          routeOf("x = []", "x.append(x)", "print(x)", "return x"),
	"talkative":               routeOf("while True:", `    print("x" * 1000)`),
	"text":                    routeOf(`return "instance-0"`),
	"None":                    routeOf("return None"),
	"nothing":                 routeOf("pass"),
	"dictionary of scores":    routeOf("return {0: 1}"),
	"too few scores":          routeOf("return [1]"),
	"text among scores":       routeOf(`return ["a", "b", "c", "d"]`),
	"nan":                     routeOf(`return i.queue * float("nan")`),
	"infinity":                routeOf(`return i.queue + float("inf")`),
	"index below":             routeOf("return -1"),
	"index above":             routeOf("return 1000000"),
	"fraction":                routeOf("return 0.5"),
	"division by zero":        routeOf("return 1 // 0"),
	"long reason":             routeOf(`fail("x\n" * 1000000)`),
	"undefined":               routeOf("return argmax(i.queue) + nowhere"),
	"unknown signal":          routeOf("return argmax(i.latency)"),
	"number of the request":   routeOf("return req.id % 4"),
	"seed":                    routeOf("return req.seed % 4"),
	"entry above":             routeOf("return i.queue[100]"),
	"unequal lengths":         routeOf("return i.queue + i.queue[1:]"),
	"vector as a condition":   routeOf("if i.queue > 3:", "    return 0", "return 1"),
	"changed global":          "G = []\n" + routeOf("G.append(1)", "return 0"),
	"changed signal":          routeOf("i.queue[0] = 0", "return 0"),
	"load":                    "load(\"os.star\", \"os\")\n" + routeOf("return 0"),
	"import":                  "import os\n" + routeOf("return 0"),
	"clock":                   routeOf("return time.now() % 4"),
	"getattr":                 routeOf(`return argmax(getattr(i, "que" + "ue"))`),
	"file":                    routeOf(`return len(open("/etc/passwd").read()) % 4`),
	"no argument":             "def route():\n    return 0\n",
	"three arguments":         "def route(a, b, c):\n    return 0\n",
	"no policy":               "def rout(req, i):\n    return 0\n",
	"not called":              "route = 5\ndef f():\n    pass\n",
	"unclosed":                "def route(req, i:\n    return 0\n",
	"deep brackets":           "def route(req, i):\n    return " + strings.Repeat("[", 30000) + "\n",
	"deep sum":                "def route(req, i):\n    return " + strings.Repeat("-", 30000) + "1\n",
	"long name":               "def route(req, i):\n    return " + strings.Repeat("x", 60000) + "\n",
	"name of a million":       "def route(req, i):\n    return " + strings.Repeat("x", 900000) + "\n",
	"long number":             "def route(req, i):\n    return " + strings.Repeat("9", 60000) + "\n",
	"NUL":                     "def route(req, i):\n    return \x00\n",
	"no UTF-8":                "def route(req, i):\n    return \"\xff\xfe\" + 1\n",
	"priority nan":            "def priority(req, i):\n    return float(\"nan\")\n",
	"priority text":           "def priority(req, i):\n    return \"high\"\n",
	"order without end":       "def order(req):\n    while True:\n        pass\n",
	"delay for ever":          "def admit(req, i):\n    return delay(1e300)\n",
	"delay of nothing":        "def admit(req, i):\n    return delay(0)\n",
	"admit a list":            "def admit(req, i):\n    return [True]\n",
	"bundle: a laugh":         "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b]\nrouting: *c\n",
	"bundle: deep":            strings.Repeat("{a: ", 10000),
	"bundle: a file":          "routing: {type: starlark, params: {file: /etc/passwd}}\n",
	"bundle: nan":             "routing: {type: weighted, params: {queue-depth: .nan}}\n",
	"bundle: more instances":  "autoscale: {type: threshold, min: 64, max: 64}\n",
	"bundle: fresher signals": "observability: {refresh: 1us}\n",
	"bundle: tabs":            "routing:\n\ttype: weighted\n",
	"bundle: a list":          "- routing\n",
}

// Each hostile candidate has the score 0 and says why in one line; those before and after are evaluated.
func TestHostileCandidates(t *testing.T) {
	var names []string
	for name := range hostile { // any order: they are sorted
		names = append(names, name)
	}
	slices.Sort(names)
	var lines strings.Builder
	for _, name := range names {
		text, err := json.Marshal(map[string]any{"id": name, "policy": hostile[name]})
		if err != nil {
			t.Fatal(err)
		}
		lines.WriteString(string(text) + "\n" + `{"id": "good", "policy": "routing: least-loaded"}` + "\n")
	}
	c := process(t.TempDir(), "evaluate", "--batch", "-", "--stage", "smoke", "--max-wall", "4s", "--max-memory", "256MiB", "--max-steps", "3e7")
	c.Stdin = strings.NewReader(lines.String())
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: the parent did not live", err)
	}
	answers := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(answers) != 2*len(names) {
		t.Fatalf("%d answers, want %d", len(answers), 2*len(names))
	}
	kinds := map[string]int{}
	for n, line := range answers {
		a := resultOf(t, line)
		if n%2 == 1 {
			if a["score"] != 0.5 {
				t.Fatalf("after %s the baseline scores %v: %.300s", names[n/2], a["score"], line)
			}
			continue
		}
		name := names[n/2]
		fault, _ := a["error"].(map[string]any)
		message, _ := fault["message"].(string)
		if a["id"] != name || a["ok"] != false || a["score"] != 0.0 || message == "" || strings.ContainsAny(message, "\n\r") || len(message) > 1000 {
			t.Errorf("%s: ok %v, score %v, error %.300v: want score 0 and one line", name, a["ok"], a["score"], fault)
		}
		if feedback, _ := a["feedback"].(string); feedback == "" || len(feedback) > 2048 {
			t.Errorf("%s: feedback of %d bytes, want at most 2 KiB", name, len(feedback))
		}
		kinds[fmt.Sprint(fault["kind"])]++
		t.Logf("%-24s %-9s %.120s", name, fault["kind"], message)
	}
	t.Logf("%d candidates: %v", len(names), kinds)
	for _, kind := range []string{"syntax", "policy", "steps", "exception", "memory"} {
		if kinds[kind] == 0 {
			t.Errorf("no candidate failed by %s", kind)
		}
	}
}
