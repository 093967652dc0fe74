package actors_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"blis/actors"
	"blis/bundle"
	"blis/internal/testsize"
	_ "blis/script"
	"blis/vtime"
)

// templatesInStarlark are routing templates with their parameters, and programs that do the
// same.
var templatesInStarlark = []struct{ name, template, tie, program string }{
	{"round-robin", "{type: round-robin}", "", `
def route(req, i):
    k = argmax(above(i.index, state.get("last", -1)))
    state["last"] = i.index[k]
    return k
`},
	{"least-loaded, ties at random", "{type: least-loaded}", "random", `
def route(req, i):
    return 0 - (i.queue + i.running + i.in_flight)
`},
	{"least-loaded, ties to the lowest", "{type: least-loaded, params: {tie: lowest}}", "lowest", `
def route(req, i):
    return argmin(i.queue + i.running + i.in_flight)
`},
	{"weighted, as by default", "{type: weighted}", "random", `
W = [3.0 / 7.0, 2.0 / 7.0, 2.0 / 7.0]

def spread(x):
    return minmax(0 - x, 1)

def route(req, i):
    return W[0] * i.prefix_hit + W[1] * spread(i.queue + i.running + i.in_flight) + W[2] * (1 - i.kv)
`},
	{"weighted, of the others", "{type: weighted, params: {waiting-queue: 2, load-balance: 1, active-requests: 3, cache-hit-rate: 2, tie: lowest}}", "lowest", `
def route(req, i):
    most = max(i.in_flight)
    idle = (most - i.in_flight) / most if most > 0 else 1.0
    s = 2.0 / 8.0 * minmax(0 - i.queue, 1)
    s = s + 1.0 / 8.0 * (1 / (1 + i.queue + i.running + i.in_flight))
    return s + 3.0 / 8.0 * idle + 2.0 / 8.0 * i.hit_rate
`},
	{"least-loaded with filters", "{type: least-loaded, params: {max_queue: 1, max_kv: 0.5}}", "random", `
def filter(req, i):
    return below(i.queue, 2) * (1 - above(i.kv, 0.5))

def route(req, i):
    return 0 - (i.queue + i.running + i.in_flight)
`},
}

// TestTemplatesInStarlarkAreTheTemplates: the digest of a run does not tell who decides, on
// any executor.
func TestTemplatesInStarlarkAreTheTemplates(t *testing.T) {
	executors := []actors.Execution{{Workers: 1, Sequential: true}, {Workers: 1}, {Workers: 2}, {Workers: 3, Inline: -1}, {Workers: 8, Inline: -1}}
	for seed := range uint64(testsize.Cases(t, 24, 24, 120)) {
		rng := rand.New(rand.NewPCG(seed, 0x737461))
		cfg := actors.DefaultConfig()
		cfg.Seed, cfg.NumInstances, cfg.NumRequests = seed, 1+rng.IntN(9), 200+rng.Int64N(200)
		cfg.TotalKVBlocks, cfg.Rate = int64(200+rng.IntN(2000)), float64(5+rng.IntN(200))
		cfg.PromptTokens, cfg.PromptTokensStdev, cfg.OutputTokens = float64(40+rng.IntN(300)), 30, float64(5+rng.IntN(60))
		cfg.PrefixTokens = rng.Int32N(200)
		cfg.RoutingLatency = vtime.Duration(rng.IntN(2) * rng.IntN(3000))
		observability := []string{"{}", "{refresh: 20ms}", "{refresh: 5ms, in_flight: periodic}", "{queue_depth: 30ms, kv_utilization: on_demand}", "{prefix_index: events, kv_event_delay: 1ms}"}[rng.IntN(5)]
		scaling := ""
		if rng.IntN(4) == 0 {
			scaling = "autoscale: {type: oscillator, interval: 300ms, max: 12, actuation: {provisioning: 10ms, model_load: 200ms}}\n"
		}
		one := templatesInStarlark[seed%uint64(len(templatesInStarlark))]
		run := func(routing string, e actors.Execution) string {
			c := cfg
			b, err := bundle.Parse("b.yaml", []byte("routing: "+routing+"\nobservability: "+observability+"\n"+scaling))
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			c.Policies, c.Execution = b, e
			r, err := actors.Run(context.Background(), c)
			if err != nil {
				t.Fatalf("seed %d, %s, %+v: %v", seed, routing, e, err)
			}
			return r.Digest
		}
		want := run(one.template, executors[1])
		params := fmt.Sprintf("source: %q", one.program)
		if one.tie != "" {
			params += ", tie: " + one.tie
		}
		for _, e := range executors {
			if got := run("{type: starlark, params: {"+params+"}}", e); got != want {
				t.Errorf("seed %d, %s, observability %s, %+v: digest %s, want %s", seed, one.name, observability, e, got, want)
			}
		}
	}
}
