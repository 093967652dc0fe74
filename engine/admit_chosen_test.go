package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/policy"
	"blis/vtime"
)

// everyone is fcfs that chooses all waiting requests in their order, and notes what it is told.
type everyone struct {
	policy.Scheduler
	arrived []int64
	made    []string // waiting/running/budget of each formation
	wrong   string   // what the context says that is not so
	reverse bool
}

func (s *everyone) OnRequestArrival(w *policy.Waiting, ctx *policy.SchedulerContext) {
	s.arrived = append(s.arrived, w.ID)
	if ctx.TotalBlocks == 0 {
		panic("no context")
	}
}

func (s *everyone) MakeBatch(waiting []policy.Waiting, running []policy.Running, ctx *policy.SchedulerContext, choice []int32) []int32 {
	s.made = append(s.made, fmt.Sprintf("%d/%d/%d", len(waiting), len(running), ctx.Budget))
	free := ctx.TotalBlocks
	for k := range running {
		free -= int64(running[k].Computed+15) / 16
	}
	if ctx.FreeBlocks != free || ctx.FreeSeqs != 4-ctx.Running || int(ctx.Running) != len(running) || int(ctx.Waiting) != len(waiting) {
		s.wrong = fmt.Sprintf("%+v, want %d free blocks, and %d waiting and %d running requests", *ctx, free, len(waiting), len(running))
	}
	for k := range waiting {
		choice = append(choice, int32(k))
	}
	if s.reverse {
		slices.Reverse(choice)
	}
	return choice
}

// serveAll serves requests and returns what the instance counted.
func serveAll(t *testing.T, change func(*Config), requests ...testRequest) (*Engine, *log) {
	t.Helper()
	e, s := instance(t, linear{1000, 1, 1}, change)
	for id, x := range requests {
		d := x.delivery(int64(id))
		e.Advance(x.at, 3)
		e.Deliver(&d, x.at)
	}
	e.Advance(vtime.Never, 255)
	return e, s
}

// While everything fits, choosing everyone is fcfs, step by step and in decode runs.
func TestChoosingEveryoneIsFCFS(t *testing.T) {
	for seed := range uint64(40) {
		draw := rand.New(rand.NewPCG(seed, 5))
		var requests []testRequest
		at := vtime.Time(0)
		for range 30 {
			at += vtime.Time(draw.IntN(6000))
			requests = append(requests, testRequest{at, 1 + draw.Int32N(40), 1 + draw.Int32N(30), 0})
		}
		roomy := func(c *Config) { c.MaxNumSeqs, c.MaxNumBatchedTokens = 4, 64 }
		fcfs, want := serveAll(t, roomy, requests...)
		chooser := &everyone{Scheduler: fcfs.cfg.Scheduler}
		chosen, got := serveAll(t, func(c *Config) { roomy(c); c.Scheduler = chooser }, requests...)
		if chosen.Counters != fcfs.Counters || !slices.Equal(got.lines, want.lines) {
			t.Fatalf("seed %d: chosen %+v\nfcfs %+v", seed, chosen.Counters, fcfs.Counters)
		}
		if chooser.wrong != "" {
			t.Fatalf("seed %d: %s", seed, chooser.wrong)
		}
		if len(chooser.arrived) != len(requests) || !slices.IsSorted(chooser.arrived) {
			t.Fatalf("seed %d: arrivals %v, want each request once", seed, chooser.arrived)
		}
	}
}

// The order of the choice is the order of admission.
func TestChoiceIsTheOrderOfAdmission(t *testing.T) {
	one := func(c *Config) { c.MaxNumSeqs = 1 }
	e, _ := instance(t, linear{1000, 1, 1}, one)
	for _, reverse := range []bool{false, true} {
		chooser := &everyone{Scheduler: e.cfg.Scheduler, reverse: reverse}
		_, l := serveAll(t, func(c *Config) { one(c); c.Scheduler = chooser }, testRequest{0, 10, 2, 0}, testRequest{1, 10, 2, 0}, testRequest{2, 10, 2, 0})
		var order []string
		for _, line := range l.lines {
			var at, id int64
			fmt.Sscan(line, &at, &id)
			order = append(order, fmt.Sprint(id))
		}
		want := []string{"0", "1", "2"}
		if reverse {
			want = []string{"0", "2", "1"}
		}
		if !slices.Equal(order, want) {
			t.Errorf("reverse %v: completed %v, want %v", reverse, order, want)
		}
		if first := chooser.made[0]; first != "1/0/256" {
			t.Errorf("the first formation has waiting/running/budget %s, want 1/0/256", first)
		}
	}
}

// A prompt of 60 of 64 blocks does not fit beside one that runs. With fcfs all wait for it; with backfill the short ones
// pass, as often as they may.
func TestBackfill(t *testing.T) {
	requests := []testRequest{{0, 160, 40, 0}, {100, 960, 2, 0}, {200, 16, 2, 0}, {5000, 16, 2, 0}, {30000, 16, 2, 0}}
	completed := func(name string, settings ...policy.Setting) string {
		s, err := policy.NewScheduler(name, settings, policy.Env{BlockSize: 16})
		if err != nil {
			t.Fatal(err)
		}
		var order string
		_, l := serveAll(t, func(c *Config) { c.Scheduler = s }, requests...)
		for _, line := range l.lines {
			var at, id int64
			fmt.Sscan(line, &at, &id)
			order += fmt.Sprint(id)
		}
		return order
	}
	for _, c := range []struct {
		name, want string
		settings   []policy.Setting
	}{
		{"fcfs", "01234", nil},
		{"backfill", "23401", nil},
		{"backfill", "20134", []policy.Setting{{Name: "max_passes", Value: "1"}}}, // 2 passes in the first formation after 1 came
		{"backfill", "23014", []policy.Setting{{Name: "max_passes", Value: "12"}}},
	} {
		if got := completed(c.name, c.settings...); got != c.want {
			t.Errorf("%s %v: completed in the order %s, want %s", c.name, c.settings, got, c.want)
		}
	}
}

// wrong is a scheduler whose choice is not allowed.
type wrong struct {
	policy.Scheduler
	choice []int32
}

func (s wrong) MakeBatch([]policy.Waiting, []policy.Running, *policy.SchedulerContext, []int32) []int32 {
	return s.choice
}

func TestChoicesThatAreNone(t *testing.T) {
	e, _ := instance(t, linear{1000, 1, 1}, nil)
	for _, choice := range [][]int32{{1}, {-1}, {0, 0}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("choice %v of one request: no panic", choice)
				}
			}()
			serveAll(t, func(c *Config) { c.Scheduler = wrong{e.cfg.Scheduler, choice} }, testRequest{0, 10, 2, 0})
		}()
	}
}
