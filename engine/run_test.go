package engine

import (
	"testing"

	"blis/kv"
	"blis/vtime"
)

// tally counts gaps and requests that ended.
type tally struct {
	log
	gaps int
	sum  vtime.Duration
}

func (c *tally) ITL(_ int, gap vtime.Duration, n int) {
	c.gaps += n
	c.sum += gap * vtime.Duration(n)
}

// A caller can stop: one act is a bounded number of steps,
// however long the run is, and where it pauses changes nothing.
func TestFaultF6LongDecodeRunsPause(t *testing.T) {
	const output = 3*longestRun + 77
	type end struct {
		gaps    int
		sum     vtime.Duration
		now     vtime.Time
		fold    uint64
		steps   int64
		between int
	}
	for _, async := range []bool{false, true} {
		var ends [2]end
		for i, stepwise := range []bool{true, false} {
			c := &tally{}
			e, _ := instance(t, linear{1000, 3, 0.01}, func(c2 *Config) {
				c2.Async, c2.StepByStep, c2.Sink = async, stepwise, c
				c2.Cache = kv.NewPool(output, 16, true)
			})
			deliver(e, 0, 0, 10, output, vtime.Never)
			deliver(e, 1, 5, 40, output-7, vtime.Never)
			acts := 0
			for {
				if at, _ := e.Next(); at == vtime.Never {
					break
				}
				before := e.Counters.Steps
				e.Act(vtime.Never, 0)
				if n := e.Counters.Steps - before; n > longestRun+1 {
					t.Fatalf("%d steps in one act", n)
				}
				acts++
			}
			if len(c.lines) != 2 {
				t.Fatalf("%v", c.lines)
			}
			ends[i] = end{c.gaps, c.sum, e.Now(), e.Fold(), e.Counters.Steps, 0}
			if !stepwise && acts > 20 {
				t.Errorf("%d acts", acts)
			}
		}
		if ends[0] != ends[1] {
			t.Errorf("async %v: step by step %+v, in runs %+v", async, ends[0], ends[1])
		}
	}
}
