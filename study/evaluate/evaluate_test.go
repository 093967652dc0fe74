package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"blis/setup"
)

// The answer has the same bytes on any number of workers, from a reference that went through
// JSON, and again.
func TestSameBytes(t *testing.T) {
	s, r := standard()
	coded, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var again Reference
	if err := json.Unmarshal(coded, &again); err != nil {
		t.Fatal(err)
	}
	if recoded := text(t, &again); recoded != string(coded) {
		t.Errorf("the reference in JSON is another one: %s\n%s", coded, recoded)
	}
	var answers strings.Builder // for .ci/arm64, which compares machines
	defer func() {
		if path := os.Getenv("BLIS_ANSWERS"); path != "" {
			if err := os.WriteFile(path, []byte(answers.String()), 0o666); err != nil {
				t.Error(err)
			}
		}
	}()
	for _, c := range []string{"routing: {type: weighted}", "admission: {type: game-half}", "routing: {type: nowhere}"} {
		want := text(t, evaluate(t, s, r, yaml(c), Options{Workers: 1, HeldOut: true}))
		answers.WriteString(want + "\n")
		for _, workers := range []int{1, 2, 7} {
			if got := text(t, evaluate(t, s, &again, Candidate{File: fmt.Sprintf("/tmp/%d.yaml", workers), Text: []byte(c)}, Options{Workers: workers, HeldOut: true})); got != want {
				t.Errorf("%s with %d workers: %s\nwant %s", c, workers, got, want)
			}
		}
	}
}

// Whatever the held-out scenarios are, and whether they run, nothing else in the answer changes.
func TestHeldOutChangesNothing(t *testing.T) {
	withoutHeldOut, _, _ := strings.Cut(tiny, "  - name: held")
	bases := []string{
		tiny,
		withoutHeldOut,
		edited(t, tiny, "rate: 35", "rate: 300, num-instances: 1"),
		edited(t, tiny, "seeds: [5, 6]", "seeds: [7, 8, 9]\n    weight: 100\n    measures: {p99_ttft: 0, jain: 7, slo_attainment: 0}"),
		tiny + "  - {name: second, held_out: true, seeds: [11, 12], settings: {hardware: A100-80, num-requests: 30}}\n",
	}
	for _, c := range []string{"routing: {type: weighted}", "admission: {type: game-half}", "autoscale: {type: threshold}"} {
		var want string
		for i, base := range bases {
			s := parse(t, base)
			r := reference(t, s, Options{HeldOut: true})
			for _, o := range []Options{{}, {HeldOut: true}} {
				a := evaluate(t, s, r, yaml(c), o)
				if (a.HeldOut != nil) != o.HeldOut {
					t.Fatalf("held out %v with %v", a.HeldOut, o.HeldOut)
				}
				a.HeldOut = nil
				if got := text(t, a); want == "" {
					want = got
				} else if got != want {
					t.Errorf("%s, suite %d: %s\nwant %s", c, i, got, want)
				}
			}
		}
	}
}

// keys are all keys of a JSON document, with their paths.
func keys(t *testing.T, text string) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	var list []string
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, x := range v { // any order: sorted below
				if !strings.Contains(path, "unmeasured") && !strings.HasSuffix(path, ".error") {
					list = append(list, path+"."+name)
					walk(path+"."+name, x)
				}
			}
		case []any:
			for i, x := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), x)
			}
		}
	}
	walk("", v)
	slices.Sort(list)
	return list
}

