package policy

import (
	"math/rand/v2"
	"testing"

	"blis/workload"
)

func TestRoutingAllocatesNothing(t *testing.T) {
	env := Env{BlockSize: 16, Instances: 16, Draws: NewDraws(7)}
	rng := rand.New(rand.NewPCG(7, 7))
	req := Request{Identity: workload.Identity{Input: 500}, Terms: workload.Terms{Spans: []workload.Span{{Content: 1, Length: 100}}}}
	sessions := []Setting{{"session-affinity", "3"}, {"prefix-affinity", "1"}, {"active-requests", "2"}, {"tie", "random"}}
	filters := []Setting{{"sticky_session", "5m"}, {"min_prefix", "0.1"}, {"max_in_flight", "3"}}
	for _, c := range []struct {
		name     string
		settings []Setting
	}{
		{"round-robin", nil}, {"least-loaded", nil}, {"weighted", nil}, {"weighted", sessions},
		{"weighted", []Setting{{"no-hit-lru", "1"}, {"prefix-affinity", "1"}, {"running-requests", "1"}, {"vllm-dp", "1"}, {"load-aware", "1"}}},
		{"prefix-affinity", []Setting{{"tie", "random"}}}, {"power-of-two", nil}, {"always-busiest", nil}, {"session-hash", nil},
		{"weighted", append(filters, sessions...)}, {"least-loaded", filters},
	} {
		p := mustRoute(t, c.name, env, c.settings...)
		if w, ok := p.(*weighted); ok && w.sessions != nil {
			w.sessions.capacity = 100
		}
		view := randomView(rng, 16)
		decide := func() {
			disturbView(rng, view, view.Len())
			req.Session = rng.Uint64N(300) / 2
			req.ID++
			route(p, &req, view)
		}
		for range 10_000 { // fill the index
			decide()
		}
		if allocations := testing.AllocsPerRun(1000, decide); allocations != 0 {
			t.Errorf("%s %v: %v allocations per decision", c.name, c.settings, allocations)
		}
	}
}

func BenchmarkRoute(b *testing.B) {
	private := []Request{{Identity: workload.Identity{Input: 512}}}
	long := []Request{{Identity: workload.Identity{Input: 100_000}}}
	var chat []Request
	for i := range 64 {
		chat = append(chat, Request{Identity: workload.Identity{Input: 1200, Session: uint64(1 + i)}, Terms: workload.Terms{Spans: []workload.Span{{Content: workload.ContentID(1 + i%8), Length: 512}, {Content: workload.ContentID(100 + i), Length: 256}}}})
	}
	sessions := []Setting{{"session-affinity", "3"}, {"active-requests", "2"}, {"kv-utilization", "2"}}
	for _, c := range []struct {
		name      string
		policy    string
		instances int
		requests  []Request
		settings  []Setting
	}{
		{"round-robin/16", "round-robin", 16, private, nil},
		{"least-loaded/16", "least-loaded", 16, private, nil},
		{"least-loaded/256", "least-loaded", 256, private, nil},
		{"least-loaded/1000", "least-loaded", 1000, private, nil},
		{"least-loaded/4000", "least-loaded", 4000, private, nil},
		{"weighted/16", "weighted", 16, private, nil},
		{"weighted/16/long", "weighted", 16, long, nil},
		{"weighted/16/named", "weighted", 16, chat, nil},
		{"weighted/256", "weighted", 256, private, nil},
		{"weighted/1000", "weighted", 1000, private, nil},
		{"weighted/1000/named", "weighted", 1000, chat, nil},
		{"weighted/4000", "weighted", 4000, private, nil},
		{"weighted/4000/named", "weighted", 4000, chat, nil},
		{"weighted/16/sessions", "weighted", 16, chat, sessions},
		{"weighted/1000/sessions", "weighted", 1000, chat, sessions},
		{"prefix-affinity/16", "prefix-affinity", 16, private, nil},
		{"prefix-affinity/16/named", "prefix-affinity", 16, chat, nil},
		{"prefix-affinity/1000", "prefix-affinity", 1000, private, nil},
		{"prefix-affinity/1000/named", "prefix-affinity", 1000, chat, nil},
		{"power-of-two/16", "power-of-two", 16, private, nil},
		{"power-of-two/1000", "power-of-two", 1000, private, nil},
		{"always-busiest/16", "always-busiest", 16, private, nil},
		{"always-busiest/1000", "always-busiest", 1000, private, nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := mustRoute(b, c.policy, Env{BlockSize: 16, Instances: c.instances, Draws: NewDraws(8)}, c.settings...)
			rng := rand.New(rand.NewPCG(8, 8))
			view := &View{Declared: p.Observes()}
			for range c.instances {
				view.Add(Slot{Queue: int32(rng.IntN(9)), Batch: int32(rng.IntN(40)), InFlight: int32(rng.IntN(50)), Used: int64(rng.IntN(29205)), Total: 29205, Routable: true})
			}
			sum := 0
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				d := route(p, &c.requests[n%len(c.requests)], view)
				// The load moves on as it would: one comes, the oldest leaves.
				view.AddInFlight(d.Target, 1)
				if oldest := n % c.instances; view.Slot(oldest).InFlight > 0 {
					view.AddInFlight(oldest, -1)
				}
				if n < 1000 {
					sum = 31*sum + d.Target
				}
				n++
			}
			b.ReportMetric(float64(uint32(sum)), "hash")
		})
	}
}
