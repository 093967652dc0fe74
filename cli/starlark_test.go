package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProgramsAreFound: the path of a program is relative to the file that names it, or on the
// command line to where the user is; the effective bundle has its text, and reads back.
func TestProgramsAreFound(t *testing.T) {
	t.Chdir(t.TempDir())
	for path, text := range map[string]string{
		"in/mine.star":        "def route(req, i):\n    return argmin(i.queue + i.running)\n\ndef order(req):\n    return req.input\n",
		"in/bundle.yaml":      "routing: {type: starlark, params: {file: mine.star, tie: lowest}}\nscheduler: {type: starlark, params: {file: mine.star}}\n",
		"in/config.yaml":      "policies:\n  routing:\n    type: starlark\n    params: {file: mine.star}\n",
		"in/deployments.yaml": "deployments:\n- {id: a, model: Llama-3.1-8B-Instruct, replicas: 2, routing: {type: starlark, params: {file: mine.star}}}\n",
		"in/sweep.yaml":       "schema: blis.sweep/v1\nbase: {num-requests: 20}\naxes: {policies: [bundle.yaml, mine.star, round-robin]}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	few := []string{"--num-requests", "20", "--format", "json"}
	for _, args := range []string{
		"run --policy-config in/bundle.yaml", "run --config in/config.yaml", "run --deployments in/deployments.yaml",
		"run --set routing.type=starlark --set routing.params.file=in/mine.star",
		"run --policies {routing:{type:starlark,params:{file:in/mine.star}}}",
		"run --routing-policy starlark --policy-config in/bundle.yaml",
		"run --policy-config in/mine.star", "compare in/bundle.yaml in/mine.star round-robin --seeds 2",
	} {
		words := strings.Fields(strings.ReplaceAll(args, ":", ": "))
		if strings.Contains(args, "--policies") {
			words = []string{"run", "--policies", "{routing: {type: starlark, params: {file: in/mine.star}}}"}
		}
		s := done(t, append(words, few...)...)
		if !strings.Contains(s.out, "argmin(i.queue + i.running)") {
			t.Errorf("%s: the result lacks the program", args)
		}
	}
	if s := done(t, "sweep", "in/sweep.yaml"); !strings.Contains(s.out, "mine.star") || !strings.Contains(s.out, "3 points ok") {
		t.Errorf("a sweep of programs: %s", s.out)
	}
	if err := os.WriteFile("in/wrong.star", []byte("def route(req, i):\n    return x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("in/wrong.yaml", []byte("schema: blis.sweep/v1\nbase: {num-requests: 20}\naxes: {policies: [wrong.star]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := blis(t, nil, "sweep", "in/wrong.yaml"); s.code != exitInput || !strings.Contains(s.err, "in/wrong.star:2:12: there is no x") {
		t.Errorf("a sweep of a bad program: exit %d: %s", s.code, s.err)
	}
	if s := blis(t, nil, "run", "--policy-config", "in/wrong.star", "--format", "json"); s.code != exitInput || !strings.Contains(s.out, `"field": null`) {
		t.Errorf("a bad program: exit %d: %s", s.code, s.out)
	}
	bundle := effective(t, nil, "policies", "--policy-config", "in/bundle.yaml")
	if err := os.WriteFile("effective.yaml", []byte(bundle), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := effective(t, nil, "policies", "--policy-config", "effective.yaml"); again != bundle {
		t.Errorf("the effective bundle\n%s\nreads back as\n%s", bundle, again)
	}
	one := done(t, append([]string{"run", "--policy-config", "in/bundle.yaml"}, few...)...)
	if err := os.RemoveAll("in/mine.star"); err != nil {
		t.Fatal(err)
	}
	other := done(t, append([]string{"run", "--policy-config", "effective.yaml"}, few...)...)
	if resultOf(t, one.out)["digest"] != resultOf(t, other.out)["digest"] {
		t.Error("the effective bundle gives another run")
	}
	for args, want := range map[string]string{
		"run --policy-config in/bundle.yaml":                                                                "blis: in/bundle.yaml:1: routing.params.file: in/mine.star: no such file or directory\n",
		"run --set routing.type=starlark --set routing.params.file=no.star":                                 "blis: routing.params.file: no.star: no such file or directory\n",
		"run --set routing.type=starlark":                                                                   "blis: program: want a program: params: {file: mine.star}, or source with its text\n",
		"run --policy-config effective.yaml --set routing.params.file=no.star":                              "blis: routing.params.file: no.star: no such file or directory\n",
		"run --print-config --set routing.type=starlark --set routing.params.source=x":                      "blis: program:1:1: there is no x\n",
		"run --set routing.type=starlark --set routing.params.file=m.star --set routing.params.source=x=()": "blis: m.star: want a function route(…): def route(req, i)\n",
	} {
		if s := blis(t, nil, strings.Fields(args)...); s.code != exitInput || !strings.HasSuffix(s.err, want) || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%s: exit %d: %q, want %q", args, s.code, s.err, want)
		}
	}
}

// TestFaultsOfProgramsAreOneLine: in the middle of a run, on any executor.
func TestFaultsOfProgramsAreOneLine(t *testing.T) {
	for _, kind := range []string{"admission", "priority", "routing", "scheduler", "autoscale"} {
		source := "n = 3\ndef fault(x):\n  return x[0]\ndef f(x):\n  return fault([])\nadmit = lambda req: f(req) if req.now > 0.01 else True\n" +
			"def priority(req):\n  return f(req) if req.now > 0.01 else 0\ndef route(req, i):\n  return f(req) if req.now > 0.01 else 0\n" +
			"def order(req):\n  return f(req) if req.arrival > 0.01 else 0\ndef scale(ctx, i):\n  return f(ctx) if ctx.now > 0.01 else None\n"
		for _, command := range []string{"run", "verify"} {
			words := append(strings.Fields(command), "--num-requests", "400", "--set", kind+".type=starlark", "--set", kind+".params.source="+source, "--autoscale-interval", "20ms")
			if command == "run" {
				words = append(words, "--stats")
			}
			s := blis(t, nil, words...)
			if want := "program:3:11: fault: index 0 out of range: empty list\n"; s.code != exitInput || !strings.Contains(s.err, want) || strings.Contains(s.err, "goroutine") {
				t.Errorf("%s, %s: exit %d: %q, want %q", command, kind, s.code, s.err, want)
			}
		}
	}
}

// TestPageOfProgramsRuns: the programs, the bundle and the tree that docs/policies-as-code.md
// shows.
func TestPageOfProgramsRuns(t *testing.T) {
	page := read(t, "../docs/policies-as-code.md")
	blocks := map[string][]string{}
	for _, part := range strings.Split(page, "\n```")[1:] {
		language, text, _ := strings.Cut(part, "\n")
		blocks[language] = append(blocks[language], text+"\n")
	}
	if len(blocks["python"]) != 3 || len(blocks["yaml"]) != 2 {
		t.Fatalf("%d programs, %d bundles: want 3 and 2", len(blocks["python"]), len(blocks["yaml"]))
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"mine.star": blocks["python"][0], "backfill.star": blocks["python"][1], "hints.star": blocks["python"][2], "bundle.yaml": blocks["yaml"][0], "tree.yaml": blocks["yaml"][1]} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{"run --policy-config bundle.yaml", "run --policy-config tree.yaml", "run --policy-config mine.star", "run --policy-config backfill.star", "run --policy-config hints.star", "verify --policy-config tree.yaml", "run --set routing.type=starlark --set routing.params.file=mine.star"} {
		done(t, append(strings.Fields(args), "--num-requests", "100", "--prefix-tokens", "100")...)
	}
}