// A failure scores exactly 0 and has every key of an answer, with finite values that nobody wants.
func TestFailures(t *testing.T) {
	s, r := standard()
	want := keys(t, text(t, good(t, "")))
	for _, kind := range FaultKinds() {
		f := Fault{Kind: kind, Message: "it failed", Line: 3, Repeatable: RepeatableKind(kind)}
		a := s.Failed(yaml("routing: {type: weighted}"), Options{HeldOut: true}, f)
		if got := keys(t, text(t, a)); !slices.Equal(got, want) {
			t.Errorf("%s has keys %v\nwant %v", kind, got, want)
		}
		if a.OK || a.Score != 0 || a.HeldOut.Score != 0 || *a.Error != f || !strings.Contains(a.Feedback, "it failed") || !strings.Contains(a.Feedback, "at line 3") {
			t.Errorf("%s: %+v", kind, a)
		}
		for _, m := range []map[string]*float64{a.Metrics, a.HeldOut.Metrics, a.PerScenario[0].Metrics} {
			for name, x := range m { // any order
				if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
					t.Errorf("%s: %s is not finite", kind, name)
				}
			}
			if *m["p99_ttft_ms"] != Worst || *m["slo_attainment"] != 0 {
				t.Errorf("%s: p99_ttft_ms %v, slo_attainment %v", kind, *m["p99_ttft_ms"], *m["slo_attainment"])
			}
		}
		for name, u := range a.Objectives {
			if u != 0 {
				t.Errorf("%s: objective %s is %v", kind, name, u)
			}
		}
		if a.Outputs.Policy != good(t, "routing: {type: weighted}").Outputs.Policy {
			t.Errorf("%s: another policy id", kind)
		}
		if a.Error.Repeatable == (kind == WallFault || kind == MemoryFault) {
			t.Errorf("%s: repeatable %v", kind, a.Error.Repeatable)
		}
	}
	// A value that is not finite in a good answer is null, with its reason, and scores the least.
	a := evaluate(t, s, r, yaml("admission: {type: reject-all}"), Options{})
	if !a.OK || a.Metrics["p99_ttft_ms"] != nil || a.Unmeasured["p99_ttft_ms"] != "scenario bursts: infinite: 1000 of 1000 requests did not complete" || a.Score <= 0 || a.Objectives["p99_ttft"] != 1e-6 ||
		a.Metrics["goodput_rps"] != nil || a.Unmeasured["goodput_rps"] == "" {
		t.Errorf("reject-all: %s", text(t, a))
	}
}

func TestBadCandidates(t *testing.T) {
	s, r := standard()
	for _, c := range []struct {
		name, text, want string
		kind             FaultKind
		line             int
	}{
		{"no YAML", "routing: [\n", "policy.yaml", SyntaxFault, 0},
		{"a list", "- routing\n", "policy.yaml", SyntaxFault, 0},
		{"an unknown policy", "\nrouting: {type: weigted}\n", `unknown routing policy "weigted"`, PolicyFault, 2},
		{"an unknown parameter", "routing:\n  type: weighted\n  params:\n    queue-dept: 1\n", "queue-dept", PolicyFault, 4},
		{"a value out of range", "routing:\n  type: weighted\n  params: {queue-depth: -1}\n", "queue-depth", PolicyFault, 3},
		{"no number", "routing:\n  type: weighted\n  params: {queue-depth: .nan}\n", "queue-depth", PolicyFault, 3},
		{"more instances", "autoscale: {type: threshold}\n", "the number of instances is fixed in scenario bursts", PolicyFault, 1},
		{"fresher signals", "routing: {type: weighted}\nobservability:\n  refresh: 5ms\n", `observability.refresh: a property of the cluster, which is "0µs" in scenario bursts`, PolicyFault, 3},
		{"too long", strings.Repeat("# comment\n", 7000), "more than 64 KiB", PolicyFault, 0},
	} {
		a := evaluate(t, s, r, yaml(c.text), Options{})
		if a.OK || a.Score != 0 || a.Error == nil || a.Error.Kind != c.kind || !strings.Contains(a.Error.Message, c.want) || strings.Contains(a.Error.Message, "\n") || c.line > 0 && a.Error.Line != c.line || !a.Error.Repeatable {
			t.Errorf("%s: %v %+v, want %s in line %d with %q", c.name, a.Score, a.Error, c.kind, c.line, c.want)
		}
	}
	// What the cluster has anyway may stand there.
	if a := evaluate(t, s, r, yaml("observability: {refresh: 0s}\nautoscale: {type: none, min: 1}"), Options{}); !a.OK {
		t.Errorf("the observability of the cluster: %v", a.Error)
	}
}

func TestTooManyEvents(t *testing.T) {
	s := parse(t, tiny)
	r := reference(t, s, Options{})
	for _, workers := range []int{1, 3} {
		a := evaluate(t, s, r, yaml(""), Options{MaxEvents: 500, Workers: workers})
		if a.OK || a.Error.Kind != EventsFault || a.Error.Message != "scenario a, seed 1: more than 500 events (requests and steps)" || !a.Error.Repeatable {
			t.Errorf("%+v", a.Error)
		}
	}
	if a := evaluate(t, s, r, yaml(""), Options{MaxEvents: 1e6}); !a.OK {
		t.Errorf("%+v", a.Error)
	}
	if _, err := s.Reference(context.Background(), Options{MaxEvents: 500}); err == nil || !strings.Contains(err.Error(), "suite suite: the baseline fails: scenario a, seed 1: more than 500 events") {
		t.Errorf("%v", err)
	}
}

