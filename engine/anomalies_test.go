package engine

import (
	"testing"

	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// testRequest is a request of a scenario that is worked out by hand.
type testRequest struct {
	at            vtime.Time
	input, output int32
	priority      float64
}

// raised is what an instance counts of the anomalies.
type raised struct{ inversions, overtaken, blocked, storms int64 }

func anomaliesOf(c *metrics.Counters) raised {
	return raised{c.PriorityInversions, c.HeadOfLineBlocked, c.BlockedHeads, c.PreemptionStorms}
}

func (x *testRequest) delivery(id int64) Delivery {
	d := Delivery{Request: workload.NewRequest(x.at, x.input, x.output), Priority: x.priority, Admitted: x.at}
	d.ID = id
	return d
}

// raise serves requests step by step and in decode runs, which must count
// the same, and with an observer, which must see what is counted.
func raise(t *testing.T, change func(*Config), requests ...testRequest) raised {
	t.Helper()
	var first metrics.Counters
	for i, stepwise := range []bool{true, false} {
		e, _ := instance(t, linear{1000, 0, 0}, func(c *Config) {
			change(c)
			c.StepByStep = stepwise
		})
		for id, x := range requests {
			d := x.delivery(int64(id))
			e.Advance(x.at, 3)
			e.Deliver(&d, x.at)
		}
		e.Advance(vtime.Never, 255)
		if i == 0 {
			first = e.Counters
		} else if e.Counters != first {
			t.Errorf("decode runs count %+v\nstep by step %+v", e.Counters, first)
		}
	}
	e, h := observed(t, change, requests...)
	if e.Counters != first || h.raised() != anomaliesOf(&first) {
		t.Errorf("with an observer, which sees %+v, it counts %+v\nwithout %+v", h.raised(), e.Counters, first)
	}
	return anomaliesOf(&first)
}

// scheduledBy is a change of an instance to the named scheduler and max_num_seqs 1.
func scheduledBy(t *testing.T, name string) func(*Config) {
	s, err := policy.NewScheduler(name, nil, policy.Env{BlockSize: 16})
	if err != nil {
		t.Fatal(err)
	}
	return func(c *Config) { c.Scheduler, c.MaxNumSeqs = s, 1 }
}

// The first request runs alone until 2,000. Which of the others comes
// next is up to the scheduler.
func TestPriorityInversion(t *testing.T) {
	first := testRequest{0, 10, 2, 0}
	for _, x := range []struct {
		name, scheduler string
		others          []testRequest
		want            int64
	}{
		{"the urgent one came last and waits", "fcfs", []testRequest{{100, 10, 2, 0}, {200, 10, 2, 1}}, 1},
		{"two of lower priority pass it", "fcfs", []testRequest{{100, 10, 2, 0}, {150, 10, 2, 0.5}, {200, 10, 2, 1}}, 2},
		{"it is queued in the instant of the step", "fcfs", []testRequest{{100, 10, 2, 0}, {2000, 10, 2, 1}}, 1},
		{"it is queued after that", "fcfs", []testRequest{{100, 10, 2, 0}, {2001, 10, 2, 1}}, 0},
		{"equal priorities", "fcfs", []testRequest{{100, 10, 2, 1}, {200, 10, 2, 1}}, 0},
		{"urgent first", "priority-fcfs", []testRequest{{100, 10, 2, 0}, {200, 10, 2, 1}}, 0},
	} {
		got := raise(t, scheduledBy(t, x.scheduler), append([]testRequest{first}, x.others...)...)
		if want := (raised{inversions: x.want}); got != want {
			t.Errorf("%s: %+v, want %+v", x.name, got, want)
		}
	}
}

// The shortest of those that wait is next, which at 2,000 is the second of
// the others.
func TestHeadOfLineBlocking(t *testing.T) {
	for _, x := range []struct {
		name   string
		others []testRequest
		want   int64
	}{
		{"a later one of lower priority completes first", []testRequest{{100, 50, 2, 1}, {200, 10, 2, 0}}, 1},
		{"two of them do", []testRequest{{100, 50, 2, 1}, {200, 10, 2, 0}, {300, 10, 2, 0}}, 1},
		{"two wait for it", []testRequest{{100, 50, 2, 1}, {150, 60, 2, 2}, {200, 10, 2, 0}}, 2},
		{"it came at the same time", []testRequest{{200, 50, 2, 1}, {200, 10, 2, 0}}, 0},
		{"it came before", []testRequest{{100, 10, 2, 0}, {200, 50, 2, 1}}, 0},
		{"it is as urgent", []testRequest{{100, 50, 2, 0}, {200, 10, 2, 0}}, 0},
	} {
		got := raise(t, scheduledBy(t, "sjf"), append([]testRequest{{0, 10, 2, 0}}, x.others...)...)
		if got.overtaken != x.want {
			t.Errorf("%s: %d, want %d", x.name, got.overtaken, x.want)
		}
	}
}

// The second is queued first and more urgent, but longer, so that it is the
// last of the running list. It is preempted for the second block of the third,
// which completes while it waits.
func TestPreemptedRequestCanBeOvertaken(t *testing.T) {
	tight := func(c *Config) {
		scheduledBy(t, "sjf")(c)
		c.MaxNumSeqs, c.Cache = 8, newPool(4)
	}
	for _, x := range []struct {
		name     string
		priority float64
		want     raised
	}{{"more urgent", 1, raised{overtaken: 1}}, {"as urgent", 0, raised{}}} {
		got := raise(t, tight, testRequest{0, 10, 6, 0}, testRequest{100, 17, 3, x.priority}, testRequest{200, 16, 3, 0})
		if got != x.want {
			t.Errorf("%s: %+v, want %+v", x.name, got, x.want)
		}
	}
}

// The first request holds 50 of 64 blocks during steps that begin at 0, 1,000
// and 2,000. In the last two another of 25 blocks is at the head of the queue.
// Whether a request behind it would fit makes no difference.
func TestBlockedHead(t *testing.T) {
	head := []testRequest{{0, 800, 3, 0}, {100, 400, 2, 0}}
	wide := func(c *Config) { c.MaxNumBatchedTokens = 1024 }
	for _, x := range []struct {
		name   string
		change func(*Config)
		behind []testRequest
		want   int64
	}{
		{"one that fits behind it", wide, []testRequest{{200, 100, 2, 0}}, 2},
		{"three of them", wide, []testRequest{{200, 300, 2, 0}, {200, 100, 2, 0}, {300, 100, 2, 0}}, 2},
		{"the other comes later", wide, []testRequest{{1500, 100, 2, 0}}, 1},
		{"noRequest behind it", wide, nil, 0},
		{"one that does not fit either", wide, []testRequest{{200, 240, 2, 0}}, 2},
		{"at max_num_seqs", func(c *Config) { wide(c); c.MaxNumSeqs = 1 }, []testRequest{{200, 100, 2, 0}}, 0},
		{"there is no budget", func(c *Config) { c.MaxNumBatchedTokens = 1 }, []testRequest{{200, 100, 2, 0}}, 0},
	} {
		got := raise(t, x.change, append(head, x.behind...)...)
		if want := (raised{blocked: x.want}); got != want {
			t.Errorf("%s: %+v, want %+v", x.name, got, want)
		}
	}
}

// With whole prompts only, a long prompt at the head waits for a step with
// room for it, and others behind it.
func TestHeadBlockedByTheBudget(t *testing.T) {
	whole := func(c *Config) { c.EnableChunkedPrefill = false }
	if got := raise(t, whole, testRequest{0, 200, 1, 0}, testRequest{0, 100, 1, 0}, testRequest{0, 56, 1, 0}); got.blocked != 1 {
		t.Errorf("%+v, want one step", got)
	}
	if got := raise(t, whole, testRequest{0, 200, 1, 0}, testRequest{0, 100, 1, 0}); got.blocked != 0 {
		t.Errorf("%+v, want none: noRequest waits behind the head", got)
	}
}

// Four requests fill four blocks. Two are preempted when the others need
// their second block, one of those when the last needs its third, 16 steps
// later: three within a second where one is left running.
func TestPreemptionStorm(t *testing.T) {
	four := make([]testRequest, 4)
	for i := range four {
		four[i] = testRequest{0, 15, 30, 0}
	}
	for _, x := range []struct {
		name string
		step float64
		want int64
	}{
		{"within a second", 1000, 1},
		{"just within", 62_499, 1},
		{"a second apart", 62_500, 0},
	} {
		got := raise(t, func(c *Config) {
			c.Model, c.Cache, c.SchedulerReserveFullISL = linear{x.step, 0, 0}, newPool(4), false
		}, four...)
		if got.storms != x.want {
			t.Errorf("%s: %+v, want %d storms", x.name, got, x.want)
		}
	}
}

// Storms are one as long as less than a second passes between formations that
// preempt too many.
func TestOneStormUntilASecondOfCalm(t *testing.T) {
	e, _ := instance(t, linear{1000, 0, 0}, nil)
	for _, x := range []struct {
		at        vtime.Time
		preempted int
		running   int32
		want      int64
	}{
		{0, 2, 2, 0},
		{999_999, 1, 2, 1},
		{1_000_000, 1, 2, 1}, // two within a second: of no account
		{1_999_998, 2, 2, 1}, // the same storm: 999,999 µs after it was seen
		{2_999_998, 3, 2, 2}, // a second later
		{9_000_000, 2, 2, 2},
		{9_000_001, 7, 8, 3},
	} {
		e.requests.count[running] = x.running
		e.diagnosis.preempted(x.preempted, x.at)
		if got := e.Counters.PreemptionStorms; got != x.want {
			t.Errorf("at %v: %d storms, want %d", x.at, got, x.want)
		}
	}
}

// backwards serves the least urgent first: what no scheduler should do.
type backwards struct{ policy.Scheduler }

func (backwards) Less(a, b *policy.Waiting, _ *policy.SchedulerContext) bool {
	if a.Priority != b.Priority {
		return a.Priority < b.Priority
	}
	return a.ID < b.ID
}

func TestPathologicalSchedulerRaisesWhatTheSaneOneDoesNot(t *testing.T) {
	var crowd []testRequest
	for i := range 40 {
		crowd = append(crowd, testRequest{vtime.Time(i * 300), 20, 3, float64(i * 7 % 4)})
	}
	sane := scheduledBy(t, "priority-fcfs")
	if got := raise(t, sane, crowd...); got.inversions != 0 || got.overtaken != 0 {
		t.Errorf("priority-fcfs: %+v", got)
	}
	got := raise(t, func(c *Config) { sane(c); c.Scheduler = backwards{c.Scheduler} }, crowd...)
	if got.inversions < 10 || got.overtaken < 10 {
		t.Errorf("the least urgent first: %+v, want both in plenty", got)
	}
}

// Counting allocates nothing once an instance is warm, whatever it is short of
// and whatever waits.
func TestCountingAnomaliesAllocatesNothing(t *testing.T) {
	e, _ := instance(t, linear{1000, 10, 0}, func(c *Config) {
		c.MaxNumBatchedTokens = 1024
		c.Sink = deaf{}
	})
	shared := [8][]workload.Span{}
	for i := range shared {
		shared[i] = []workload.Span{{Content: workload.ContentID(i + 1), Length: 96}}
	}
	id := int64(0)
	steps := func() {
		for range 20 {
			for ; e.requests.waiting() < 40; id++ {
				d := Delivery{Request: workload.NewRequest(e.now, int32(100+id*37%300), int32(5+id%20)), Priority: float64(id * 7 % 5), Admitted: e.now}
				d.ID = id
				if id%2 == 0 {
					d.Spans = shared[id/2%8]
				}
				e.Deliver(&d, e.now)
				e.Advance(e.now, vtime.ClassStep)
			}
			at, _ := e.Next()
			e.Advance(at, 255)
		}
	}
	for range 200 {
		steps()
	}
	before := anomaliesOf(&e.Counters)
	allocations := testing.AllocsPerRun(50, steps)
	after := anomaliesOf(&e.Counters)
	if allocations > 0 {
		t.Errorf("%v allocations in 20 steps", allocations)
	}
	if after.inversions == before.inversions || after.blocked == before.blocked {
		t.Errorf("nothing to count: %+v, %+v", before, after)
	}
}

// deaf is a sink that keeps nothing.
type deaf struct{}

func (deaf) Group(workload.Label, workload.Label, vtime.Time) int { return 0 }
func (deaf) ITL(int, vtime.Duration, int)                         {}
func (deaf) Done(*metrics.Outcome, vtime.Time)                    {}
