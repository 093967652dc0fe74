package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/actors"
	"blis/policy"
	"blis/trace"
	"blis/vtime"
)

// crowded is a cluster in which where a request goes matters: few seats, near
// their limit.
func crowded() actors.Config {
	cfg := small()
	cfg.NumRequests, cfg.NumInstances, cfg.MaxNumSeqs = 300, 3, 4
	cfg.Rate = 9
	return cfg
}

// recorded runs cfg and returns its routing records and the TTFT of each request.
func recorded(t *testing.T, cfg actors.Config, more ...trace.Consumer) (*actors.Result, []trace.Routing, map[int64]vtime.Duration) {
	t.Helper()
	var routings []trace.Routing
	ttft := map[int64]vtime.Duration{}
	cfg.Tracing = actors.Tracing{Level: trace.Decisions, Counterfactual: 2, Consumer: consume(func(r trace.Record) error {
		for _, c := range more {
			if err := c.Consume(r); err != nil {
				return err
			}
		}
		if r, ok := r.(*trace.Routing); ok {
			kept := *r
			kept.Candidates = slices.Clone(r.Candidates)
			for _, p := range []**float64{&kept.Score, &kept.Best, &kept.Regret} {
				if *p != nil {
					v := **p
					*p = &v
				}
			}
			target := *r.Target
			kept.Target = &target
			routings = append(routings, kept)
		}
		return nil
	})}
	cfg.Row = func(row *actors.Row) {
		if d, ok := row.TTFT(); ok {
			ttft[row.ID] = d
		}
	}
	result, err := actors.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return result, routings, ttft
}

type consume func(trace.Record) error

func (c consume) Consume(r trace.Record) error { return c(r) }

// TestReplayDoesNotHideAFaultBehindAnInterruption: the replay fails just when it
// is interrupted.
func TestReplayDoesNotHideAFaultBehindAnInterruption(t *testing.T) {
	cfg := crowded()
	regrets := NewRegrets(1)
	recorded(t, cfg, regrets)
	if len(regrets.worst) == 0 {
		t.Fatal("nothing to replay")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cfg.Custom.Routing = func(policy.Env) policy.Routing { return broken{cancel} }
	r, err := regrets.Replay(ctx, cfg, nil, Pool{Workers: 1})
	var failed *RunError
	if r != nil || !errors.As(err, &failed) || errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v: want no replay and a *RunError", r, err)
	}
}

// broken is a routing policy that interrupts everything and fails.
type broken struct{ cancel func() }

func (broken) Observes() policy.Signals { return policy.NoSignals }

func (b broken) Route(*policy.Request, float64, *policy.RouterState, *policy.View, vtime.Time) policy.RoutingDecision {
	b.cancel()
	panic("broken")
}

// handForced is a routing policy that chooses as another does, but for one
// request. It stands for forcing done by hand, without --force-routing.
type handForced struct {
	policy.Routing
	request int64
	to      int
}

func (h handForced) Route(req *policy.Request, priority float64, st *policy.RouterState, view *policy.View, now vtime.Time) policy.RoutingDecision {
	d := h.Routing.Route(req, priority, st, view, now)
	if req.ID == h.request {
		d.Target = h.to
	}
	return d
}

// TestReplayEqualsRunsForcedByHand is the promise of a replay: what it says of a
// decision is what a run says in which somebody else forced it.
func TestReplayEqualsRunsForcedByHand(t *testing.T) {
	for _, routing := range []string{"round-robin", "power-of-two"} {
		cfg := crowded()
		cfg.RoutingPolicy = routing
		regrets := NewRegrets(6)
		result, routings, ttft := recorded(t, cfg, regrets)
		mean := result.Report.Overall.TTFT.Mean
		replay, err := regrets.Replay(t.Context(), cfg, &mean, Pool{})
		if err != nil || replay.Partial || len(replay.Replayed) != 6 {
			t.Fatalf("%s: %d of 6 replayed, partial %v, error %v", routing, len(replay.Replayed), replay.Partial, err)
		}
		worst := slices.Clone(routings)
		slices.SortStableFunc(worst, func(a, b trace.Routing) int {
			return cmp.Or(cmp.Compare(*b.Regret, *a.Regret), cmp.Compare(a.Request, b.Request))
		})
		changed := 0
		for i, r := range replay.Replayed {
			w := &worst[i]
			if r.Request != w.Request || r.Chosen != *w.Target || r.Best != w.Candidates[0].Instance || r.Regret != *w.Regret || *r.TTFT != ttft[r.Request] {
				t.Errorf("%s: decision %d is %+v, want that of request %d with regret %v", routing, i, r.Regretted, w.Request, *w.Regret)
			}
			byHand := cfg
			byHand.Custom.Routing = func(env policy.Env) policy.Routing {
				inner, err := policy.NewRouting(routing, nil, env)
				if err != nil {
					t.Fatal(err)
				}
				return handForced{inner, r.Request, r.Best}
			}
			other, _, otherTTFT := recorded(t, byHand)
			want := otherTTFT[r.Request] - ttft[r.Request]
			if d, ok := r.Difference(); !ok || d != want || *r.MeanTTFT != other.Report.Overall.TTFT.Mean {
				t.Errorf("%s: request %d on instance %d: TTFT differs by %v, mean %v; forced by hand by %v, mean %v", routing, r.Request, r.Best, d, *r.MeanTTFT, want, other.Report.Overall.TTFT.Mean)
			}
			if want != 0 {
				changed++
			}
		}
		if changed < 3 {
			t.Errorf("%s: only %d decisions matter: the test says little", routing, changed)
		}
	}
}

