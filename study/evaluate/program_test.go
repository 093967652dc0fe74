package evaluate

import (
	"strings"
	"testing"
)

// star is a candidate that is a program.
func star(text string) Candidate { return Candidate{File: "x.star", Text: []byte(text)} }

func TestProgramsAreCandidates(t *testing.T) {
	s, r := standard()
	const least = "def route(req, i):\n    return 0 - (i.queue + i.running + i.in_flight)\n"
	a := evaluate(t, s, r, star(least), Options{HeldOut: true})
	if !a.OK || a.Score != 0.5 || a.HeldOut.Score != 0.5 {
		t.Errorf("least-loaded as a program: %v %+v, want exactly the baseline", a.Score, a.Error)
	}
	prefix := evaluate(t, s, r, star("def route(req, i):\n    return 3 * i.prefix_hit - 0.1 * (i.queue + i.running + i.in_flight)\n"), Options{})
	if !prefix.OK || prefix.Score < 0.52 {
		t.Errorf("routing by prefix as a program: %v %+v", prefix.Score, prefix.Error)
	}
	// The same program in a bundle is the same policy.
	inBundle := evaluate(t, s, r, yaml("routing:\n  type: starlark\n  params:\n    file: policy.star\n    source: |\n      "+strings.ReplaceAll(strings.TrimSuffix(least, "\n"), "\n", "\n      ")+"\n"), Options{})
	if !inBundle.OK || inBundle.Outputs.Policy != a.Outputs.Policy || inBundle.Outputs.Digest != a.Outputs.Digest {
		t.Errorf("in a bundle: %+v, want %+v; %+v", inBundle.Outputs, a.Outputs, inBundle.Error)
	}
	other := evaluate(t, s, r, star(least+"# another comment\n"), Options{})
	if other.Outputs.Policy == a.Outputs.Policy || other.Outputs.Digest != a.Outputs.Digest {
		t.Errorf("another text of the same program: %+v", other.Outputs)
	}
	// What a program does not decide the baseline does, in the cluster of the scenario.
	base := edited(t, tiny, "measures:", "baseline: {routing: {type: least-loaded}, admission: {type: game-hold-back}, autoscale: {type: threshold, max: 3}}\nmeasures:")
	b := parse(t, edited(t, base, "num-instances: 2", "num-instances: 2, max-replicas: 4"))
	reference := reference(t, b, Options{})
	if got := evaluate(t, b, reference, star(least), Options{}); got.Score != 0.5 {
		t.Errorf("a program that routes like the baseline: %v %+v", got.Score, got.Error)
	}
	if got := evaluate(t, b, reference, yaml("routing: {type: least-loaded}"), Options{}); got.Score == 0.5 {
		t.Error("the admission of the baseline has no effect: the test says nothing")
	}
}

