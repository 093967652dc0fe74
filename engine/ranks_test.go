package engine

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"blis/internal/testsize"
	"blis/latency"
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// ranksOf returns d ranks of the instance that others tests use, behind one endpoint.
func ranksOf(t *testing.T, d, frontEnds int, lockStep bool, model latency.Model, change func(*Config)) (*Ranks, *log) {
	l := &log{}
	return NewRanks(RanksConfig{Ranks: d, LockStep: lockStep, Local: d, FrontEnds: frontEnds}, func(rank int) (int, Config) {
		e, _ := instance(t, model, change)
		e.cfg.Sink = l
		return rank, e.cfg
	}), l
}

// at delivers a request to r as it arrives.
func (r *Ranks) at(id int64, at vtime.Time, input, output int32) {
	d := Delivery{Request: workload.NewRequest(at, input, output), Admitted: at}
	d.ID = id
	r.Advance(at, vtime.ClassDelivery)
	r.Endpoints[0].Deliver(&d, at)
}

// chosen delivers a request and returns the rank that its front end chose.
func (r *Ranks) chosen(t *testing.T, id int64, at vtime.Time, output int32) int {
	t.Helper()
	r.at(id, at, 10, output)
	r.Advance(at, vtime.ClassStep)
	for i, e := range r.list {
		for k := range e.requests.slots {
			if s := e.requests.at(int32(k)); s.ID == id && s.phase == waiting {
				return i
			}
		}
	}
	t.Fatalf("request %d is not queued at %v", id, at)
	return -1
}

// Steps of the group take as long as that of the slowest rank; a rank without a request executes one
// decode token. Up to 31 steps follow the last request. Who comes meanwhile waits for the one in flight;
// who comes later starts all ranks at once.
func TestLockStepOfWorkedExample(t *testing.T) {
	for _, eager := range []bool{false, true} {
		r, l := ranksOf(t, 2, 1, true, linear{1000, 10, 20}, nil)
		r.group.eager = eager
		r.at(0, 0, 10, 1)      // step 1 of rank 0: 1,100 µs; the dummy of rank 1 takes 1,020
		r.at(1, 2_000, 20, 1)  // step 2, of dummies, goes from 1,100 to 2,120: step 3 ends at 3,320
		r.at(2, 32_919, 10, 1) // step 32 ends at 3,320 + 29·1,020 = 32,900: a new first step, to 34,019
		r.at(3, 65_639, 10, 1) // … whose step 32 ends at this instant
		r.at(4, 66_000, 10, 1) // step 2
		r.Advance(vtime.Never, 255)
		r.Finish(r.Now(), vtime.Never)
		want := []string{"1100 0 completed", "3320 1 completed", "34019 2 completed", "66739 3 completed", "67839 4 completed"}
		if !reflect.DeepEqual(l.lines, want) {
			t.Errorf("eager %v:\n got %v\nwant %v", eager, l.lines, want)
		}
		if eager {
			continue
		}
		if at, _ := r.Next(); r.Now() != 67_839 || at != vtime.Never {
			t.Errorf("the last event is at %v, the next at %v; want 67,839 and none: steps of dummies are no events", r.Now(), at)
		}
		k := r.DataParallel()
		if want := (metrics.DataParallel{GroupSteps: 32 + 32 + 2 + 1, DummySteps: 2*(30+31) + 5 + 2, WaitMicros: 4*80 + 180, MaxTokens: 4*10 + 20, Tokens: 4*11 + 21}); k != want {
			t.Errorf("counted %+v, want %+v", k, want)
		}
		if c := r.Counters(); c.Steps != 5 || c.ScheduledTokens != 60 || c.DecodeTokens != 0 {
			t.Errorf("dummies count: %+v", c)
		}
		if busy := r.list[1].Counters.BusyMicros; busy != 32_900+(67_839-32_919) {
			t.Errorf("rank 1 was busy for %d µs", busy)
		}
	}
}

