package evaluate

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"blis/actors"
	"blis/policy"
	"blis/trace"
	"blis/vtime"
)

// admits is an admission by a function. Each has its state for itself, as runs go on at the
// same time.
type admits struct {
	observes policy.Signals
	decide   func(req *policy.Request, st *policy.RouterState, now vtime.Time) policy.AdmissionDecision
}

func (p *admits) Observes() policy.Signals { return p.observes }
func (p *admits) Decide(req *policy.Request, st *policy.RouterState, now vtime.Time) policy.AdmissionDecision {
	return p.decide(req, st, now)
}

// game registers an admission that refuses work.
func game(name string, observes policy.Signals, refuses func(env policy.Env) func(*policy.Request, *policy.RouterState, vtime.Time) policy.Verdict) {
	policy.Register(policy.Template{Name: name, Help: "for tests"}, func(_ policy.Values, env policy.Env) (policy.Admission, error) {
		verdict := refuses(env)
		return &admits{observes, func(req *policy.Request, st *policy.RouterState, now vtime.Time) policy.AdmissionDecision {
			return policy.AdmissionDecision{Verdict: verdict(req, st, now), Reason: policy.ByPolicy, Wait: 100 * vtime.Millisecond}
		}}, nil
	})
}

// refuseIf rejects where a condition holds.
func refuseIf(is bool) policy.Verdict {
	if is {
		return policy.Reject
	}
	return policy.Admit
}

// waiting is the shortest queue of the instances.
func waiting(st *policy.RouterState) int64 {
	least := st.View.QueueDepth(0)
	for i := range st.View.Len() {
		least = min(least, st.View.QueueDepth(i))
	}
	return least
}

// routes is a routing by a function.
type routes struct {
	route func(req *policy.Request, view *policy.View) int
}

func (p *routes) Observes() policy.Signals { return policy.QueueDepth | policy.BatchSize }
func (p *routes) Route(req *policy.Request, _ float64, _ *policy.RouterState, view *policy.View, _ vtime.Time) policy.RoutingDecision {
	return policy.RoutingDecision{Target: p.route(req, view), Reason: policy.ByPolicy}
}

// leastLoaded is the baseline's choice: the lowest index among equals.
func leastLoaded(view *policy.View) int {
	best := 0
	for i := range view.Len() {
		if view.QueueDepth(i)+view.BatchSize(i) < view.QueueDepth(best)+view.BatchSize(best) {
			best = i
		}
	}
	return best
}

// learned are the choices that the policy that learns by heart knows, by the first request of the
// run that it saw them in.
var learned struct {
	sync.Mutex
	choices map[firstRequest][]int
	other   []int // where it knows nothing
}

// firstRequest is what a policy may know of the first request of a run.
type firstRequest struct {
	arrival vtime.Time
	input   int32
}

