package policy

import (
	"strings"
	"testing"

	"blis/vtime"
	"blis/workload"
)

func mustTrigger(t *testing.T, text string) *Trigger {
	t.Helper()
	g, err := ParseTrigger(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// seen is a context for a trigger: like fleet, with what it observes.
func seen(g *Trigger, at float64, slots ...Slot) *AutoscaleContext {
	ctx := fleet(mustScaleNone, seconds(at), slots...)
	ctx.View.Declared = g.Observes()
	return ctx
}

var mustScaleNone Autoscale = noScaling{}

// A condition fires at every look at which it holds, one that must last when it
// held at every look for so long.
func TestTriggerConditions(t *testing.T) {
	waiting := func(n int32) []Slot { return each(2, Slot{Queue: n, Total: 10}) }
	busy := func(batch int32, used int64) []Slot { return each(2, Slot{Batch: batch, Used: used, Total: 10}) }
	type look struct {
		at    float64
		slots []Slot
		fires bool
	}
	for _, c := range []struct {
		text     string
		observes Signals
		looks    []look
	}{
		{"queue>5", QueueDepth, []look{{1, waiting(5), false}, {2, waiting(6), true}, {3, waiting(7), true}, {4, waiting(0), false}}},
		{"batch<0.3", BatchSize, []look{{1, busy(3, 0), false}, {2, busy(2, 9), true}, {3, []Slot{starting}, false}}},
		{"kv>0.8", KVUse, []look{{1, busy(9, 8), false}, {2, busy(0, 9), true}, {3, each(1, Slot{}), false}}},
		{"load>0.8 for 30s", BatchSize | KVUse | QueueDepth, []look{{0, busy(9, 0), false}, {29, busy(0, 9), false}, {30, waiting(9), true}, {31, busy(8, 8), false}, {60, busy(9, 0), false}, {90, busy(9, 0), true}}},
		{"load<0.3", BatchSize | KVUse | QueueDepth, []look{{1, busy(2, 2), true}, {2, busy(2, 3), false}, {3, each(2, Slot{Batch: 1}), false}}}, // the last: KV unknown
		{"queue>5, load<0.3 for 2s", BatchSize | KVUse | QueueDepth, []look{{1, waiting(0), false}, {2, waiting(0), false}, {3, waiting(0), true}, {4, waiting(9), true}, {5, waiting(0), false}}},
		{"periodic", NoSignals, []look{{1, waiting(9), false}}},
	} {
		g := mustTrigger(t, c.text)
		if g.Observes() != c.observes || g.Conditional() != (c.observes != NoSignals) {
			t.Errorf("%s: observes %v", c.text, g.Observes())
		}
		for i, l := range c.looks {
			if got := g.Fires(seen(g, l.at, l.slots...)); got != l.fires {
				t.Errorf("%s: look %d: fires %v", c.text, i, got)
			}
		}
	}
}

func TestTriggerOfAttainment(t *testing.T) {
	g := mustTrigger(t, "attainment<0.9")
	if !g.Judges() || mustTrigger(t, "queue>1").Judges() {
		t.Error("it is about targets, the queue is not")
	}
	for attained, want := range map[int64]bool{89: true, 90: false} {
		ctx := seen(g, 1, each(1, Slot{})...)
		ctx.View.ShowService(0, Service{Judged: 100, Attained: attained})
		if got := g.Fires(ctx); got != want {
			t.Errorf("%d of 100: fires %v", attained, got)
		}
	}
	if g.Fires(seen(g, 1, each(1, Slot{})...)) {
		t.Error("nobody has targets: fires")
	}
}

// Arrivals per second against those when the autoscaler was asked last, and per
// replica.
func TestTriggerOfRates(t *testing.T) {
	change, each2 := mustTrigger(t, "rate-change>0.5"), mustTrigger(t, "rate>4")
	state := &RouterState{Declared: Rates}
	state.Track(Rates)
	arrive := func(at vtime.Time, n int) {
		for range n {
			state.Arrive(workload.Label(0), workload.Label(0), at)
		}
	}
	look := func(g *Trigger, at vtime.Time) bool {
		ctx := seen(g, at.Seconds(), each(2, Slot{})...)
		ctx.State = state
		fires := g.Fires(ctx)
		if fires && g == change {
			g.Asked(ctx)
		}
		return fires
	}
	arrive(seconds(1), 80) // 8 per second
	if !look(change, seconds(1)) || look(change, seconds(2)) {
		t.Error("the first arrivals are a change, nothing new is none")
	}
	if look(each2, seconds(2)) {
		t.Error("4 for each of 2 replicas is not above 4")
	}
	arrive(seconds(3), 40)
	if look(change, seconds(3)) || !look(each2, seconds(3)) {
		t.Error("half more is not more than a half, and is above 4")
	}
	arrive(seconds(4), 1)
	if !look(change, seconds(4)) {
		t.Error("more than a half is")
	}
	if !look(change, seconds(20)) || look(change, seconds(21)) {
		t.Error("nothing any more is a change, once")
	}
}

func TestTriggersThatAreNone(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"sometimes", `"sometimes" is no trigger, want periodic, event, or conditions`},
		{"queue>5,", `"" is no trigger`},
		{"queeu>5", `unknown signal "queeu" of a trigger, the nearest is "queue" (there are: rate-change, load, batch, kv, queue, attainment, rate)`},
		{"queue>-1", `"queue>-1": "-1" is not a number from 0`},
		{"queue>NaN", `"NaN" is not a number from 0`},
		{"load>80", `"load>80": want a share of at most 1`},
		{"rate-change<0.5", `want rate-change>, a change is never too small`},
		{"load>0.8 for ever", `"ever" is not a duration, want for example load>0.8 for 30s`},
		{"load>0.8 30s", `"0.8 30s" is not a number`},
	} {
		if _, err := ParseTrigger(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

func FuzzParseTrigger(f *testing.F) {
	for _, text := range []string{"periodic", "queue>5, load<0.3 for 60s", "rate-change>0.5", "rate>1e308 for 1us", "<", "kv> for "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ParseTrigger(text)
		if err != nil {
			return
		}
		ctx := seen(g, 1, each(2, Slot{Queue: 3, Total: 9})...)
		ctx.State = &RouterState{Declared: Rates}
		g.Fires(ctx)
		g.Asked(ctx)
	})
}
