package policy

import (
	"errors"
	"math/rand/v2"
	"testing"

	"blis/vtime"
)

func mustScale(t testing.TB, name string, settings ...Setting) Autoscale {
	t.Helper()
	p, err := NewAutoscale(name, settings, Env{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fleet is instances as an autoscaler sees them; those that are starting,
// warming or serving are its replicas. It has 1 to 20 of 10 seats each.
func fleet(p Autoscale, now vtime.Time, slots ...Slot) *AutoscaleContext {
	ctx := &AutoscaleContext{Now: now, Min: 1, Max: 20, Seats: 10, View: &View{Declared: p.Observes()}}
	for i, s := range slots {
		ctx.View.Add(s)
		if ctx.View.Phase(i) <= Warming {
			ctx.Replicas++
		}
		if ready(ctx.View, i) {
			ctx.Ready++
		}
	}
	return ctx
}

// each is n serving instances like s.
func each(n int, s Slot) []Slot {
	s.Routable = true
	list := make([]Slot, n)
	for i := range list {
		list[i] = s
	}
	return list
}

var (
	starting = Slot{Phase: Starting}
	parked   = Slot{Phase: Warming}                            // warms up without requests
	warming  = Slot{Phase: Warming, Routable: true, Batch: 9}  // and with
	draining = Slot{Phase: Draining, Batch: 9, Queue: 99}      // no replica
	gone     = Slot{Phase: Gone, Batch: 9, Queue: 99, Used: 9} // neither
)

func seconds(s float64) vtime.Time { return vtime.Time(s * float64(vtime.Second)) }

// check is one evaluation in a row of a table.
type check struct {
	at     float64 // s
	slots  []Slot
	action ScaleAction
	target int32
	reason Reason
}

func (c *check) run(t *testing.T, p Autoscale, number int) {
	t.Helper()
	want := ScaleDecision{Action: c.action, Target: c.target, Reason: c.reason}
	if got := p.Evaluate(fleet(p, seconds(c.at), c.slots...)); got != want {
		t.Errorf("evaluation %d at %g s: %+v (%v), want %+v (%v)", number, c.at, got, got.Reason, want, want.Reason)
	}
}

func TestThreshold(t *testing.T) {
	queue := []Setting{{"signal", "queue"}, {"up", "5"}, {"down", "1"}}
	busy, idle, middle := each(4, Slot{Batch: 9}), each(4, Slot{Batch: 1}), each(4, Slot{Batch: 5})
	for _, c := range []struct {
		name     string
		settings []Setting
		checks   []check
	}{
		{"up above, down below, nothing between", []Setting{{"cooldown", "0"}}, []check{
			{15, busy, ScaleUp, 5, AboveThreshold}, {30, idle, ScaleDown, 3, BelowThreshold}, {45, middle, Hold, 4, NoReason}}},
		{"the thresholds themselves are between", []Setting{{"cooldown", "0"}}, []check{
			{15, each(3, Slot{Batch: 8}), Hold, 3, NoReason}, {30, each(3, Slot{Batch: 3}), Hold, 3, NoReason},
			{45, append(each(2, Slot{Batch: 8}), Slot{Batch: 9, Routable: true}), ScaleUp, 4, AboveThreshold}}},
		{"steps", []Setting{{"cooldown", "0"}, {"step", "3"}}, []check{
			{15, busy, ScaleUp, 7, AboveThreshold}, {30, idle, ScaleDown, 1, BelowThreshold}}},
		{"a step ends at the bounds", []Setting{{"cooldown", "0"}, {"step", "10"}}, []check{
			{15, each(15, Slot{Batch: 9}), ScaleUp, 20, AboveThreshold}, {30, each(20, Slot{Batch: 9}), Hold, 20, AboveThreshold},
			{45, idle, ScaleDown, 1, BelowThreshold}, {60, each(1, Slot{}), Hold, 1, BelowThreshold}}},
		{"cooldown holds in both directions until it is over", nil, []check{
			{15, busy, ScaleUp, 5, AboveThreshold}, {30, busy, Hold, 4, InCooldown}, {74.999999, idle, Hold, 4, InCooldown}, {75, idle, ScaleDown, 3, BelowThreshold}}},
		{"what changes nothing starts no cooldown", nil, []check{
			{15, each(20, Slot{Batch: 9}), Hold, 20, AboveThreshold}, {16, middle, Hold, 4, NoReason}, {17, busy, ScaleUp, 5, AboveThreshold}}},
		{"only ready replicas are measured, others are counted", []Setting{{"cooldown", "0"}}, []check{
			{15, append(busy, starting, parked, draining, gone), ScaleUp, 7, AboveThreshold},
			{30, append(each(2, Slot{Batch: 1}), warming, starting), Hold, 4, NoReason}}},
		{"no replica is ready", nil, []check{{15, []Slot{starting, parked, draining}, Hold, 2, NoReason}}},
		{"KV use", []Setting{{"signal", "kv"}, {"cooldown", "0"}}, []check{
			{15, append(each(2, Slot{Used: 95, Total: 100}), each(1, Slot{Used: 60, Total: 100})...), ScaleUp, 4, AboveThreshold},
			{30, append(each(2, Slot{Used: 20, Total: 100}), each(1, Slot{Used: 49, Total: 100})...), ScaleDown, 2, BelowThreshold}}},
		{"KV use unknown", []Setting{{"signal", "kv"}}, []check{{15, each(2, Slot{}), Hold, 2, NoReason}}},
		{"waiting requests", append(queue, Setting{"cooldown", "0"}), []check{
			{15, append(each(2, Slot{Queue: 5}), each(1, Slot{Queue: 6})...), ScaleUp, 4, AboveThreshold},
			{30, append(each(2, Slot{Queue: 1}), each(1, Slot{})...), ScaleDown, 2, BelowThreshold}, {45, each(3, Slot{Queue: 5}), Hold, 3, NoReason}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustScale(t, "threshold", c.settings...)
			for i := range c.checks {
				c.checks[i].run(t, p, i)
			}
		})
	}
}

func TestThresholdOfAttainmentGoesUpWhenLittleIsAttained(t *testing.T) {
	p := mustScale(t, "threshold", Setting{"signal", "attainment"}, Setting{"up", "0.9"}, Setting{"down", "0.99"}, Setting{"cooldown", "0"})
	for _, c := range []struct {
		name     string
		services []Service
		want     ScaleDecision
	}{
		{"below up", []Service{{Judged: 100, Attained: 89}, {}}, ScaleDecision{ScaleUp, 3, BelowThreshold}},
		{"by requests, not by replicas", []Service{{Judged: 100, Attained: 91}, {Judged: 1}}, ScaleDecision{Hold, 2, NoReason}},
		{"at up", []Service{{Judged: 22, Attained: 15}, {Judged: 78, Attained: 75}}, ScaleDecision{Hold, 2, NoReason}},
		{"at down", []Service{{Judged: 100, Attained: 99}, {Judged: 100, Attained: 99}}, ScaleDecision{Hold, 2, NoReason}},
		{"above down", []Service{{Judged: 100, Attained: 100}, {Judged: 99, Attained: 98}}, ScaleDecision{ScaleDown, 1, AboveThreshold}},
		{"nobody has targets", []Service{{}, {}}, ScaleDecision{Hold, 2, NoReason}},
	} {
		ctx := fleet(p, 0, each(2, Slot{})...)
		for i, s := range c.services {
			ctx.View.ShowService(i, s)
		}
		if got := p.Evaluate(ctx); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestQueueDepth(t *testing.T) {
	at := []Setting{{"down_window", "0"}}
	for _, c := range []struct {
		name     string
		settings []Setting
		checks   []check
	}{
		{"one replica for each four that wait", at, []check{
			{15, each(2, Slot{Queue: 6}), ScaleUp, 3, ToTarget}, {30, each(2, Slot{Queue: 7}), ScaleUp, 4, ToTarget}, {45, each(4, Slot{Queue: 2}), ScaleDown, 2, ToTarget}}},
		{"one at least, when nobody waits", at, []check{{15, each(3, Slot{}), ScaleDown, 1, ToTarget}, {30, each(1, Slot{}), Hold, 1, ToTarget}}},
		{"within the bounds", at, []check{{15, each(2, Slot{Queue: 900}), ScaleUp, 20, ToTarget}}},
		{"within the tolerance", at, []check{
			{15, each(10, Slot{Queue: 4}), Hold, 10, WithinTolerance},
			{30, append(each(6, Slot{Queue: 4}), each(4, Slot{Queue: 5})...), Hold, 10, WithinTolerance}, // 44 wait, 1.1 × 40
			{45, append(each(5, Slot{Queue: 4}), each(5, Slot{Queue: 5})...), ScaleUp, 12, ToTarget},
			{60, append(each(6, Slot{Queue: 4}), each(4, Slot{Queue: 3})...), Hold, 10, WithinTolerance}, // 36 wait
			{75, append(each(5, Slot{Queue: 4}), each(5, Slot{Queue: 3})...), ScaleDown, 9, ToTarget}}},
		{"counts who starts as a replica already", at, []check{{15, append(each(2, Slot{Queue: 8}), starting, starting), Hold, 4, WithinTolerance}}},
		{"who drains has no say", at, []check{{15, append(each(2, Slot{Queue: 4}), draining, gone), Hold, 2, WithinTolerance}}},
		{"no replica is ready", at, []check{{15, []Slot{starting, draining}, Hold, 1, NoReason}}},
		{"down to the highest of the last five minutes", nil, []check{
			{15, each(3, Slot{Queue: 4}), Hold, 3, WithinTolerance}, {60, each(3, Slot{Queue: 8}), ScaleUp, 6, ToTarget},
			{75, each(6, Slot{}), Hold, 6, Stabilized}, {359, each(6, Slot{Queue: 2}), Hold, 6, Stabilized}, {360, each(6, Slot{}), ScaleDown, 3, Stabilized},
			{659, each(3, Slot{}), ScaleDown, 1, ToTarget}}},
		{"not below what the run began with before the window has passed", nil, []check{
			{15, each(3, Slot{}), Hold, 3, Stabilized}, {314.999999, each(3, Slot{}), Hold, 3, Stabilized}, {315, each(3, Slot{}), ScaleDown, 1, ToTarget}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustScale(t, "queue-depth", c.settings...)
			for i := range c.checks {
				c.checks[i].run(t, p, i)
			}
		})
	}
}

func TestOscillatorTakesTurns(t *testing.T) {
	p := mustScale(t, "oscillator")
	for i, c := range []check{
		{0, each(2, Slot{}), ScaleUp, 3, OtherWay}, {0, each(3, Slot{}), ScaleDown, 2, OtherWay}, {0, each(2, Slot{}), ScaleUp, 3, OtherWay},
		{0, each(1, Slot{}), Hold, 1, OtherWay}, {0, each(20, Slot{}), Hold, 20, OtherWay}, {0, each(20, Slot{}), ScaleDown, 19, OtherWay}} {
		c.run(t, p, i)
	}
}

func TestAutoscalersRefuseWhatCannotBeMeant(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		settings     []Setting
		want         string
	}{
		{"down above up", "threshold", []Setting{{"down", "0.9"}}, "autoscale.params.down: 0.9 is not below up, 0.8: replicas would be added and removed at one value of the signal"},
		{"down equal to up", "threshold", []Setting{{"signal", "queue"}, {"down", "0.8"}}, "autoscale.params.down: 0.8 is not below up, 0.8: replicas would be added and removed at one value of the signal"},
		{"attainment without thresholds", "threshold", []Setting{{"signal", "attainment"}}, "autoscale.params.down: 0.3 is not above up, 0.8: with signal attainment replicas are added below up and removed above down, want for example up: 0.9, down: 0.99"},
		{"per cent for a share", "threshold", []Setting{{"up", "80"}}, "autoscale.params.up: 80 is not allowed with signal batch, want a share of at most 1"},
		{"per cent for attainment", "threshold", []Setting{{"signal", "attainment"}, {"down", "99"}}, "autoscale.params.down: 99 is not allowed with signal attainment, want a share of at most 1"},
		{"part of a step", "threshold", []Setting{{"step", "1.5"}}, "autoscale.params.step: 1.5 is not allowed, want a whole number"},
		{"negative cooldown", "threshold", []Setting{{"cooldown", "-1s"}}, `autoscale.params.cooldown: "-1s" is not allowed, want a duration like 250ms or 5s`},
		{"per cent for a target", "target-utilization", []Setting{{"signal", "kv"}, {"target", "70"}}, "autoscale.params.target: 70 is not allowed with signal kv, want a share of at most 1"},
		{"no target", "target-utilization", []Setting{{"target", "0"}}, `autoscale.params.target: "0" is not allowed, want a number in [0.001, 1e+09]`},
		{"no signal for a target", "target-utilization", []Setting{{"signal", "attainment"}}, `autoscale.params.signal: "attainment" is not allowed, want batch | kv | queue | rate`},
		{"part of a pod up", "target-utilization", []Setting{{"up_pods", "0.5"}}, "autoscale.params.up_pods: 0.5 is not allowed, want a whole number"},
		{"part of a pod down", "target-utilization", []Setting{{"down_pods", "0.5"}}, "autoscale.params.down_pods: 0.5 is not allowed, want a whole number"},
		{"no period", "target-utilization", []Setting{{"period", "0"}}, `autoscale.params.period: "0" is not allowed, want a duration like 250ms or 5s, at least 1µs`},
		{"parameter of another", "queue-depth", []Setting{{"cooldown", "1s"}}, `autoscale.params.cooldown: queue-depth has no parameter "cooldown" (there are: target, tolerance, down_window)`},
	} {
		err := try(AutoscaleKind, c.policy, c.settings...)
		var fault *Error
		if !errors.As(err, &fault) || err.Error() != c.want {
			t.Errorf("%s: error\n%v, want\n%v", c.name, err, c.want)
		}
	}
}

// TestNobodyScalesToNone: nothing would be left to measure.
func TestNobodyScalesToNone(t *testing.T) {
	at := Setting{"down_window", "0"}
	for _, p := range []Autoscale{mustScale(t, "threshold"), mustScale(t, "target-utilization", at), mustScale(t, "queue-depth", at)} {
		for replicas, want := range []ScaleAction{1: Hold, 2: ScaleDown} {
			ctx := fleet(p, 0, each(replicas, Slot{})...)
			ctx.Min = 0
			if d := p.Evaluate(ctx); replicas > 0 && (d.Action != want || d.Target != 1) {
				t.Errorf("%T with %d: %+v", p, replicas, d)
			}
		}
	}
}

// TestAutoscalersAllocateNothing also lets a debug build check what they
// declare.
func TestAutoscalersAllocateNothing(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings []Setting
	}{
		{"none", nil}, {"oscillator", nil}, {"queue-depth", nil}, {"threshold", nil}, {"threshold", []Setting{{"signal", "kv"}}}, {"threshold", []Setting{{"signal", "queue"}}},
		{"threshold", []Setting{{"signal", "attainment"}, {"up", "0.9"}, {"down", "0.99"}}},
		{"target-utilization", []Setting{{"up_window", "60s"}, {"down_percent", "10"}}}, {"target-utilization", []Setting{{"signal", "kv"}}}, {"target-utilization", []Setting{{"signal", "queue"}}},
	} {
		p := mustScale(t, c.name, c.settings...)
		rng := rand.New(rand.NewPCG(4, 4))
		ctx := fleet(p, 0, each(16, Slot{Total: 1000})...)
		decide := func() {
			ctx.Now += vtime.Time(15 * vtime.Second)
			for i := range 16 {
				s := Slot{Queue: int32(rng.IntN(9)), Batch: int32(rng.IntN(11)), Used: rng.Int64N(1001), Total: 1000, Routable: true}
				if i >= 8 && rng.IntN(2) == 0 {
					s.Phase, s.Routable = Starting, false
				}
				ctx.View.Set(i, s)
				ctx.View.ShowService(i, Service{Judged: 100, Attained: rng.Int32N(101)})
			}
			ctx.Replicas = p.Evaluate(ctx).Target
		}
		for range 2000 {
			decide()
		}
		if allocations := testing.AllocsPerRun(1000, decide); allocations != 0 {
			t.Errorf("%s %v: %v allocations per decision", c.name, c.settings, allocations)
		}
	}
}