func init() {
	type verdict = func(*policy.Request, *policy.RouterState, vtime.Time) policy.Verdict
	game("game-half", policy.NoSignals, func(policy.Env) verdict {
		n := 0
		return func(*policy.Request, *policy.RouterState, vtime.Time) policy.Verdict {
			n++
			return refuseIf(n%2 == 0)
		}
	})
	game("game-no-long", policy.NoSignals, func(policy.Env) verdict {
		return func(r *policy.Request, _ *policy.RouterState, _ vtime.Time) policy.Verdict {
			return refuseIf(r.Input > 1500)
		}
	})
	game("game-no-longest", policy.NoSignals, func(policy.Env) verdict { // less than one of a hundred
		return func(r *policy.Request, _ *policy.RouterState, _ vtime.Time) policy.Verdict {
			return refuseIf(r.Input > 20000)
		}
	})
	game("game-no-batch", policy.NoSignals, func(env policy.Env) verdict {
		return func(r *policy.Request, _ *policy.RouterState, _ vtime.Time) policy.Verdict {
			return refuseIf(env.Labels.Classes.Name(r.Class) == "batch" || r.Input > 4000)
		}
	})
	game("game-drop-late", policy.QueueDepth, func(policy.Env) verdict { // waits for an empty queue, and gives up
		return func(r *policy.Request, st *policy.RouterState, now vtime.Time) policy.Verdict {
			if waiting(st) == 0 {
				return policy.Admit
			}
			if now.Sub(r.Arrival) > 300*vtime.Millisecond {
				return policy.Reject
			}
			return policy.Delay
		}
	})
	game("game-shed", policy.QueueDepth, func(policy.Env) verdict {
		return func(_ *policy.Request, st *policy.RouterState, _ vtime.Time) policy.Verdict {
			return refuseIf(waiting(st) > 0)
		}
	})
	game("game-one-tenant", policy.QueueDepth, func(policy.Env) verdict { // the first tenant, and what is short
		return func(r *policy.Request, st *policy.RouterState, _ vtime.Time) policy.Verdict {
			return refuseIf(r.Tenant != 1 && r.Input > 400 && waiting(st) >= 0)
		}
	})
	game("game-hold-back", policy.NoSignals, func(env policy.Env) verdict { // all but the critical class come later
		return func(r *policy.Request, _ *policy.RouterState, now vtime.Time) policy.Verdict {
			if env.Labels.Classes.Name(r.Class) != "critical" && now.Sub(r.Arrival) < vtime.Second {
				return policy.Delay
			}
			return policy.Admit
		}
	})
	policy.Register(policy.Template{Name: "game-one-instance", Help: "for tests"}, func(policy.Values, policy.Env) (policy.Routing, error) {
		return &routes{route: func(*policy.Request, *policy.View) int { return 0 }}, nil
	})
	policy.Register(policy.Template{Name: "game-nowhere", Help: "for tests"}, func(policy.Values, policy.Env) (policy.Routing, error) {
		return &routes{route: func(_ *policy.Request, view *policy.View) int {
			if best := leastLoaded(view); view.QueueDepth(best) == 0 {
				return best
			}
			return -1
		}}, nil
	})
	policy.Register(policy.Template{Name: "game-by-heart", Help: "for tests"}, func(policy.Values, policy.Env) (policy.Routing, error) {
		n, choices := 0, []int(nil)
		return &routes{route: func(req *policy.Request, view *policy.View) int {
			if n == 0 {
				learned.Lock()
				choices = learned.choices[firstRequest{req.Arrival, req.Input}]
				if choices == nil {
					choices = learned.other
				}
				learned.Unlock()
			}
			n++
			return choices[n-1]
		}}, nil
	})
}

// games are ways to look good without serving better.
var games = []string{
	"admission: {type: reject-all}",
	"admission: {type: game-half}",
	"admission: {type: game-no-long}",
	"admission: {type: game-no-longest}",
	"admission: {type: game-no-batch}",
	"admission: {type: game-drop-late}",
	"admission: {type: game-shed}",
	"admission: {type: game-one-tenant}",
	"admission: {type: game-hold-back}",
	"admission: {type: rate-limit}",
	"admission: {type: token-bucket}",
	"priority: {type: tenant-priority, tenants: {shop: 1, office: 1, reports: 5}}, scheduler: {type: priority-fcfs}",
	"priority: {type: tenant-priority, tenants: {shop: 1, office: 5, reports: 1}}, scheduler: {type: priority-fcfs}",
	"priority: {type: inverted-slo}, scheduler: {type: priority-fcfs}",
}

// Each game is worse than the baseline, in the suite or in its held-out part; and with a better
// routing it is worse than the routing without it.
func TestGamesDoNotWin(t *testing.T) {
	honest := good(t, "routing: {type: weighted}")
	for _, c := range games {
		a := good(t, "{routing: {type: least-loaded}, "+c+"}")
		t.Logf("%.4f, held out %.4f: %s", a.Score, a.HeldOut.Score, c)
		if a.Score >= 0.5 && a.HeldOut.Score >= 0.5 {
			t.Errorf("%s beats the baseline: %.4f, held out %.4f", c, a.Score, a.HeldOut.Score)
		}
		if a := good(t, "{routing: {type: weighted}, "+c+"}"); a.Score >= honest.Score && a.HeldOut.Score >= honest.HeldOut.Score {
			t.Errorf("%s makes weighted routing better: %.4f over %.4f, held out %.4f over %.4f", c, a.Score, honest.Score, a.HeldOut.Score, honest.HeldOut.Score)
		}
	}
	for _, c := range []string{"game-nowhere", "game-one-instance", "always-busiest"} {
		a := good(t, "routing: {type: "+c+"}")
		if a.Score >= 0.5 && a.HeldOut.Score >= 0.5 {
			t.Errorf("%s beats the baseline: %.4f, held out %.4f", c, a.Score, a.HeldOut.Score)
		}
	}
}

