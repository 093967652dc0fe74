package actors_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"blis/actors"
	"blis/bundle"
	"blis/internal/testsize"
	"blis/vtime"
)

// schedulersInStarlark are scheduler templates, and programs that do the same; in plenty only where requests always fit.
var schedulersInStarlark = []struct {
	name, template string
	plenty         bool
	program        string
}{
	{"backfill", "{type: backfill, params: {max_passes: 5}}", false, `
def make_batch(waiting):
    first = waiting[0].tag
    state["passed"] = state["passed"] + 1 if state.get("first") == first else 0
    state["first"] = first
    return [0] if state["passed"] >= 5 else range(len(waiting))
`},
	{"backfill by default, tags as a vec", "{type: backfill}", false, `
def make_batch(waiting, running, ctx):
    if state.get("first") != waiting.tag[0]:
        state["first"], state["since"] = waiting.tag[0], state.get("now", 0)
    state["now"] = state.get("now", 0) + 1
    return [0] if state["now"] - 1 - state["since"] >= 100 else [k for k in range(len(waiting))]
`},
	{"fcfs, where all fit", "{type: fcfs}", true, `
def make_batch(waiting):
    return range(len(waiting))
`},
	{"fcfs by arrivals that it is told of", "{type: fcfs}", true, `
def on_arrival(req):
    state["arrived"] = state.get("arrived", 0) + 1
    state.setdefault("place", {})[req.tag] = state["arrived"]

def make_batch(waiting):
    return vec(sorted(range(len(waiting)), key = lambda k: state["place"][waiting[k].tag]))
`},
	{"sjf, where all fit", "{type: sjf}", true, `
def make_batch(waiting):
    return sorted(range(len(waiting)), key = lambda k: waiting.input[k])
`},
	{"priority-fcfs", "{type: priority-fcfs}", false, `
def order(req):
    return 0 - req.priority

def victim(running):
    low = equal(running.priority, min(running.priority))
    return argmin(where(low, running.age, 1e9))
`},
}

// TestSchedulersInStarlarkAreTheTemplates: the digest of a run does not tell who schedules, on any executor.
func TestSchedulersInStarlarkAreTheTemplates(t *testing.T) {
	executors := []actors.Execution{{Workers: 1, Sequential: true}, {Workers: 1}, {Workers: 2}, {Workers: 3, Inline: -1}, {Workers: 8, Inline: -1, Ahead: 40}}
	differ := 0
	cases := testsize.Cases(t, 24, 24, 120)
	for seed := range uint64(cases) {
		rng := rand.New(rand.NewPCG(seed, 0x626174))
		one := schedulersInStarlark[seed%uint64(len(schedulersInStarlark))]
		cfg := actors.DefaultConfig()
		cfg.Seed, cfg.NumInstances, cfg.NumRequests = seed, 1+rng.IntN(5), 60+rng.Int64N(90)
		cfg.Rate, cfg.MaxNumSeqs = float64(20+rng.IntN(200)), int32(2+rng.IntN(20))
		cfg.PromptTokens, cfg.PromptTokensStdev, cfg.OutputTokens = float64(40+rng.IntN(300)), 150, float64(5+rng.IntN(60))
		cfg.RoutingLatency = vtime.Duration(rng.IntN(2) * rng.IntN(3000))
		if cfg.TotalKVBlocks = 100_000; !one.plenty {
			cfg.TotalKVBlocks = int64(60 + rng.IntN(60))
		}
		run := func(scheduler string, e actors.Execution) string {
			c := cfg
			b, err := bundle.Parse("b.yaml", []byte("scheduler: "+scheduler+"\npriority: {type: starlark, params: {source: 'priority = lambda req: req.input % 5'}}"))
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			c.Policies, c.Execution = b, e
			r, err := actors.Run(context.Background(), c)
			if err != nil {
				t.Fatalf("seed %d, %s, %s, %+v: %v", seed, one.name, scheduler, e, err)
			}
			return r.Digest
		}
		want := run(one.template, executors[1])
		if !one.plenty && want != run("{type: fcfs}", executors[1]) {
			differ++
		}
		for _, e := range executors {
			if got := run(fmt.Sprintf("{type: starlark, params: {source: %q}}", one.program), e); got != want {
				t.Errorf("seed %d, %s, %+v: digest %s, want %s", seed, one.name, e, got, want)
			}
		}
	}
	if differ < cases/6 {
		t.Errorf("in %d of %d runs the scheduler makes a difference: too few", differ, cases)
	}
}