// A candidate may choose an autoscaler where the baseline has one, within the same bounds.
func TestAutoscaleWithinBounds(t *testing.T) {
	base := edited(t, tiny, "measures: {", "baseline: {autoscale: {type: threshold}}\nmeasures: {replica_hours: 1, ")
	s := parse(t, edited(t, base, "num-instances: 2", "num-instances: 2, max-replicas: 3"))
	r := reference(t, s, Options{})
	a := evaluate(t, s, r, yaml("autoscale: {type: target-utilization, interval: 1s, max: 3}"), Options{})
	if !a.OK || a.Metrics["replica_hours"] == nil {
		t.Errorf("%+v", a.Error)
	}
	for _, c := range []string{"max: 30", "actuation: {provisioning: 0s}", "min: 2"} {
		a = evaluate(t, s, r, yaml("autoscale: {type: target-utilization, "+c+"}"), Options{})
		if a.OK || a.Error.Kind != PolicyFault || !strings.Contains(a.Error.Message, "a property of the cluster") {
			t.Errorf("%s: %+v", c, a.Error)
		}
	}
}

func TestOptions(t *testing.T) {
	s := parse(t, tiny)
	all := reference(t, s, Options{HeldOut: true})
	for _, c := range []struct {
		o    Options
		want []string
	}{
		{Options{}, []string{"a", "b"}}, {Options{Stage: Full}, []string{"a", "b"}}, {Options{Stage: Smoke}, []string{"a"}},
		{Options{Scenarios: []string{"b"}}, []string{"b"}}, {Options{Stage: Smoke, Scenarios: []string{"b", "a"}}, []string{"a"}},
	} {
		a := evaluate(t, s, all, yaml(""), c.o)
		var got []string
		for _, one := range a.PerScenario {
			got = append(got, one.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.o, got, c.want)
		}
	}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Stage: "half"}, `stage "half": want full or smoke`},
		{Options{Scenarios: []string{"c"}}, `unknown scenario "c"`},
		{Options{Scenarios: []string{"held"}}, "scenario held is held out"},
		{Options{Scenarios: []string{"a", "a"}}, "scenario a is given twice"},
		{Options{Stage: Smoke, Scenarios: []string{"b"}}, "no scenario of stage smoke is among [b]"},
	} {
		_, err := s.Evaluate(context.Background(), all, yaml(""), c.o)
		var input *setup.InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
	if _, err := parse(t, edited(t, tiny, "smoke: true", "smoke: false")).Reference(context.Background(), Options{Stage: Smoke}); err == nil || !strings.Contains(err.Error(), "suite suite: no scenario is marked smoke") {
		t.Errorf("no scenario of the stage: %v", err)
	}
	if n := len(reference(t, s, Options{}).Scenarios); n != 2 || len(all.Scenarios) != 3 {
		t.Errorf("%d scenarios without held-out ones, %d with", n, len(all.Scenarios))
	}
	smoke := reference(t, s, Options{Stage: Smoke})
	if _, err := s.Evaluate(context.Background(), smoke, yaml(""), Options{}); err == nil || !strings.Contains(err.Error(), "the reference has no scenario b") {
		t.Errorf("%v", err)
	}
	other := parse(t, edited(t, tiny, "rate: 30", "rate: 31"))
	if _, err := other.Evaluate(context.Background(), all, yaml(""), Options{}); err == nil || !strings.Contains(err.Error(), "the reference has scenario a of another suite") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Evaluate(ctx, all, yaml(""), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// BenchmarkEvaluate is one candidate in the full default suite on one core: 3 scenarios, 500
// requests each, two seeds, and the run for the feedback.
func BenchmarkEvaluate(b *testing.B) {
	s, r := standard()
	b.ReportAllocs()
	digest := ""
	for b.Loop() {
		a, err := s.Evaluate(context.Background(), r, yaml("routing: {type: weighted}"), Options{Workers: 1})
		if err != nil {
			b.Fatal(err)
		}
		digest = a.Outputs.Digest
	}
	b.Logf("digest %s", digest)
}
