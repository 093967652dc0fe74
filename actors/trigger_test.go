package actors

import (
	"slices"
	"testing"

	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// watch is an autoscaler that writes down when it is asked, and how much there
// is in the batch of instance 0 then.
type watch struct {
	times *[]vtime.Time
	batch *[]int64
}

func (watch) Observes() policy.Signals { return policy.BatchSize }

func (w watch) Evaluate(c *policy.AutoscaleContext) policy.ScaleDecision {
	*w.times = append(*w.times, c.Now)
	*w.batch = append(*w.batch, c.View.BatchSize(0))
	return policy.ScaleDecision{Target: c.Replicas}
}

// An evaluation comes in the instant of an arrival or of an end, at most one per
// interval; what happens within the interval after one is seen when that is
// over. It sees all of its instant. Nothing happens, nobody asks; and the last
// end, with which the run ends, calls for nothing any more.
func TestEventsTriggerChecks(t *testing.T) {
	for _, c := range []struct {
		name     string
		requests []workload.Request
		times    []vtime.Time
		batch    []int64
	}{
		{"at once, then when the interval is over", []workload.Request{request(500, 10, 30), request(600, 10, 30), request(9000, 10, 3), request(50_000, 10, 20)},
			[]vtime.Time{500, 10_500, 20_500, 30_500, 40_500, 50_500}, []int64{1, 3, 2, 1, 0, 1}},
		{"exactly an interval later", []workload.Request{request(0, 10, 40), request(10_000, 10, 20), request(25_000, 10, 15)},
			[]vtime.Time{0, 10_000, 25_000, 35_000}, []int64{1, 2, 3, 2}},
		{"an end alone", []workload.Request{request(0, 10, 20), request(0, 10, 60)}, []vtime.Time{0, 20_000}, []int64{2, 1}},
		{"nothing is left", []workload.Request{request(0, 10, 5), request(3000, 10, 1)}, []vtime.Time{0}, []int64{1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := scaled(1)
			cfg.AutoscaleTrigger = "event"
			var times []vtime.Time
			var batch []int64
			cfg.Custom.Autoscale = func(policy.Env) policy.Autoscale {
				times, batch = nil, nil
				return watch{&times, &batch}
			}
			s := serve(t, cfg, c.requests...)
			if !slices.Equal(times, c.times) || !slices.Equal(batch, c.batch) {
				t.Errorf("asked at %v with batches of %v, want %v and %v", times, batch, c.times, c.batch)
			}
			if int(s.Scaling.Checks) != len(c.times) {
				t.Errorf("%d checks counted, want %d", s.Scaling.Checks, len(c.times))
			}
		})
	}
}

// What an event can call for, and when.
func TestTriggerOncePerInterval(t *testing.T) {
	g := trigger{interval: 100}
	for i, c := range []struct {
		at    vtime.Time
		calls bool
		last  vtime.Time
		next  vtime.Time // of the reaction to an event then, afterwards
	}{
		{40, true, 40, 140}, {40, false, 40, 140}, {41, true, 140, 240}, {140, false, 140, 240}, {150, true, 240, 340}, {1000, true, 1000, 1100}, {1100, true, 1100, 1200},
	} {
		if calls := g.note(c.at); calls != c.calls || g.last != c.last || g.reaction(c.at).At != c.next {
			t.Errorf("event %d at %v: calls %v for %v, then not before %v; want %+v", i, c.at, calls, g.last, g.reaction(c.at).At, c)
		}
	}
	if none := (&trigger{}); none.note(5) || !none.reaction(5).IsNever() {
		t.Error("without an interval events call for nothing")
	}
}

// With conditions the policy is asked at the first event at which one holds,
// again no sooner than an interval later, and not while none does. The last two
// requests find nobody waiting.
func TestConditionsTriggerChecks(t *testing.T) {
	cfg := scaled(1)
	cfg.MaxNumSeqs = 1
	for _, c := range []struct {
		trigger string
		times   []vtime.Time
	}{
		// Two wait up to 25,000 and one up to 40,000. Looks are at 0, before
		// anybody waits, at 10,000 when an interval has passed, and at the ends.
		{"queue>1", []vtime.Time{10_000}},
		{"queue>0", []vtime.Time{10_000, 25_000}},
		{"queue>0 for 15ms", []vtime.Time{25_000}},
		{"queue>0 for 15001us", nil},
		{"queue>7", nil},
	} {
		cfg.AutoscaleTrigger = c.trigger
		var times []vtime.Time
		var batch []int64
		cfg.Custom.Autoscale = func(policy.Env) policy.Autoscale {
			times, batch = nil, nil
			return watch{&times, &batch}
		}
		s := serve(t, cfg, request(0, 10, 25), request(100, 10, 15), request(300, 10, 15), request(60_000, 10, 5), request(90_000, 10, 5))
		if !slices.Equal(times, c.times) || int(s.Scaling.Checks) != len(c.times) {
			t.Errorf("%s: asked at %v, %d checks; want %v", c.trigger, times, s.Scaling.Checks, c.times)
		}
	}
}