// Who refuses the few longest requests ends earlier, and has no higher rate for that.
func TestRatesAreNotShortened(t *testing.T) {
	alone := string(Text(Default))
	from, to := strings.Index(alone, "measures:"), strings.Index(alone, "settings:")
	s := parse(t, alone[:from]+"measures: {goodput: 1, throughput: 1, tokens_per_second: 1, completed_per_replica_hour: 1}\n"+alone[to:])
	r := reference(t, s, Options{HeldOut: true})
	a := evaluate(t, s, r, yaml("{routing: {type: least-loaded}, admission: {type: game-no-longest}}"), Options{HeldOut: true})
	for _, one := range append(a.PerScenario, a.HeldOut.PerScenario...) {
		if one.Score > 0.5 || strings.HasPrefix(one.ID, "long-prompts") == (one.Score == 0.5) {
			t.Errorf("%s: %v, want less than the baseline where requests are refused: %v", one.ID, one.Score, one.Objectives)
		}
	}
}

// What sends everything to one instance is worse in every scenario.
func TestOneInstanceLosesEverywhere(t *testing.T) {
	a := good(t, "routing: {type: game-one-instance}")
	for _, one := range append(a.PerScenario, a.HeldOut.PerScenario...) {
		if one.Score >= 0.5 {
			t.Errorf("%s: %.4f, want less than the baseline", one.ID, one.Score)
		}
	}
}

// What is better by hand climbs: routing, then who is served first; in the suite and in its held-out part.
func TestImprovementsClimb(t *testing.T) {
	page, err := os.ReadFile("../../docs/search.md")
	if err != nil {
		t.Fatal(err)
	}
	last := good(t, "routing: {type: round-robin}")
	scores := []float64{last.Score}
	for _, c := range []string{"routing: {type: least-loaded}", "routing: {type: weighted}", "{routing: {type: weighted}, priority: {type: deadline-aware}, scheduler: {type: priority-fcfs}}"} {
		a := good(t, c)
		if a.Score < last.Score+0.003 || a.HeldOut.Score < last.HeldOut.Score+0.003 {
			t.Errorf("%s has %.4f, held out %.4f after %.4f, %.4f: want more", c, a.Score, a.HeldOut.Score, last.Score, last.HeldOut.Score)
		}
		last, scores = a, append(scores, a.Score)
	}
	for _, x := range slices.Delete(scores, 1, 2) { // all but the baseline
		if !strings.Contains(string(page), fmt.Sprintf("(%.3f)", x)) {
			t.Errorf("docs/search.md does not have the score %.3f", x)
		}
	}
}

// choices collects where requests went. It is a trace.Consumer.
type choices struct {
	first   firstRequest
	targets []int
}

func (c *choices) Consume(r trace.Record) error {
	if r, ok := r.(*trace.Routing); ok {
		if c.targets == nil {
			c.first = firstRequest{r.At, r.Input}
		}
		c.targets = append(c.targets, *r.Target)
	}
	return nil
}

// A policy that has learned good choices for every seed of the suite wins there, and loses in the
// held-out part: that is what it is for.
func TestByHeartLosesHeldOut(t *testing.T) {
	s, _ := standard()
	c := yaml("routing: {type: weighted}")
	p, fault := c.read(s, s.Scenarios, 0)
	if fault != nil {
		t.Fatal(fault)
	}
	learned.choices = map[firstRequest][]int{}
	for _, c := range s.Scenarios {
		for _, seed := range c.Seeds {
			if c.HeldOut {
				continue
			}
			cfg, err := c.run(p.with(c), seed, Options{})
			if err != nil {
				t.Fatal(err)
			}
			seen := &choices{}
			cfg.Tracing = actors.Tracing{Level: trace.Decisions, Consumer: seen}
			if _, err := actors.Run(context.Background(), cfg); err != nil {
				t.Fatal(err)
			}
			learned.choices[seen.first], learned.other = seen.targets, seen.targets
		}
	}
	a := good(t, "routing: {type: game-by-heart}")
	honest := good(t, "routing: {type: weighted}")
	if a.Score != honest.Score || a.Score <= 0.5 {
		t.Errorf("learned by heart: %v, want the score of what was learned, %v", a.Score, honest.Score)
	}
	if a.HeldOut.Score >= 0.48 {
		t.Errorf("learned by heart: %v held out, want much less than the baseline", a.HeldOut.Score)
	}
}
