package cli

import (
	"strings"
	"testing"

	"blis/bundle"
)

// TestIDOfAProgram is that of its text, whatever its file is called.
func TestIDOfAProgram(t *testing.T) {
	read := func(path, text string) bundle.Bundle {
		b, err := bundle.Parse("x.yaml", []byte("routing: {type: starlark, params: {file: "+path+"}}"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.ID(); err == nil {
			t.Error("a program that nobody read has an ID")
		}
		if err := b.Read(func(string) ([]byte, error) { return []byte(text), nil }); err != nil {
			t.Fatal(err)
		}
		return b
	}
	const program = "def route(req, i):\n    return argmin(i.queue)\n"
	a, b, c := read("a.star", program), read("dir/b.star", program), read("a.star", program+"\n# not the same\n")
	ids := [3]string{}
	for i, one := range []bundle.Bundle{a, b, c} {
		var err error
		if ids[i], err = one.ID(); err != nil {
			t.Fatal(err)
		}
	}
	if ids[0] != ids[1] || ids[0] == ids[2] {
		t.Errorf("%v", ids)
	}
}

// TestExportOfPrograms: one that routes is refused, others are named.
func TestExportOfPrograms(t *testing.T) {
	program := file(t, "p.star", "def admit(req, i):\n    return True\n\ndef route(req, i):\n    return argmin(i.queue)\n")
	s := blis(t, nil, "export", "llm-d", file(t, "r.yaml", "routing: {type: starlark, params: {file: "+program+"}}"))
	if s.code != exitInput || s.out != "" || !strings.Contains(s.err, "routing.type: starlark has no counterpart in llm-d") {
		t.Errorf("exit %d, %s%s", s.code, s.out, s.err)
	}
	s = done(t, "export", "llm-d", file(t, "a.yaml", "routing: {type: least-loaded}\nadmission: {type: starlark, params: {file: "+program+"}}"))
	if want := "admission.type: starlark has no counterpart: all requests are admitted"; !strings.Contains(s.out, want) || !strings.Contains(s.err, want) {
		t.Errorf("%s\n%s", s.err, s.out)
	}
}

// TestExportOfFilters: each limit that is given is a condition.
func TestExportOfFilters(t *testing.T) {
	s := done(t, "export", "llm-d", "least-loaded", "--set", "routing.params.max_queue=4", "--set", "routing.params.max_kv=0.9")
	const want = "- type: utilization-filter\n  parameters:\n    conditions:\n    - maxValue: 4.0\n      metric: waiting-queue\n    - maxValue: 0.9\n      metric: kv-cache-utilization\n    fallbackOnEmpty: true\n"
	if !strings.Contains(s.out, want) || !strings.Contains(s.out, "  - pluginRef: utilization-filter\n") || !strings.Contains(s.err, "observability.refresh") {
		t.Errorf("want %s\n%s", want, s.out)
	}
	if s := done(t, "export", "llm-d", "weighted", "--set", "routing.params.max_queue=4"); strings.Contains(s.out, "kv-cache-utilization\n") || strings.Contains(s.err, "max_queue") {
		t.Errorf("%s\n%s", s.out, s.err)
	}
}
