package actors

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"blis/internal/testsize"
	"blis/policy"
	"blis/setup"
	"blis/trace"
	"blis/vtime"
)

// hintOf is hint k of a request in these tests: all kinds of numbers, and many zeros.
func hintOf(id int64, k int) float64 {
	h := vtime.Mix(uint64(id)<<3 + uint64(k))
	if h&3 == 0 || uint64(id)%5 == 0 {
		return 0
	}
	return float64(int64(h)>>40) / 64
}

// mustBeHints panics unless hints are those of the request.
func mustBeHints(where string, id int64, h *policy.Hints, at []int) {
	for k, i := range at {
		if id < 0 { // it left while a queue was put in order
			return
		}
		if got, want := h.Of(i), hintOf(id, k); got != want {
			panic(fmt.Sprintf("%s: hint %d of request %d is %v, want %v", where, k, id, got, want))
		}
	}
}

// hinter is a priority policy that gives hints, which it does not see itself.
type hinter struct {
	policy.Priority
	n int
}

func (p hinter) Hints() []string {
	return []string{"h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"}[:p.n]
}

func (p hinter) Score(req *policy.Request, st *policy.RouterState, now vtime.Time) float64 {
	if req.Hints != nil {
		panic("the priority policy sees hints")
	}
	return p.Priority.Score(req, st, now)
}

func (p hinter) Hint(req *policy.Request, _ *policy.RouterState, _ vtime.Time, hints *policy.Hints) {
	if *hints != (policy.Hints{}) {
		panic("there are hints before")
	}
	for k := range p.n {
		hints[k] = hintOf(req.ID, k)
	}
}

// hintsOfEnv are the indices of n hints.
func hintsOfEnv(env policy.Env, n int) []int {
	at := make([]int, n)
	for k := range at {
		i, err := env.Hint(fmt.Sprint("h", k))
		if err != nil {
			panic(err)
		}
		at[k] = i
	}
	return at
}

// unhintedAdmission checks that admission knows no hints.
type unhintedAdmission struct{ policy.Admission }

func (p unhintedAdmission) Decide(req *policy.Request, st *policy.RouterState, now vtime.Time) policy.AdmissionDecision {
	if req.Hints != nil {
		panic("the admission policy sees hints")
	}
	return p.Admission.Decide(req, st, now)
}

// hintedRouting routes by hints alone.
type hintedRouting struct{ at []int }

func (hintedRouting) Observes() policy.Signals { return policy.NoSignals }

func (p hintedRouting) Route(req *policy.Request, _ float64, _ *policy.RouterState, view *policy.View, _ vtime.Time) policy.RoutingDecision {
	mustBeHints("routing", req.ID, req.Hints, p.at)
	from := int(int64(64*req.Hints.Of(p.at[0]))&0xffff) % view.Len()
	for k := range view.Len() {
		if i := (from + k) % view.Len(); view.Routable(i) {
			return policy.RoutingDecision{Target: i, Reason: policy.ByPolicy}
		}
	}
	return policy.RoutingDecision{Target: -1, Reason: policy.NoInstance}
}

// hintedScheduler orders, chunks and preempts by hints.
type hintedScheduler struct {
	policy.Scheduler
	at []int
}

func (hintedScheduler) Reorders() bool { return true }

func (s hintedScheduler) Less(a, b *policy.Waiting, _ *policy.SchedulerContext) bool {
	mustBeHints("order", a.ID, a.Hints, s.at)
	mustBeHints("order", b.ID, b.Hints, s.at)
	last := s.at[len(s.at)-1]
	if x, y := a.Hints.Of(last), b.Hints.Of(last); x != y {
		return x > y
	}
	return a.ID < b.ID
}

func (s hintedScheduler) Chunk(r *policy.Running, remaining, _ int32, _ *policy.SchedulerContext) int32 {
	mustBeHints("chunk", r.ID, r.Hints, s.at)
	if r.Hints.Of(s.at[0]) < 0 {
		return min(remaining, 16)
	}
	return remaining
}

func (s hintedScheduler) Victim(running []policy.Running, _ *policy.SchedulerContext) int {
	victim := 0
	for i := range running {
		mustBeHints("victim", running[i].ID, running[i].Hints, s.at)
		if running[i].Hints.Of(s.at[0]) < running[victim].Hints.Of(s.at[0]) {
			victim = i
		}
	}
	return victim
}

// hintedBatches chooses as a set those whose hint is not below that of the first.
type hintedBatches struct{ hintedScheduler }

func (hintedBatches) Reorders() bool { return false }

func (s hintedBatches) MakeBatch(waiting []policy.Waiting, running []policy.Running, _ *policy.SchedulerContext, choice []int32) []int32 {
	for i := range running {
		mustBeHints("batch", running[i].ID, running[i].Hints, s.at)
	}
	for k := range waiting {
		mustBeHints("batch", waiting[k].ID, waiting[k].Hints, s.at)
		if k == 0 || waiting[k].Hints.Of(s.at[0]) >= waiting[0].Hints.Of(s.at[0]) {
			choice = append(choice, int32(k))
		}
	}
	return choice
}

// mustMake is a policy that is made.
func mustMake[P any](p P, err error) P {
	if err != nil {
		panic(err)
	}
	return p
}