// Ranks that are taken away between requests are busy with dummies until then, and remember what they
// were.
func TestRanksAreReleased(t *testing.T) {
	for _, async := range []bool{false, true} {
		var list [2]*Ranks
		for i := range list {
			r, _ := ranksOf(t, 2, 1, true, linear{1000, 10, 20}, func(c *Config) { c.Async = async })
			r.at(0, 0, 10, 1)
			r.Advance(vtime.Never, 255)
			if list[i] = r; i == 0 && !r.Release(5_000) {
				t.Fatal("nothing is released")
			}
			r.Finish(50_000, 5_000)
			if at, _ := r.Next(); at != vtime.Never || r.FirstEnd() != vtime.Never || r.FirstStepState(true) != vtime.Never {
				t.Errorf("async %v: something is to come", async)
			}
			if err := r.Check(); err != nil {
				t.Error(err)
			}
		}
		got, want := list[0], list[1]
		if got.Counters() != want.Counters() || got.Counters().BusyMicros != 2*5_000 || got.Fold() != want.Fold() || got.DataParallel() != want.DataParallel() || got.Now() != want.Now() {
			t.Errorf("async %v: %+v, want %+v", async, got.Counters(), want.Counters())
		}
	}
}

// Ranks that do not step together are found at the end of a run.
func TestBooksOfRanksThatDoNotBalance(t *testing.T) {
	for name, spoil := range map[string]func(r *Ranks){
		"a step of one rank is longer": func(r *Ranks) { r.list[1].inFlight.executing().end++ },
		"a step of one rank is lost":   func(r *Ranks) { r.list[1].Counters.Steps-- },
		"a dummy too many":             func(r *Ranks) { r.group.counts.DummySteps++ },
	} {
		r, _ := ranksOf(t, 2, 1, true, linear{1000, 10, 20}, nil)
		r.at(0, 0, 10, 9)
		r.at(1, 0, 10, 9)
		r.Advance(3_000, 0)
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
		if spoil(r); r.Check() == nil {
			t.Errorf("%s, and no fault", name)
		}
	}
}

// With async scheduling all ranks form step n+1 when n begins. A request that is queued on a rank while
// n executes is in n+2 at the earliest, also where n+1 is a dummy.
func TestLockStepIsAsynchronous(t *testing.T) {
	r, l := ranksOf(t, 2, 1, true, linear{1000, 0, 0}, func(c *Config) { c.Async = true })
	r.at(0, 0, 10, 4)
	if rank := r.chosen(t, 1, 500, 1); rank != 1 {
		t.Fatalf("request 1 is on rank %d", rank)
	}
	r.at(2, 5_200, 10, 1) // steps 6 and 7 are formed: in step 8
	r.Advance(vtime.Never, 255)
	if want := []string{"3000 1 completed", "4000 0 completed", "8000 2 completed"}; !reflect.DeepEqual(l.lines, want) {
		t.Errorf("got %v, want %v", l.lines, want)
	}
}

// Front ends begin at different ranks, and see what they sent themselves.
func TestFrontEndsChooseByTheirOwnCopies(t *testing.T) {
	r, _ := ranksOf(t, 4, 2, false, linear{1e6, 0, 0}, nil)
	var got []int
	for k := range int64(8) {
		got = append(got, r.chosen(t, k, vtime.Time(1+k), 100))
	}
	if want := []int{0, 2, 1, 3, 2, 0, 3, 1}; !slices.Equal(got, want) {
		t.Errorf("ranks %v, want %v", got, want)
	}
}

// The copies are renewed at the end of a step, by the lengths after the step before.
func TestFrontEndsRenewTheirCopies(t *testing.T) {
	r, _ := ranksOf(t, 2, 1, true, linear{60_000, 0, 0}, nil)
	for _, q := range []struct {
		at   vtime.Time
		rank int
		why  string
	}{
		{0, 0, "both are empty"},
		{70_000, 1, "it sent one to rank 0"},
		{80_000, 0, "it sent one to each"},
		{90_000, 1, "it sent two to rank 0"},
		{121_000, 1, "the end of step 2 renewed its copies: one ran on rank 0 after step 1, none on rank 1. Two wait there now"},
		{122_000, 0, "by its copies one runs there, and one waits on rank 1"},
		{123_000, 1, "by its copies one runs and one waits on rank 0, one waits on rank 1"},
		{181_000, 0, "the end of step 3 was no 100 ms later: nothing was renewed"},
	} {
		if rank := r.chosen(t, int64(q.at), q.at, 200); rank != q.rank {
			t.Errorf("at %v: rank %d, want %d: %s", q.at, rank, q.rank, q.why)
		}
	}
}

