package engine

import (
	"reflect"
	"testing"

	"blis/kv"
	"blis/policy"
	"blis/vtime"
)

// growing is first come, first served with chunks of prefill that are small at
// first: a custom scheduler may want that.
type growing struct{ policy.Scheduler }

func (growing) Chunk(r *policy.Running, most, _ int32, _ *policy.SchedulerContext) int32 {
	if r.Computed < 8 {
		return min(most, 4)
	}
	return most
}

// The request admitted first is served first: when its chunk grows to the whole
// budget, one that decodes already gets nothing in that step.
func TestBudgetGoesByAdmissionNotByWhoDecodes(t *testing.T) {
	for _, async := range []bool{false, true} {
		var logs [2][]string
		var steps [2]int64
		for i, stepwise := range []bool{true, false} {
			e, l := instance(t, linear{1000, 10, 1}, func(c *Config) {
				c.Async, c.StepByStep, c.MaxNumBatchedTokens, c.Scheduler = async, stepwise, 16, growing{c.Scheduler}
			})
			deliver(e, 0, 0, 100, 3, vtime.Never)
			deliver(e, 1, 0, 4, 50, vtime.Never)
			e.Advance(vtime.Never, 0)
			logs[i], steps[i] = l.lines, e.Counters.Steps
			if n := e.Counters.ScheduledTokens; n != 100+2+4+49 {
				t.Errorf("async %v: %d tokens", async, n)
			}
		}
		// Two steps of 4, then the whole budget: 6 steps in which request 1 decodes
		// nothing but in the last, which is not full.
		if !reflect.DeepEqual(logs[0], logs[1]) || steps[0] != steps[1] {
			t.Errorf("async %v: step by step %v in %d steps, else %v in %d", async, logs[0], steps[0], logs[1], steps[1])
		}
		if !async && steps[1] != 1+49+5 {
			t.Errorf("%d steps", steps[1])
		}
	}
}

// What is computed again after a preemption is what the prefix cache has lost,
// not all that had been computed.
func TestRecomputedTokensAreThoseThatTheCacheLost(t *testing.T) {
	for _, stepwise := range []bool{true, false} {
		e, l := instance(t, linear{1000, 10, 1}, func(c *Config) {
			c.StepByStep, c.Cache = stepwise, kv.NewPool(9, 16, true)
		})
		var computed int64
		for id, input := range []int32{40, 50} {
			deliver(e, int64(id), vtime.Time(id), input, 60, vtime.Never)
			computed += int64(input) + 60 - 1
		}
		e.Advance(vtime.Never, 0)
		c := &e.Counters
		if len(l.lines) != 2 || c.Preemptions == 0 || c.RecachedTokens == 0 {
			t.Fatalf("%v, %+v", l.lines, c)
		}
		if c.Recomputed != c.ScheduledTokens-computed {
			t.Errorf("step by step %v: %d tokens computed again, scheduled %d in place of %d; %d were in the cache", stepwise, c.Recomputed, c.ScheduledTokens, computed, c.RecachedTokens)
		}
	}
}

// A run whose sums over virtual time would overflow ends before they do.
func TestFaultF10EndlessSteps(t *testing.T) {
	for _, stepwise := range []bool{true, false} {
		e, _ := instance(t, linear{1e15, 0, 0}, func(c *Config) { c.StepByStep, c.Cache = stepwise, kv.NewPool(1000, 16, true) })
		deliver(e, 0, 0, 1000, 10_000, vtime.Never)
		func() {
			defer func() {
				if l, ok := recover().(*TooLong); !ok || l.At < 1e15 || e.Counters.BlockMicros < 0 {
					t.Errorf("%v, %d block·µs", l, e.Counters.BlockMicros)
				}
			}()
			e.Advance(vtime.Never, 0)
		}()
	}
}