// TestReplayIsTheSameOnAnyNumberOfWorkers compares everything.
func TestReplayIsTheSameOnAnyNumberOfWorkers(t *testing.T) {
	cfg := crowded()
	cfg.RoutingPolicy, cfg.ForceRouting = "round-robin", "3=0"
	first := ""
	for _, workers := range []int{1, 2, 3, 8} {
		regrets := NewRegrets(5)
		recorded(t, cfg, regrets)
		replay, err := regrets.Replay(t.Context(), cfg, nil, Pool{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, r := range replay.Replayed {
			d, _ := r.Difference()
			text += fmt.Sprintln(r.Request, r.At, r.Chosen, r.Best, r.Score, r.BestScore, r.Regret, d, *r.MeanTTFT)
		}
		if first == "" {
			first = text
		}
		if text != first {
			t.Errorf("%d workers:\n%swant\n%s", workers, text, first)
		}
	}
}

// TestRegretsKeepTheWorst takes random records, some of decisions that do not
// count.
func TestRegretsKeepTheWorst(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 31))
		most := 1 + rng.IntN(5)
		g := NewRegrets(most)
		var want []Regretted
		regretted := int64(0)
		var open []int64
		decisions := 1 + rng.IntN(60)
		for i := range decisions {
			request, score, best, zero := int64(i), 0.5, 0.5+float64(rng.IntN(4))/10, 0.0
			regret := best - score
			target := rng.IntN(3)
			r := trace.Routing{Request: request, At: vtime.Time(i), Target: &target, Score: &score, Best: &best, Regret: &regret, Candidates: []trace.Candidate{{Instance: 2}}}
			switch rng.IntN(6) {
			case 0:
				r.Forced = true
			case 1:
				r.Target, r.Regret = nil, nil
			default:
				if regret > zero {
					regretted++
					want = append(want, Regretted{Request: request, Regret: regret})
				}
			}
			must(t, g.Consume(&r))
			if open = append(open, request); rng.IntN(3) == 0 { // routed again, with much regret
				again, much := open[rng.IntN(len(open))], 9.0
				must(t, g.Consume(&trace.Routing{Request: again, Target: &target, Score: &score, Best: &much, Regret: &much, Candidates: r.Candidates}))
			}
		}
		slices.SortFunc(want, func(a, b Regretted) int {
			return cmp.Or(cmp.Compare(b.Regret, a.Regret), cmp.Compare(a.Request, b.Request))
		})
		want = want[:min(most, len(want))]
		if len(g.worst) != len(want) || g.count != regretted {
			t.Fatalf("seed %d: %d decisions of %d, want %d of %d", seed, len(g.worst), g.count, len(want), regretted)
		}
		for i := range want {
			if g.worst[i].Request != want[i].Request || g.worst[i].Regret != want[i].Regret {
				t.Errorf("seed %d: decision %d is that of request %d, want %d", seed, i, g.worst[i].Request, want[i].Request)
			}
		}
		for _, request := range open {
			must(t, g.Consume(&trace.Outcome{Request: request}))
		}
		if len(g.routed) != 0 {
			t.Errorf("seed %d: %d requests are kept after all have ended", seed, len(g.routed))
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestReplayInterrupted has nothing to say of what was not replayed.
func TestReplayInterrupted(t *testing.T) {
	cfg := crowded()
	cfg.RoutingPolicy = "round-robin"
	regrets := NewRegrets(4)
	recorded(t, cfg, regrets)
	ctx, cancel := context.WithCancel(t.Context())
	replay, err := regrets.Replay(ctx, cfg, nil, Pool{Workers: 1, Progress: func(done, _ int) {
		if done == 2 {
			cancel()
		}
	}})
	if err == nil || replay == nil || !replay.Partial || len(replay.Replayed) != 2 {
		t.Errorf("replay %+v, error %v; want a partial one of 2 decisions", replay, err)
	}
}