// 50 ms after the last step the copies have the last lengths.
func TestFrontEndsAfterThePause(t *testing.T) {
	for at, want := range map[vtime.Time]int{82_719: 1, 82_720: 0} { // the pause begins at 1,100 + 31·1,020
		r, _ := ranksOf(t, 2, 1, true, linear{1000, 10, 20}, nil)
		r.at(0, 0, 10, 1)
		if rank := r.chosen(t, 1, at, 1); rank != want {
			t.Errorf("at %v: rank %d, want %d", at, rank, want)
		}
	}
}

// Ranks of dense models publish nothing: their copies become empty every 5 s.
func TestFrontEndsOfSilentRanks(t *testing.T) {
	for at, want := range map[vtime.Time]int{4_999_999: 1, 5_000_000: 0} {
		r, _ := ranksOf(t, 2, 1, false, linear{1000, 10, 20}, nil)
		r.at(0, 0, 10, 1)
		if rank := r.chosen(t, 1, at, 1); rank != want {
			t.Errorf("at %v: rank %d, want %d", at, rank, want)
		}
	}
}

// Dense ranks, each its own endpoint, are as many instances; so is a single rank.
func TestDenseRanksAreInstances(t *testing.T) {
	seed := lazySeed()
	for n := range testsize.Cases(t, 40, 150, 2000) {
		x := drawRanks(seed + uint64(n))
		x.LockStep, x.Local, x.crash, x.pd = false, 1, vtime.Never, nil
		got, err := x.play(rankMode{})
		if err != nil {
			t.Fatalf("seed %d, case %d: %v", seed, n, err)
		}
		var outcomes []string
		for i := range x.Ranks {
			p := &rankPlayer{rankResult: rankResult{Gaps: map[vtime.Duration]int{}}}
			e := New(i, x.config(rankMode{}, p, i))
			for k := range x.requests {
				if k == len(x.requests)/2+1 {
					q := &x.requests[k-1]
					e.Advance(q.Arrival, vtime.ClassDelivery)
					Slow(e, 1.5)
				}
				q := &x.requests[k]
				if int(q.ID)%x.Ranks != i {
					continue
				}
				e.Advance(q.Arrival, vtime.ClassDelivery)
				if q.ID%7 == 3 {
					progress := Progress{Progress: metrics.NoProgress(), Evicted: vtime.Never}
					progress.Redirects = 1
					e.Resume(q, &progress, q.Arrival)
				} else {
					e.Deliver(q, q.Arrival)
				}
			}
			e.Advance(x.horizon, 255)
			e.Finish(x.horizon, x.horizon)
			e.Unfinished(func(o *metrics.Outcome) {
				p.Outcomes = append(p.Outcomes, fmt.Sprintf("%d %v %+v", o.ID, o.State, o.Progress))
			})
			outcomes = append(outcomes, p.Outcomes...)
			if !reflect.DeepEqual(e.Counters, got.Counters[i]) || !reflect.DeepEqual(e.StepState(), got.States[2*i+1]) {
				t.Fatalf("seed %d, case %d: rank %d counts %+v, an instance %+v", seed, n, i, got.Counters[i], e.Counters)
			}
		}
		slices.Sort(outcomes)
		slices.Sort(got.Outcomes)
		if !slices.Equal(outcomes, got.Outcomes) {
			t.Fatalf("seed %d, case %d: %d ranks:\n%v\ninstances:\n%v", seed, n, x.Ranks, got.Outcomes, outcomes)
		}
	}
}