func TestBadPrograms(t *testing.T) {
	s, r := standard()
	const route = "def route(req, i):\n    "
	for _, c := range []struct {
		name, text, want string
		kind             FaultKind
		line, column     int
	}{
		{"no program", "def route(", "policy.star:1:", SyntaxFault, 1, 0},
		{"Python", route + "return max(x for x in i)\n", "policy.star:2:", SyntaxFault, 2, 0},
		{"an unknown name", route + "return i.quue\n", `policy.star:2:14: nothing has "quue", the nearest is "queue"`, SyntaxFault, 2, 14},
		{"no function", "x = 1\n", "decides nothing: want def admit", SyntaxFault, 0, 0},
		{"an endless loop", route + "while True:\n        pass\n", "takes more than 1000000 steps", StepsFault, 1, 0},
		{"an index out of range", route + "return [1, 2][7]\n", "scenario bursts, seed 101: policy.star:2:18: route: ", ExceptionFault, 2, 18},
		{"a wrong answer", route + "return \"first\"\n", "policy.star:1:1: route: ", ExceptionFault, 1, 1},
		{"an autoscaler", "def scale(ctx, i):\n    return 9\n", "the number of instances is fixed", PolicyFault, 0, 0},
		{"a file", "", "", "", 0, 0},
	} {
		candidate := star(c.text)
		if c.name == "a file" {
			candidate = yaml("routing:\n  type: starlark\n  params:\n    file: /etc/passwd\n")
			c.kind, c.line, c.want = PolicyFault, 4, "a candidate is one text and reads no file, want the program in source"
		}
		a := evaluate(t, s, r, candidate, Options{MaxEvents: 1e5})
		if a.OK || a.Score != 0 || a.Error == nil || a.Error.Kind != c.kind || !strings.Contains(a.Error.Message, c.want) || strings.Contains(a.Error.Message, "\n") ||
			c.line > 0 && a.Error.Line != c.line || c.column > 0 && a.Error.Column != c.column || !a.Error.Repeatable {
			t.Errorf("%s: %v %+v, want %s at %d:%d with %q", c.name, a.Score, a.Error, c.kind, c.line, c.column, c.want)
		}
		if c.kind == SyntaxFault && c.line > 0 && !strings.Contains(a.Feedback, "Line ") {
			t.Errorf("%s: the feedback quotes no line: %s", c.name, a.Feedback)
		}
	}
}

// The limit of steps of the options bounds all decisions of a run, and no more than the candidate's own.
func TestMaxSteps(t *testing.T) {
	s := parse(t, tiny)
	r := reference(t, s, Options{})
	const loop = "def route(req, i):\n    for x in range(200):\n        pass\n    return 0\n"
	if a := evaluate(t, s, r, star(loop), Options{}); !a.OK {
		t.Errorf("without a limit: %+v", a.Error)
	}
	if a := evaluate(t, s, r, star(loop), Options{MaxSteps: 1e9}); !a.OK {
		t.Errorf("with plenty of steps: %+v", a.Error)
	}
	a := evaluate(t, s, r, star(loop), Options{MaxSteps: 5000})
	if a.OK || a.Error.Kind != StepsFault {
		t.Errorf("with 5000 steps: %v %+v", a.OK, a.Error)
	}
	own := "routing: {type: starlark, params: {max_steps: 3000, source: \"def route(req, i):\\n  for x in range(200):\\n    pass\\n  return 0\\n\"}}"
	if b := evaluate(t, s, r, yaml(own), Options{MaxSteps: 1e9}); b.OK || b.Error.Kind != StepsFault || !strings.Contains(b.Error.Message, "used up") {
		t.Errorf("with 3000 steps of its own: %v %+v", b.OK, b.Error)
	}
	// The limit is no part of what the policy is.
	if b := evaluate(t, s, r, star(loop), Options{}); b.Outputs.Policy != a.Outputs.Policy {
		t.Error("another limit is another policy")
	}
}

// What a program prints stands at the end of the feedback, as far as there is room.
func TestFeedbackHasWhatIsPrinted(t *testing.T) {
	s := parse(t, tiny)
	r := reference(t, s, Options{})
	a := evaluate(t, s, r, star("def route(req, i):\n    if req.input >= 300:\n        print(\"long\", req.input)\n    return i.queue\n"), Options{})
	_, said, found := strings.Cut(a.Feedback, "Printed by routing:\n> long ")
	if !a.OK || !found || strings.Count(said, "> long") < 2 || len(a.Feedback) > maxFeedback {
		t.Errorf("%d bytes: %s", len(a.Feedback), a.Feedback)
	}
	if a := evaluate(t, s, r, star("def route(req, i):\n    print(\"x\" * 100000)\n    return i.queue\n"), Options{}); !a.OK || !strings.Contains(a.Feedback, "\n> xxx") || len(a.Feedback) > maxFeedback {
		t.Errorf("%d bytes: %+v", len(a.Feedback), a.Error)
	}
}
