package actors

import (
	"strconv"
	"testing"

	"blis/internal/testsize"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// moody is a scheduler that chooses batches as a set from what it has seen: it leaves out requests, turns the order, and
// keeps count of arrivals. It always chooses somebody.
type moody struct {
	policy.Scheduler
	arrived, made uint64
}

func (s *moody) OnRequestArrival(w *policy.Waiting, ctx *policy.SchedulerContext) {
	s.arrived += vtime.Mix(uint64(w.ID) ^ uint64(ctx.Now) ^ uint64(ctx.FreeBlocks)<<32)
}

func (s *moody) MakeBatch(waiting []policy.Waiting, running []policy.Running, ctx *policy.SchedulerContext, choice []int32) []int32 {
	s.made++
	mood := vtime.Mix(s.made ^ s.arrived ^ uint64(ctx.Budget)<<20)
	for _, r := range running {
		mood = vtime.Mix(mood ^ uint64(r.Computed)<<8 ^ uint64(r.Generated))
	}
	for k := range waiting {
		if mood>>(k%60)&1 == 0 {
			choice = append(choice, int32(len(waiting)-1-k))
		}
	}
	if len(choice) == 0 {
		choice = append(choice, int32(mood%uint64(len(waiting))))
	}
	return choice
}

// drawBatches is the random trial of a seed whose scheduler chooses batches as a set: backfill, or one of its own moods.
func drawBatches(seed uint64) *trial {
	x, d := drawTrial(seed), newDice(seed, 0x6d616b65)
	c := &x.Config
	c.KVTier = setup.DefaultConfig().KVTier
	c.Scheduler = "backfill"
	if d.chance(0.7) {
		if err := c.Policies.Set("scheduler.type", "backfill"); err != nil {
			panic(err)
		}
		if err := c.Policies.Set("scheduler.params.max_passes", strconv.Itoa(d.between(1, 20))); err != nil {
			panic(err)
		}
	} else {
		c.Custom.Scheduler = func(env policy.Env) policy.Scheduler {
			s, err := policy.NewScheduler("fcfs", nil, env)
			if err != nil {
				panic(err)
			}
			return &moody{Scheduler: s}
		}
	}
	return x
}

// TestEqualityOfBatches draws clusters whose schedulers choose batches as a set.
func TestEqualityOfBatches(t *testing.T) {
	c := compareDrawn(t, testsize.Of(20, 40, 200), drawBatches)
	if c.cases >= 40 && 8*c.preempted < c.cases {
		t.Errorf("requests were preempted in %s of the trials", c.share(c.preempted))
	}
}
