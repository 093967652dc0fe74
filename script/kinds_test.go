package script

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"blis/policy"
)

func TestKindsOfAProgram(t *testing.T) {
	for _, c := range []struct {
		source string
		want   []policy.Kind
		err    string
	}{
		{"def route(req, i):\n    return i.kv", []policy.Kind{policy.RoutingKind}, ""},
		{"def scale(ctx, i):\n    return 1\ndef victim(r):\n    return 0\ndef order(req):\n    return 1\ndef admit(req):\n    return True\ndef priority(req):\n    return 1", []policy.Kind{policy.AdmissionKind, policy.PriorityKind, policy.SchedulerKind, policy.AutoscaleKind}, ""},
		{"if True:\n    route = lambda req, i: i.kv\nelse:\n    def admit(req):\n        return True", []policy.Kind{policy.AdmissionKind, policy.RoutingKind}, ""},
		{"def f(x):\n    def route(req, i):\n        return 0\n    return x", nil, "p.star: decides nothing: want def admit(req, i), def make_batch(waiting, running, ctx), def order(req), def priority(req, i), def route(req, i), def scale(ctx, i) or def victim(running)"},
		{"def filter(req, i):\n    return i.kv", []policy.Kind{policy.RoutingKind}, ""}, // a run says that route is missing
		{"def make_batch(waiting):\n    return []", []policy.Kind{policy.SchedulerKind}, ""},
		{"", nil, "p.star: decides nothing"},
		{"def route(req, i):\n    return x", nil, "p.star:2:12: there is no x"},
		{"def route(", nil, "p.star:1:"},
	} {
		got, err := Kinds("p.star", c.source)
		var fault *Error
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil && (!errors.As(err, &fault) || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q: %v %v, want %v %s", c.source, got, err, c.want, c.err)
		}
	}
}
