package actors_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"blis/actors"
	"blis/bundle"
	"blis/internal/testsize"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// hintingProgram gives hints and goes by them, in one file.
const hintingProgram = `
hints = ["urgent", "prefill_heavy"]

def priority(req):
    return req.input % 2, {"prefill_heavy": req.input / 400, "urgent": req.input % 5 - 1}

def route(req, i):
    return argmax(0 - i.in_flight - req.hints.prefill_heavy * i.kv * 10 - i.queue * (req.hints.urgent + 2))

def order(req):
    return 0 - req.hints.urgent - req.priority / 4

def victim(running):
    return argmin(running.hints.urgent * 10 + running.hints.prefill_heavy)
`

// The same in Go.
type (
	hintingPriority  struct{}
	hintingRouting   struct{ urgent, heavy int }
	hintingScheduler struct {
		policy.Scheduler
		urgent, heavy int
	}
)

func (hintingPriority) Observes() policy.Signals { return policy.NoSignals }

func (hintingPriority) Score(req *policy.Request, _ *policy.RouterState, _ vtime.Time) float64 {
	return float64(req.Input % 2)
}

func (hintingPriority) Hints() []string { return []string{"prefill_heavy", "urgent"} } // in another order

func (hintingPriority) Hint(req *policy.Request, _ *policy.RouterState, _ vtime.Time, hints *policy.Hints) {
	hints[0], hints[1] = float64(req.Input)/400, float64(req.Input%5-1)
}

// indices finds the hints of a run.
func indices(env policy.Env) (urgent, heavy int) {
	urgent, err := env.Hint("urgent")
	heavy, err2 := env.Hint("prefill_heavy")
	if err != nil || err2 != nil {
		panic(fmt.Sprint(err, err2))
	}
	return urgent, heavy
}

func (hintingRouting) Observes() policy.Signals {
	return policy.InFlight | policy.KVUse | policy.QueueDepth
}

func (p hintingRouting) Route(req *policy.Request, _ float64, _ *policy.RouterState, view *policy.View, _ vtime.Time) policy.RoutingDecision {
	target, best := -1, 0.0
	for i := range view.Len() {
		if !view.Routable(i) {
			continue
		}
		use := 1.0
		if view.UsedBlocks(i) < view.TotalBlocks(i) {
			use = float64(view.UsedBlocks(i)) / float64(view.TotalBlocks(i))
		}
		heavy := float64(float64(req.Hints.Of(p.heavy)*use) * 10)
		score := 0 - float64(view.InFlight(i)) - heavy - float64(float64(view.QueueDepth(i))*(req.Hints.Of(p.urgent)+2))
		if target < 0 || score > best {
			target, best = i, score
		}
	}
	return policy.RoutingDecision{Target: target, Reason: policy.ByPolicy}
}

func (hintingScheduler) Reorders() bool { return true }

func (s hintingScheduler) Less(a, b *policy.Waiting, _ *policy.SchedulerContext) bool {
	key := func(w *policy.Waiting) float64 { return 0 - w.Hints.Of(s.urgent) - w.Priority/4 }
	switch x, y := key(a), key(b); {
	case x != y:
		return x < y
	case a.Arrival != b.Arrival:
		return a.Arrival < b.Arrival
	}
	return a.ID < b.ID
}

func (s hintingScheduler) Victim(running []policy.Running, _ *policy.SchedulerContext) int {
	victim, least := 0, 0.0
	for k := range running {
		h := running[k].Hints
		if x := float64(h.Of(s.urgent)*10) + h.Of(s.heavy); k == 0 || x < least {
			victim, least = k, x
		}
	}
	return victim
}

// TestHintsOfProgramsAreThoseOfGo: whoever of the three policies is a program and who is Go, on any
// executor, where requests are given back and where another instance computes prompts: the digest
// is the same. Hints have other places in Go, of which nobody hears.
func TestHintsOfProgramsAreThoseOfGo(t *testing.T) {
	executors := []actors.Execution{{Workers: 1, Sequential: true, StepByStep: true}, {Workers: 1}, {Workers: 2, Inline: -1}, {Workers: 3, Inline: -1, Ahead: 5}, {Workers: 8, Inline: -1, Ahead: 40}}
	preempted := int64(0)
	for seed := range uint64(testsize.Cases(t, 9, 12, 60)) {
		rng := rand.New(rand.NewPCG(seed, 0x68696e74))
		cfg := actors.DefaultConfig()
		cfg.Seed, cfg.NumInstances, cfg.NumRequests = seed, 2+rng.IntN(4), 150+rng.Int64N(150)
		cfg.TotalKVBlocks, cfg.Rate = int64(60+rng.IntN(200)), float64(50+rng.IntN(200))
		cfg.PromptTokens, cfg.PromptTokensStdev, cfg.OutputTokens = float64(40+rng.IntN(300)), 40, float64(20+rng.IntN(60))
		cfg.SchedulerReserveFullISL = true
		text := "{}"
		switch seed % 3 {
		case 1:
			text = "autoscale: {type: oscillator, interval: 300ms, min: 1, max: 6, actuation: {provisioning: 10ms, model_load: 20ms, drain: redirect}}\n"
		case 2:
			cfg.Architecture, cfg.PrefillReplicas, cfg.DecodeReplicas, cfg.NumInstances = setup.PD, 2, 2, actors.DefaultConfig().NumInstances
		}
		run := func(program [3]bool, e actors.Execution) *actors.Result {
			c := cfg
			b, err := bundle.Parse("b.yaml", []byte(text))
			for k, kind := range []string{"priority", "routing", "scheduler"} {
				if err == nil && program[k] {
					if err = b.Set(kind+".type", "starlark"); err == nil {
						err = b.Set(kind+".params.source", source(hintingProgram, program[0]))
					}
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if !program[0] {
				c.Custom.Priority = func(policy.Env) policy.Priority { return hintingPriority{} }
			}
			if !program[1] {
				c.Custom.Routing = func(env policy.Env) policy.Routing {
					urgent, heavy := indices(env)
					return hintingRouting{urgent, heavy}
				}
			}
			if !program[2] {
				c.Custom.Scheduler = func(env policy.Env) policy.Scheduler {
					s, err := policy.NewScheduler("fcfs", nil, env)
					if err != nil {
						panic(err)
					}
					urgent, heavy := indices(env)
					return hintingScheduler{s, urgent, heavy}
				}
			}
			c.Policies, c.Execution = b, e
			r, err := actors.Run(context.Background(), c)
			if err != nil {
				t.Fatalf("seed %d, programs %v, %+v: %v", seed, program, e, err)
			}
			return r
		}
		for order := range 2 { // of the hints in the messages: as in the program, and as in Go
			first := [3]bool{order == 0}
			want := run(first, executors[0])
			preempted += want.Report.Overall.Preemptions
			for n := range 4 {
				program := [3]bool{order == 0, n&1 != 0, n&2 != 0}
				for _, e := range executors[n%2*3:] {
					if got := run(program, e); got.Digest != want.Digest {
						t.Errorf("seed %d, programs %v, %+v: digest %s, want %s", seed, program, e, got.Digest, want.Digest)
					}
				}
			}
		}
	}
	if preempted == 0 {
		t.Error("nothing was preempted: no victim went by hints")
	}
}

// source is the program, or without its priority where that of the caller gives the hints.
func source(program string, priority bool) string {
	if priority {
		return program
	}
	_, rest, _ := strings.Cut(program, "def route")
	return "def route" + rest
}
