package evaluator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"blis/setup"
	"blis/study/confine"
	"blis/study/evaluate"
)

// TestMain is also the program of the children of these tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "child" {
		if err := Child(context.Background(), os.Stdin, os.Stdout, confine.Limits{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// small is a suite whose evaluation takes a few milliseconds.
const small = `schema: blis.suite/v1
about: for tests
baseline: {routing: {type: least-loaded}}
measures: {completed_share: 1, p99_ttft: 1}
settings: {num-instances: 2, num-requests: 40, rate: 20, latency-model: blackbox}
scenarios:
  - {name: chat, smoke: true, seeds: [1, 2]}
  - {name: busy, seeds: [3, 4], settings: {rate: 90}}
  - {name: secret, held_out: true, seeds: [5, 6], settings: {rate: 60}}
`

func smallEvaluator(t *testing.T, change func(*Config)) *Evaluator {
	t.Helper()
	c := Config{Suite: SuiteFile{"small.yaml", []byte(small)}, Limits: confine.Limits{Wall: time.Minute}, Program: []string{os.Args[0], "child"}, Children: 2}
	if change != nil {
		change(&c)
	}
	e, err := New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// A child says what package evaluate says in this process.
func TestChildAnswersAsTheLibrary(t *testing.T) {
	e := smallEvaluator(t, func(c *Config) { c.Options.HeldOut = true })
	for _, text := range []string{"routing: {type: round-robin}", "admission: {type: reject-all}", "routing: {type: none}", "["} {
		c := Candidate("", text)
		got, err := e.Evaluate(context.Background(), c, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := e.suite.Evaluate(context.Background(), e.reference, c, e.Options)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: a child answers\n%s, the library\n%s", text, a, b)
		}
	}
}

func TestUnknownScenarioIsAnInputError(t *testing.T) {
	e := smallEvaluator(t, nil)
	var input *setup.InputError
	for _, name := range []string{"nope", "secret"} {
		if _, err := e.Evaluate(context.Background(), Candidate("", "routing: least-loaded"), []string{name}); !errors.As(err, &input) {
			t.Errorf("scenario %s: error %v, want an input error", name, err)
		}
	}
}

func TestSlowCandidateFailsByItsWall(t *testing.T) {
	e := smallEvaluator(t, func(c *Config) { c.Limits.Wall = time.Microsecond })
	a, err := e.Evaluate(context.Background(), Candidate("", "routing: least-loaded"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.OK || a.Score != 0 || a.Error == nil || a.Error.Kind != evaluate.WallFault || a.Error.Repeatable || len(a.Metrics) == 0 {
		t.Errorf("%+v, error %+v: want score 0 by wall, not repeatable, with every metric", a, a.Error)
	}
}

func TestChildThatCannotStart(t *testing.T) {
	e := smallEvaluator(t, nil)
	e.Close() // no child that waits
	e.Program = []string{"/nowhere/blis"}
	if _, err := e.Evaluate(context.Background(), Candidate("", "routing: least-loaded"), nil); err == nil {
		t.Error("no error without a program")
	}
}

// batch evaluates lines and returns their answers.
func batch(t *testing.T, e *Evaluator, lines ...string) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	if err := e.Batch(context.Background(), strings.NewReader(strings.Join(lines, "\n")), &out, nil); err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	for l := range strings.Lines(out.String()) {
		var v map[string]any
		if err := json.Unmarshal([]byte(l), &v); err != nil {
			t.Fatalf("%v in %s", err, l)
		}
		list = append(list, v)
	}
	return list
}

func TestBatchAnswersInOrder(t *testing.T) {
	var lines []string
	for n := range 12 {
		routing := []string{"round-robin", "least-loaded", "always-busiest"}[n%3]
		lines = append(lines, fmt.Sprintf(`{"id": %d, "policy": "routing: %s"}`, n, routing))
	}
	first := batch(t, smallEvaluator(t, nil), lines...)
	one := batch(t, smallEvaluator(t, func(c *Config) { c.Children = 1 }), lines...)
	for n, a := range first {
		if a["id"] != float64(n) {
			t.Errorf("answer %d has id %v", n, a["id"])
		}
		if x, y := a["score"], one[n]["score"]; x != y {
			t.Errorf("answer %d: score %v on two children, %v on one", n, x, y)
		}
	}
	if x := first[1]["score"]; x != 0.5 {
		t.Errorf("the baseline has the score %v, want 0.5", x)
	}
}

func TestBatchLinesThatAreNoCandidates(t *testing.T) {
	list := batch(t, smallEvaluator(t, nil),
		`no JSON`, `{"id": "a"}`, `{"id": "b", "policy": 5}`, `{"id": "c", "polcy": "x"}`, ``, `{"id": "d", "policy": {"routng": "x"}}`,
		`{"id": "e", "policy": "routing: least-loaded", "scenarios": ["nope"]}`, `{"id": "f", "policy": "routing: least-loaded"} {}`, `{"id": "g", "policy": "routing: least-loaded"}`)
	want := []struct {
		id     any
		reason string
	}{{nil, "line 1 of the batch: "}, {"a", "line 2"}, {"b", "line 3"}, {nil, `"polcy"`}, {"d", `"routing"`}, {"e", "nope"}, {"f", "one per line"}, {"g", ""}}
	if len(list) != len(want) {
		t.Fatalf("%d answers, want %d", len(list), len(want))
	}
	for i, w := range want {
		fault, _ := list[i]["error"].(map[string]any)
		message, _ := fault["message"].(string)
		if list[i]["id"] != w.id || (fault == nil) != (w.reason == "") || !strings.Contains(message, w.reason) {
			t.Errorf("answer %d: id %v, error %v, want id %v and %q", i+1, list[i]["id"], fault, w.id, w.reason)
		}
		if _, measured := list[i]["metrics"].(map[string]any)["p99_ttft_ms"]; !measured {
			t.Errorf("answer %d has no metrics", i+1)
		}
	}
}

func TestBatchEndsWithTheContext(t *testing.T) {
	e := smallEvaluator(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	var out bytes.Buffer
	err := e.Batch(ctx, strings.NewReader(strings.Repeat(`{"id": 1, "policy": "routing: least-loaded"}`+"\n", 1000)), &out, cancel)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if n := strings.Count(out.String(), "\n"); n < 1 || n >= 1000 {
		t.Errorf("%d answers, want those before the end", n)
	}
}

func TestComponentsMakeABundle(t *testing.T) {
	c, err := FromComponents(map[string]string{"routing": "type: weighted\nparams: {queue-depth: 1}\n", "admission": "always-admit", "priority": "def priority(req):\n  return 1\n"})
	want := `admission:
  always-admit
priority: {type: starlark, params: {file: priority.star, source: "def priority(req):\n  return 1\n"}}
routing:
  type: weighted
  params: {queue-depth: 1}
`
	if err != nil || string(c.Text) != want {
		t.Errorf("%v:\n%s\nwant\n%s", err, c.Text, want)
	}
	for _, bad := range []map[string]string{{}, {"policy": "x", "routing": "y"}, {"rooting": "x"}} {
		if _, err := FromComponents(bad); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
	for name, want := range map[string]string{"": "policy.yaml", "x.star": "policy.star", "x.py": "policy.star", "x.yml": "policy.yaml"} { // any order: each by itself
		if c := Candidate(name, "routing: x"); c.File != want {
			t.Errorf("%q is %s, want %s", name, c.File, want)
		}
	}
	if c := Candidate("", "# a\ndef route(req, i):\n  return 0\n"); c.File != "policy.star" {
		t.Errorf("a program is %s", c.File)
	}
}