// All ranks begin and end their steps together; the longest says how long a step takes; at most 31
// follow the last request; a rank without a request counts no step and yields nothing.
func TestRanksOfAGroupStepTogether(t *testing.T) {
	seed := lazySeed()
	for n := range testsize.Cases(t, 60, 200, 2000) {
		x := drawRanks(seed + uint64(n))
		x.LockStep, x.Ranks, x.Local, x.cfg.Warmup, x.model.delay, x.pd = true, 3, 3, Warmup{}, 0, nil
		p := &rankPlayer{rankResult: rankResult{Gaps: map[vtime.Duration]int{}}}
		r := NewRanks(x.RanksConfig, func(rank int) (int, Config) { return rank, x.config(rankMode{stepByStep: true}, p, rank) })
		r.group.eager = true
		alone, last, ended := 0, vtime.Time(-1), vtime.Time(-1)
		look := func() error {
			if !r.group.running {
				return nil
			}
			b := r.list[0].inFlight.executing()
			longest, tokens := vtime.Duration(0), int64(0)
			for _, e := range r.list {
				tokens += max(1, e.inFlight.executing().sums.Scheduled())
			}
			work := false
			for _, e := range r.list {
				o := e.inFlight.executing()
				if o.start != b.start || o.end != b.end || e.agenda.at[eventStep] != b.end {
					return fmt.Errorf("rank %d steps from %v to %v, rank 0 to %v", e.index, o.start, o.end, b.end)
				}
				q := o.sums
				if o.empty() {
					q = latency.Batch{DecodeTokens: 1, GroupTokens: tokens}
				} else if work = true; q.GroupTokens != tokens {
					return fmt.Errorf("rank %d knows of %d tokens, there are %d", e.index, q.GroupTokens, tokens)
				}
				longest = max(longest, vtime.Duration(x.model.Step(&q)))
				work = work || e.requests.running()+e.requests.waiting() > 0
			}
			if b.end.Sub(b.start) != longest {
				return fmt.Errorf("the step takes %v, the longest of a rank %v", b.end.Sub(b.start), longest)
			}
			if b.end == last {
				return nil
			}
			if ended >= 0 && b.start > ended && last >= 0 && b.start < last {
				return fmt.Errorf("a step begins at %v before the one that ends at %v", b.start, last)
			}
			last = b.end
			if alone++; work {
				alone = 0
			}
			if alone > 31 {
				return fmt.Errorf("%d steps follow the last request", alone)
			}
			return nil
		}
		advance := func(to vtime.Time) {
			for {
				at, class := r.Next()
				if at > to || at == to && class >= vtime.ClassDelivery || at == vtime.Never {
					return
				}
				r.Act(to, vtime.ClassDelivery)
				if err := look(); err != nil {
					t.Fatalf("seed %d, case %d at %v: %v", seed, n, at, err)
				}
			}
		}
		for i := range x.requests {
			advance(x.requests[i].Arrival)
			r.Endpoints[0].Deliver(&x.requests[i], x.requests[i].Arrival)
		}
		advance(vtime.Never)
		if r.group.running || r.Counters().ScheduledTokens > r.group.counts.Tokens {
			t.Fatalf("seed %d, case %d: %+v", seed, n, r.group.counts)
		}
		if err := r.Check(); err != nil {
			t.Fatalf("seed %d, case %d: %v", seed, n, err)
		}
	}
}

// Decode runs go over many steps of a group at once, and allocate nothing.
func TestGroupsHaveDecodeRuns(t *testing.T) {
	for _, async := range []bool{false, true} {
		r := NewRanks(RanksConfig{Ranks: 4, LockStep: true, Local: 4, FrontEnds: 2}, func(rank int) (int, Config) {
			e, _ := instance(t, linear{1000, 3, 0.01}, func(c *Config) {
				c.Async, c.Cache, c.Sink = async, newPool(8000), deaf{}
			})
			return rank, e.cfg
		})
		acts, rounds := 0, int64(0)
		round := func() {
			rounds++
			from := r.Now().Add(vtime.Second)
			for k := range int64(6) {
				r.at(k, from.Add(vtime.Duration(k)), 20, 9_000+int32(k))
			}
			for at, _ := r.Next(); at != vtime.Never; at, _ = r.Next() {
				r.Act(vtime.Never, 0)
				acts++
			}
		}
		for range 1 {
			round()
		}
		allocations := testing.AllocsPerRun(8, round)
		if k := r.DataParallel(); k.GroupSteps < rounds*9_000 || int64(acts) > rounds*60 {
			t.Errorf("async %v: %d steps of the group in %d acts", async, k.GroupSteps, acts)
		}
		if allocations > 0 {
			t.Errorf("async %v: %v allocations", async, allocations)
		}
	}
}
