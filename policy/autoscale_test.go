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
	ctx := &AutoscaleContext{Now: now, Min: 1, Max: 20, MaxNumSeqs: 10, View: &View{Declared: p.Observes()}}
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

// ofBatch is settings for the signal batch, unless they name another.
func ofBatch(settings []Setting) []Setting {
	for _, s := range settings {
		if s.Name == "signal" {
			return settings
		}
	}
	return append([]Setting{{"signal", "batch"}}, settings...)
}

// light is an instance like s none of whose KV blocks is in use.
func light(s Slot) Slot {
	s.Total = 100
	return s
}

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
			p := mustScale(t, "threshold", ofBatch(c.settings)...)
			for i := range c.checks {
				c.checks[i].run(t, p, i)
			}
		})
	}
}

// Of load the highest part counts on the way up, and all parts must be low, and
// known, on the way down.
func TestThresholdOfLoadFollowsWhatBinds(t *testing.T) {
	full := func(batch, queue int32, used int64) []Slot {
		return each(4, Slot{Batch: batch, Queue: queue, Used: used, Total: 100})
	}
	p := mustScale(t, "threshold", Setting{"cooldown", "0"})
	if p.Observes() != BatchSize|KVUse|QueueDepth {
		t.Errorf("observes %v", p.Observes())
	}
	for i, c := range []check{
		{15, full(9, 0, 0), ScaleUp, 5, SeatsAbove},
		{30, full(0, 0, 81), ScaleUp, 5, KVAbove},
		{45, full(0, 5, 0), ScaleUp, 5, QueueAbove},
		{60, full(9, 9, 99), ScaleUp, 5, QueueAbove},
		{75, full(8, 4, 80), Hold, 4, NoReason},
		{90, full(2, 1, 29), ScaleDown, 3, BelowThreshold},
		{105, full(3, 1, 29), Hold, 4, NoReason},
		{120, full(2, 1, 30), Hold, 4, NoReason},
		{135, full(2, 2, 29), Hold, 4, NoReason},
		{150, each(4, Slot{Batch: 2}), Hold, 4, NoReason},      // KV blocks are not known
		{165, each(4, Slot{Batch: 9}), ScaleUp, 5, SeatsAbove}, // but the seats are taken
		{180, append(full(9, 0, 0), starting, draining), ScaleUp, 6, SeatsAbove},
	} {
		c.run(t, p, i)
	}
}

// A signal that must stay beyond its threshold: one evaluation within the band,
// or on the other side of it, begins anew.
func TestThresholdSustained(t *testing.T) {
	p := mustScale(t, "threshold", Setting{"signal", "queue"}, Setting{"up", "5"}, Setting{"down", "1"}, Setting{"sustained", "60s"}, Setting{"cooldown", "30s"})
	long, short, none := each(2, Slot{Queue: 6}), each(2, Slot{Queue: 3}), each(2, Slot{})
	for i, c := range []check{
		{15, long, Hold, 2, NotSustained}, {60, long, Hold, 2, NotSustained}, {74.999999, long, Hold, 2, NotSustained},
		{75, long, ScaleUp, 3, AboveThreshold}, {90, long, Hold, 2, InCooldown}, {105, long, ScaleUp, 3, AboveThreshold},
		{150, short, Hold, 2, NoReason}, {165, long, Hold, 2, NotSustained}, {225, long, ScaleUp, 3, AboveThreshold},
		{300, none, Hold, 2, NotSustained}, {345, long, Hold, 2, NotSustained}, {390, none, Hold, 2, NotSustained}, {450, none, ScaleDown, 1, BelowThreshold},
		{465, []Slot{starting}, Hold, 1, NoReason}, {480, none, Hold, 2, NotSustained},
	} {
		c.run(t, p, i)
	}
	loads := mustScale(t, "threshold", Setting{"sustained", "60s"})
	for i, c := range []check{ // whichever part of load it is
		{15, each(2, Slot{Batch: 9, Total: 10}), Hold, 2, NotSustained}, {45, each(2, Slot{Queue: 9, Total: 10}), Hold, 2, NotSustained}, {75, each(2, Slot{Used: 9, Total: 10}), ScaleUp, 3, KVAbove},
	} {
		c.run(t, loads, i)
	}
}

