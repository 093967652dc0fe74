package script

import (
	"strings"
	"testing"

	"blis/policy"
	"blis/vtime"
)

// What a policy prints is kept as lines, about 4 KiB of it, however much and in whatever pieces it comes.
func TestPrintedIsBounded(t *testing.T) {
	for text, times := range map[string]string{ // any order: each by itself
		`"ab"`: "5000", `"x" * 1000`: "20", `"x" * 100000`: "2", `"ü" * 9000`: "2", `"a\nb"`: "5000",
	} {
		p := mustRouting(t, "def route(req, i):\n  for _ in range("+times+"):\n    print("+text+")\n  return 0\n")
		view := viewOf(3)
		view.Declared = p.Observes()
		req := &policy.Request{Attempt: 1}
		req.ID, req.Input, req.Deadline = 7, 100, vtime.Never
		p.Route(req, 2, &policy.RouterState{View: view, Declared: p.Observes()}, view, 5_000_000)
		got := p.(policy.Printer).Printed()
		if len(got) < 4000 || len(got) > mostPrinted+len("…\n") || !strings.HasSuffix(got, "\n") {
			t.Errorf("print(%s): %d bytes", text, len(got))
		}
	}
}