// giveHints gives a trial policies that give and read hints.
func (d dice) giveHints(x *trial) {
	c, n := &x.Config, d.between(1, policy.MaxHints)
	x.Hints, x.SometimesNoInstance, c.ForceRouting = false, false, ""
	c.SchedulerReserveFullISL = true // else two requests may take turns for ever
	c.Custom.Priority = func(env policy.Env) policy.Priority {
		return hinter{mustMake(policy.NewPriority("constant", nil, env)), n}
	}
	c.Custom.Routing = func(env policy.Env) policy.Routing { return hintedRouting{hintsOfEnv(env, n)} }
	if x.Delay == 0 && x.ReadsSignals == policy.NoSignals {
		c.Custom.Admission = func(env policy.Env) policy.Admission {
			return unhintedAdmission{mustMake(policy.NewAdmission("always-admit", nil, env))}
		}
	}
	batches := !c.HasCPUTier() && c.Architecture != setup.PD && d.chance(0.3)
	c.Custom.Scheduler = func(env policy.Env) policy.Scheduler {
		s := hintedScheduler{mustMake(policy.NewScheduler("fcfs", nil, env)), hintsOfEnv(env, n)}
		if batches {
			return hintedBatches{s}
		}
		return s
	}
}

// TestEqualityOfHints draws clusters whose routing and schedulers go by hints of the priority
// policy, which are the same wherever a request gets: after it was given back, lost and tried
// again, and where its prompt is computed elsewhere.
func TestEqualityOfHints(t *testing.T) {
	c := compareDrawn(t, testsize.Of(40, 80, 200), func(seed uint64) *trial {
		draw := [...]func(uint64) *trial{drawTrial, drawDisaggregated, drawFailing, drawFailingPools}[seed%4]
		x := draw(seed)
		newDice(seed, 0x68696e74).giveHints(x)
		return x
	})
	if c.cases >= 40 && (c.retried == 0 || c.redirected == 0 || c.pd.completed == 0 || c.preempted == 0) {
		t.Errorf("of %d trials requests were tried again in %d, given back in %d, handed over in %d, preempted in %d: want some of each", c.cases, c.retried, c.redirected, c.pd.completed, c.preempted)
	}
}

// TestHintsOfADigest: a run whose hints are all 0 has the messages of one without, and others
// make it another run.
func TestHintsOfADigest(t *testing.T) {
	digest := func(hints ...float64) string {
		c := small(t)
		c.Custom.Priority = func(env policy.Env) policy.Priority {
			return fixedHints{mustMake(policy.NewPriority("constant", nil, env)), hints}
		}
		r, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return r.Digest
	}
	none := digest()
	if got := digest(0, 0); got != none {
		t.Errorf("digest %s with hints that are 0, %s without", got, none)
	}
	seen := map[string]bool{none: true}
	for _, hints := range [][]float64{{1}, {0, 1}, {1, 1}, {-1}} {
		if d := digest(hints...); seen[d] {
			t.Errorf("hints %v change nothing", hints)
		} else {
			seen[d] = true
		}
	}
	if minus := math.Copysign(0, -1); digest(minus, 1) != digest(0, 1) {
		t.Error("a zero with a sign is another hint than 0")
	}
}

// fixedHints gives every request the same hints.
type fixedHints struct {
	policy.Priority
	hints []float64
}

func (p fixedHints) Hints() (list []string) {
	for k := range p.hints {
		list = append(list, fmt.Sprint("h", k))
	}
	return list
}

func (p fixedHints) Hint(_ *policy.Request, _ *policy.RouterState, _ vtime.Time, hints *policy.Hints) {
	copy(hints[:], p.hints)
}

// TestTraceOfHints: the records of a priority and of a routing have the hints in the order of
// their names, zeros too, and a run without hints has no such field.
func TestTraceOfHints(t *testing.T) {
	for _, level := range []trace.Level{trace.Decisions, trace.Detailed} {
		for _, hints := range [][]float64{nil, {0, 0}, {0.5, 0}, {-0.25, 3}} {
			c, k := small(t), &kept{}
			c.Custom.Priority = func(env policy.Env) policy.Priority {
				return fixedHints{mustMake(policy.NewPriority("constant", nil, env)), hints}
			}
			c.Tracing = Tracing{Level: level, Consumer: k, Counterfactual: 2}
			if _, err := Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			want := `"priority":0}`
			if hints != nil {
				want = fmt.Sprintf(`"priority":0,"hints":[{"name":"h0","value":%v},{"name":"h1","value":%v}]`, hints[0], hints[1])
			}
			for _, kind := range []string{"priority", "routing"} {
				list := k.of(kind)
				if len(list) != 4 {
					t.Fatalf("%d records of kind %s, want 4", len(list), kind)
				}
				for _, r := range list {
					if hints == nil && strings.Contains(r, "hints") || hints != nil && !strings.Contains(r, want) {
						t.Errorf("level %v, hints %v: %s", level, hints, r)
					}
				}
			}
		}
	}
}

// TestHintsThatCannotBe: names of a policy that is not of this module.
func TestHintsThatCannotBe(t *testing.T) {
	for _, x := range []struct {
		names []string
		want  string
	}{
		{[]string{"a", "b", "a"}, `the hint "a" is there twice`},
		{[]string{"Urgent"}, `a hint cannot be called "Urgent"`},
		{[]string{""}, `a hint cannot be called ""`},
		{[]string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}, "there are 9 hints: want at most 8"},
	} {
		c := small(t)
		c.Custom.Priority = func(env policy.Env) policy.Priority {
			return misnamed{mustMake(policy.NewPriority("constant", nil, env)), x.names}
		}
		refusal(t, c, "the priority policy: ", x.want)
	}
}

// misnamed is a priority policy whose hints have these names.
type misnamed struct {
	policy.Priority
	names []string
}

func (p misnamed) Hints() []string { return p.names }

func (misnamed) Hint(*policy.Request, *policy.RouterState, vtime.Time, *policy.Hints) {}
