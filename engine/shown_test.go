package engine

import (
	"testing"

	"blis/policy"
	"blis/vtime"
)

// TestShownIsAsOfTheEndOfTheStep looks at what an instance shows per step while
// long decode runs cross from block to block: the blocks that the ended step
// held, not those that the next one took. The step-by-step twin shows the same
// at every look.
func TestShownIsAsOfTheEndOfTheStep(t *testing.T) {
	for _, every := range []vtime.Time{1000, 3000, 7000, 10_000} {
		async := every%2000 != 0
		looks := func(stepwise bool) (shown []policy.InstanceState) {
			e, _ := instance(t, linear{1000, 0, 0}, func(c *Config) { c.KeepStepState, c.Async, c.StepByStep = true, async, stepwise })
			deliver(e, 0, 0, 14, 60, vtime.Never)
			deliver(e, 1, 0, 9, 60, vtime.Never)
			// In the middle of a step: a run goes on for several between two looks.
			for at := vtime.Time(500); at < 60_000; at += every {
				e.Advance(at, 0)
				shown = append(shown, e.StepState())
			}
			return shown
		}
		fast, slow := looks(false), looks(true)
		taken := 0
		for i := range slow {
			if fast[i] != slow[i] {
				t.Fatalf("async %v, a look every %v, at %d µs: %+v, step by step %+v", async, every, 500+int(every)*i, fast[i], slow[i])
			}
			if i > 0 && slow[i].Used > slow[i-1].Used {
				taken++
			}
		}
		if taken < 3 {
			t.Errorf("a look every %v: more blocks in use at %d looks, want several", every, taken)
		}
	}
}