// How near a signal came to the value beyond which it asks for more.
func TestAutoscalersAreWatched(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings []Setting
		slots    [][]Slot // of evaluations
		want     Watch
	}{
		{"threshold", []Setting{{"signal", "batch"}}, [][]Slot{each(2, Slot{Batch: 3}), each(2, Slot{Batch: 8}), each(2, Slot{})}, Watch{"batch", 0.8, 0.8, true, false}},
		{"threshold", nil, [][]Slot{each(2, Slot{Batch: 3, Queue: 5, Total: 9})}, Watch{"load", 0.8, 1, true, true}},
		{"threshold", []Setting{{"signal", "kv"}}, [][]Slot{each(2, Slot{})}, Watch{"kv", 0.8, 0, false, false}},
		{"target-utilization", []Setting{{"signal", "batch"}, {"tolerance", "0"}}, [][]Slot{each(2, Slot{Batch: 7}), each(2, Slot{Batch: 1})}, Watch{"batch", 0.7, 0.7, true, false}},
		{"target-utilization", []Setting{{"tolerance", "0"}}, [][]Slot{each(2, Slot{Batch: 8, Total: 9})}, Watch{"load", 0.7, 0.8, true, true}},
		{"queue-depth", []Setting{{"tolerance", "0"}}, [][]Slot{each(2, Slot{Queue: 3})}, Watch{"queue", 4, 3, true, false}},
	} {
		p := mustScale(t, c.name, c.settings...)
		for i, slots := range c.slots {
			p.Evaluate(fleet(p, seconds(float64(15*i+15)), slots...))
		}
		if got := p.(Watched).Watched(); got != c.want {
			t.Errorf("%s %v: %+v, want %+v", c.name, c.settings, got, c.want)
		}
	}
	p := mustScale(t, "threshold", Setting{"signal", "attainment"}, Setting{"up", "0.9"}, Setting{"down", "0.99"})
	ctx := fleet(p, 0, each(1, Slot{})...)
	ctx.View.ShowService(0, Service{Judged: 100, Attained: 95})
	p.Evaluate(ctx)
	if got, want := p.(Watched).Watched(), (Watch{"attainment", 0.9, 0.95, true, false}); got != want {
		t.Errorf("attainment: %+v, want %+v", got, want)
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
			{15, each(2, Slot{Queue: 6}), ScaleUp, 3, ToTarget}, {30, each(2, Slot{Queue: 7}), ScaleUp, 4, ToTarget}, {45, each(4, light(Slot{Queue: 2})), ScaleDown, 3, RateOfChange}}},
		{"one at least, when nobody waits", at, []check{{15, each(2, light(Slot{})), ScaleDown, 1, ToTarget}, {30, each(1, light(Slot{})), Hold, 1, ToTarget}}},
		{"within the bounds", at, []check{{15, each(2, Slot{Queue: 900}), ScaleUp, 20, ToTarget}}},
		{"within the tolerance", at, []check{
			{15, each(10, Slot{Queue: 4}), Hold, 10, WithinTolerance},
			{30, append(each(6, Slot{Queue: 4}), each(4, Slot{Queue: 5})...), Hold, 10, WithinTolerance}, // 44 wait, 1.1 × 40
			{45, append(each(5, Slot{Queue: 4}), each(5, Slot{Queue: 5})...), ScaleUp, 12, ToTarget},
			{60, append(each(6, Slot{Queue: 4}), each(4, Slot{Queue: 3})...), Hold, 10, WithinTolerance}, // 36 wait
			{75, append(each(5, light(Slot{Queue: 4})), each(5, light(Slot{Queue: 3}))...), ScaleDown, 9, ToTarget},
			{90, each(10, light(Slot{Queue: 3})), ScaleDown, 8, ToTarget}}},
		{"counts who starts as a replica already", at, []check{{15, append(each(2, Slot{Queue: 8}), starting, starting), Hold, 4, WithinTolerance}}},
		{"who drains has no say", at, []check{{15, append(each(2, Slot{Queue: 4}), draining, gone), Hold, 2, WithinTolerance}}},
		{"no replica is ready", at, []check{{15, []Slot{starting, draining}, Hold, 1, NoReason}}},
		{"down to the highest of the last five minutes", nil, []check{
			{15, each(3, Slot{Queue: 4}), Hold, 3, WithinTolerance}, {60, each(3, Slot{Queue: 8}), ScaleUp, 6, ToTarget},
			{75, each(6, light(Slot{})), Hold, 6, Stabilized}, {359, each(6, light(Slot{Queue: 2})), Hold, 6, Stabilized}, {360, each(6, light(Slot{})), ScaleDown, 5, RateOfChange},
			{659, each(5, light(Slot{})), Hold, 5, Stabilized}, {660, each(5, light(Slot{})), ScaleDown, 4, RateOfChange}}},
		{"not below what the run began with before the window has passed", nil, []check{
			{15, each(2, light(Slot{})), Hold, 2, Stabilized}, {314.999999, each(2, light(Slot{})), Hold, 2, Stabilized}, {315, each(2, light(Slot{})), ScaleDown, 1, ToTarget}}},
		{"an empty queue beside seats in use is busy: nothing goes", at, []check{{15, each(4, light(Slot{Batch: 3})), Hold, 4, InUse}}},
		{"nor beside KV blocks in use", at, []check{{15, each(4, Slot{Used: 30, Total: 100}), Hold, 4, InUse}}},
		{"a fifth at a time, one at least", at, []check{{15, each(20, light(Slot{})), ScaleDown, 16, RateOfChange}, {30, each(19, light(Slot{})), ScaleDown, 16, RateOfChange}, {45, each(4, light(Slot{})), ScaleDown, 3, RateOfChange}}},
		{"only as far as what is left stays below low", at, []check{{15, each(20, light(Slot{Batch: 2})), ScaleDown, 16, RateOfChange}, {30, each(3, light(Slot{Batch: 2})), ScaleDown, 2, RateOfChange},
			{45, each(2, light(Slot{Batch: 2})), Hold, 2, InUse}, {60, append(each(2, light(Slot{Batch: 1})), starting), ScaleDown, 2, RateOfChange}}},
		{"KV use that nobody knows may be high", at, []check{{15, each(4, Slot{}), Hold, 4, InUse}}},
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
		{"per cent for a share", "threshold", []Setting{{"up", "80"}}, "autoscale.params.up: 80 is not allowed with signal load, want a share of at most 1"},
		{"per cent for attainment", "threshold", []Setting{{"signal", "attainment"}, {"down", "99"}}, "autoscale.params.down: 99 is not allowed with signal attainment, want a share of at most 1"},
		{"part of a step", "threshold", []Setting{{"step", "1.5"}}, "autoscale.params.step: 1.5 is not allowed, want a whole number"},
		{"negative cooldown", "threshold", []Setting{{"cooldown", "-1s"}}, `autoscale.params.cooldown: "-1s" is not allowed, want a duration like 250ms or 5s`},
		{"per cent for a target", "target-utilization", []Setting{{"signal", "kv"}, {"target", "70"}}, "autoscale.params.target: 70 is not allowed with signal kv, want a share of at most 1"},
		{"no target", "target-utilization", []Setting{{"target", "0"}}, `autoscale.params.target: "0" is not allowed, want a number in [0.001, 1e+09]`},
		{"no signal for a target", "target-utilization", []Setting{{"signal", "attainment"}}, `autoscale.params.signal: "attainment" is not allowed, want load | batch | kv | queue | rate`},
		{"part of a pod up", "target-utilization", []Setting{{"up_pods", "0.5"}}, "autoscale.params.up_pods: 0.5 is not allowed, want a whole number"},
		{"part of a pod down", "target-utilization", []Setting{{"down_pods", "0.5"}}, "autoscale.params.down_pods: 0.5 is not allowed, want a whole number"},
		{"no period", "target-utilization", []Setting{{"period", "0"}}, `autoscale.params.period: "0" is not allowed, want a duration like 250ms or 5s, at least 1µs`},
		{"parameter of another", "queue-depth", []Setting{{"cooldown", "1s"}}, `autoscale.params.cooldown: queue-depth has no parameter "cooldown" (there are: target, tolerance, low, down_window, source)`},
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
	for _, p := range []Autoscale{mustScale(t, "threshold"), mustScale(t, "target-utilization", at), mustScale(t, "queue-depth", at, Setting{"source", "instances"})} {
		for replicas, want := range []ScaleAction{1: Hold, 2: ScaleDown} {
			ctx := fleet(p, 0, each(replicas, light(Slot{}))...)
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
		{"none", nil}, {"oscillator", nil}, {"queue-depth", nil}, {"threshold", nil}, {"threshold", []Setting{{"signal", "batch"}, {"sustained", "30s"}}}, {"threshold", []Setting{{"signal", "kv"}}}, {"threshold", []Setting{{"signal", "queue"}}},
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
				ctx.View.ShowService(i, Service{Judged: 100, Attained: rng.Int64N(101)})
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
