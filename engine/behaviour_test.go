package engine

import (
	"fmt"
	"reflect"
	"testing"

	"blis/kv"
	"blis/latency"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// log is a sink that writes down which request ended when, in order.
type log struct{ lines []string }

func (l *log) Group(workload.Label, workload.Label, vtime.Time) int { return 0 }
func (l *log) ITL(int, vtime.Duration, int)                         {}
func (l *log) Done(o *metrics.Outcome, now vtime.Time) {
	l.lines = append(l.lines, fmt.Sprintf("%d %d %v", int64(now), o.ID, o.State))
}

// instance is an idle one with 64 blocks of 16 tokens and max_num_seqs 8.
func instance(t *testing.T, model latency.Model, change func(*Config)) (*Engine, *log) {
	t.Helper()
	s, err := policy.NewScheduler("fcfs", nil, policy.Env{BlockSize: 16})
	if err != nil {
		t.Fatal(err)
	}
	l := &log{}
	c := Config{
		BlockSize: 16, Args: Args{MaxNumBatchedTokens: 256, MaxNumSeqs: 8, EnablePrefixCaching: true, EnableChunkedPrefill: true, SchedulerReserveFullISL: true},
		Model: model, Scheduler: s, Cache: kv.NewPool(64, 16, true), Sink: l,
	}
	if change != nil {
		change(&c)
	}
	return New(0, c), l
}

// deliver hands e a request as it arrives.
func deliver(e *Engine, id int64, at vtime.Time, input, output int32, deadline vtime.Time) {
	d := Delivery{Request: workload.NewRequest(at, input, output), Admitted: at}
	d.ID, d.Deadline = id, deadline
	e.Advance(at, 3)
	e.Deliver(&d, at)
}

// At a step's end the time-outs act first, in the order of the running list
// (not of their deadlines), then those of the queue, then completions in the
// order of the batch.
func TestOrderInWhichRequestsLeaveAtTheEndOfAStep(t *testing.T) {
	for _, async := range []bool{false, true} {
		for _, stepwise := range []bool{false, true} {
			e, l := instance(t, linear{1000, 0, 0}, func(c *Config) { c.MaxNumSeqs, c.Async, c.StepByStep = 5, async, stepwise })
			deliver(e, 0, 0, 10, 3, vtime.Never)
			deliver(e, 1, 0, 10, 9, 2900)
			deliver(e, 2, 0, 10, 9, 2800)
			deliver(e, 3, 0, 10, 3, vtime.Never)
			deliver(e, 4, 0, 10, 9, 2700)
			deliver(e, 5, 0, 10, 9, 2600) // at max_num_seqs
			e.Advance(vtime.Never, 255)
			want := []string{"3000 1 timed_out", "3000 2 timed_out", "3000 4 timed_out", "3000 5 timed_out", "3000 0 completed", "3000 3 completed"}
			if !reflect.DeepEqual(l.lines, want) {
				t.Errorf("async %v, step by step %v:\n got %v\nwant %v", async, stepwise, l.lines, want)
			}
		}
	}
}

// A request that timed out on its way to the queue leaves no event behind: the
// instance's last was the time-out.
func TestTimeoutOnTheWayLeavesNoEvent(t *testing.T) {
	e, l := instance(t, slow{linear{1000, 0, 0}}, nil)
	deliver(e, 0, 0, 10, 3, 500)
	e.Advance(vtime.Never, 255)
	if want := []string{"500 0 timed_out"}; !reflect.DeepEqual(l.lines, want) || e.Now() != 500 {
		t.Errorf("%v, last event at %v; want %v at 500", l.lines, e.Now(), want)
	}
	if at, _ := e.Next(); at != vtime.Never {
		t.Errorf("an event at %v is left", at)
	}
}

// slow takes 10,000 µs to queue a request.
type slow struct{ linear }

func (slow) Queueing(latency.QueueInput) float64 { return 10_000 }

// A step takes at least 1 µs, whatever the model says, or time would stand.
func TestStepTakesAtLeastOneMicrosecond(t *testing.T) {
	for _, beta := range []float64{0, 0.99, -5} {
		e, l := instance(t, linear{beta, 0, 0}, nil)
		deliver(e, 0, 0, 10, 3, vtime.Never)
		e.Advance(vtime.Never, 255)
		if want := []string{"3 0 completed"}; !reflect.DeepEqual(l.lines, want) {
			t.Errorf("model says %v µs: %v, want %v", beta, l.lines, want)
		}
	}
}

// An idle instance starts with all that were queued in the same tick.
func TestIdleInstanceStartsWithAllOfItsTick(t *testing.T) {
	e, _ := instance(t, linear{1000, 0, 0}, nil)
	for id := range int64(3) {
		deliver(e, id, 700, 10, 2, vtime.Never)
	}
	e.Advance(700, vtime.ClassStep)
	if e.Running() != 0 || e.Waiting() != 3 {
		t.Errorf("before the step %d run and %d wait, want 0 and 3", e.Running(), e.Waiting())
	}
	e.Advance(701, 0)
	if e.Running() != 3 || e.Waiting() != 0 || e.Counters.Steps != 1 {
		t.Errorf("after it %d run and %d wait in step %d, want 3, 0, 1", e.Running(), e.Waiting(), e.Counters.Steps)
	}
}

// Tokens and completions show at a step's end, allocations and moves from the
// queue at its start: a decision inside the step sees place and blocks taken,
// one at its end does too, and one after it does not.
func TestEffectsShowAtTheEndOfTheStep(t *testing.T) {
	e, _ := instance(t, linear{1000, 0, 0}, nil)
	deliver(e, 0, 0, 40, 1, vtime.Never)
	for _, x := range []struct {
		at      vtime.Time
		class   uint8
		running int32
		used    int
	}{{0, vtime.ClassStep, 0, 0}, {1, 0, 1, 3}, {999, 12, 1, 3}, {1000, vtime.ClassStep, 1, 3}, {1001, 0, 0, 0}} {
		e.Advance(x.at, x.class)
		if e.Running() != x.running || e.UsedBlocks() != x.used {
			t.Errorf("before %v, class %d: %d running, %d blocks; want %d, %d", x.at, x.class, e.Running(), e.UsedBlocks(), x.running, x.used)
		}
	}
}

// The effective max-model-len is the given one, at most what the cache holds,
// and without chunked prefill at most the budget.
func TestEffectiveMaxModelLen(t *testing.T) {
	for _, x := range []struct {
		given, budget int32
		chunked       bool
		want          int32
	}{{0, 256, true, 1024}, {100, 256, true, 100}, {5000, 256, true, 1024}, {0, 256, false, 256}, {100, 256, false, 100}} {
		e, _ := instance(t, linear{1000, 0, 0}, func(c *Config) {
			c.MaxModelLen, c.MaxNumBatchedTokens, c.EnableChunkedPrefill = x.given, x.budget, x.chunked
		})
		if e.requests.maxLen != x.want {
			t.Errorf("given %d, budget %d, chunked %v: %d, want %d", x.given, x.budget, x.chunked, e.requests.maxLen, x.want)
		}
	}
}
