package script

import (
	"fmt"
	"testing"

	"blis/policy"
	"blis/vtime"
)

// linear is a policy as search programs write it.
const linear = `
def route(req, i):
    s = 3.0*i.prefix_hit + 2.0*(1.0 - i.queue/max(i.queue)) + (1.0 - i.kv) - 5.0*above(i.kv, 0.9)
    return argmax(s)
`

func viewOf(n int) *policy.View {
	view := &policy.View{MaxNumSeqs: 256, BlockSize: 16}
	for i := range n {
		view.Add(policy.Slot{Routable: true, Queue: int32(i % 7), Batch: int32(i % 5), InFlight: int32(i % 11), Used: int64(i * 3), Total: 1000})
	}
	return view
}

func mustRouting(t testing.TB, source string) policy.Routing {
	t.Helper()
	p, err := policy.NewRouting("starlark", []policy.Setting{{Name: "source", Value: source}, {Name: "max_steps", Value: "1000000000000"}}, policy.Env{BlockSize: 16})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func BenchmarkRoute(b *testing.B) {
	for _, n := range []int{16, 256} {
		benchRoute(b, fmt.Sprint(n), linear, n)
		benchRoute(b, fmt.Sprintf("%d filtered", n), linear+"\ndef filter(req, i):\n    return below(i.kv, 0.95) * below(i.queue, 6)\n", n)
	}
}

// benchRoute measures decisions of a program about n instances.
func benchRoute(b *testing.B, name, source string, n int) {
	b.Run(name, func(b *testing.B) {
		p, view := mustRouting(b, source), viewOf(n)
		st := &policy.RouterState{View: view, Declared: p.Observes()}
		view.Declared = p.Observes()
		req := &policy.Request{}
		b.ReportAllocs()
		for k := range b.N {
			req.ID = int64(k)
			p.Route(req, 0, st, view, vtime.Time(k))
		}
	})
}
