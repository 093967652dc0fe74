package metrics

import (
	"math/rand/v2"
	"strings"
	"testing"

	"blis/vtime"
	"blis/workload"
)

const never = vtime.Never

// completed is a request of 3 tokens that went well:
// arrival 1000, queued 1300, scheduled 1400, tokens at 2000, 2500, 3500.
func completed() Outcome {
	return Outcome{
		Identity: workload.Identity{Arrival: 1000, Input: 100},
		Progress: Progress{Routed: 1200, Queued: 1300, Scheduled: 1400, FirstToken: 2000, LastToken: 3500, Cached: 32, Generated: 3},
		State:    Completed, Admitted: 1100, Finished: 3500, HandOver: NoHandOver(),
	}
}

// prefillOnly is one that asked for no output; its prefill ended at 2000.
func prefillOnly() Outcome {
	o := completed()
	o.FirstToken, o.LastToken, o.Finished, o.Generated = never, never, 2000, 0
	return o
}

// dropped is one that could never be served.
func dropped() Outcome {
	return Outcome{
		Identity: workload.Identity{Arrival: 1000, Input: 9000},
		Progress: Progress{Routed: 1000, Queued: 1300, Scheduled: never, FirstToken: never, LastToken: never},
		State:    Dropped, Reason: PromptTooLong, Admitted: 1000, Finished: 1300, HandOver: NoHandOver(),
	}
}

func options() Options { return Options{TokenOverhead: 7, RequestOverhead: 20, To: never} }

func TestLatenciesOfOneRequest(t *testing.T) {
	type latencies struct{ ttft, tpot, e2e, delay, wait, itl vtime.Duration }
	one := completed()
	one.Generated, one.LastToken, one.Finished = 1, 2000, 2000
	two := completed()
	two.Generated = 2
	timedOut := completed()
	timedOut.State, timedOut.Finished = TimedOut, 4000
	none := vtime.Duration(-1)
	for _, c := range []struct {
		name string
		o    Outcome
		want latencies
		itls int64
	}{
		{"three tokens", completed(), latencies{1007, (1514 + 20) / 2, 1007 + 1514 + 20, 400, 100, 1514}, 2},
		{"two tokens", two, latencies{1007, 1527, 1007 + 1507 + 20, 400, 100, 1507}, 1},
		{"one token", one, latencies{1007, none, 1027, 400, 100, 0}, 0},
		{"no output", prefillOnly(), latencies{none, none, 1020, 400, 100, 0}, 0},
		{"timed out after a token", timedOut, latencies{1007, none, none, 400, 100, 1514}, 2},
		{"dropped", dropped(), latencies{none, none, none, none, none, 0}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := checkOutcome(&c.o, 7, 20); err != nil {
				t.Fatal(err)
			}
			orNone := func(d vtime.Duration, ok bool) vtime.Duration {
				if !ok {
					return none
				}
				return d
			}
			itl, itls := c.o.TotalITL(7)
			got := latencies{
				orNone(c.o.TTFT(7)), orNone(c.o.TPOT(7, 20)), orNone(c.o.E2E(7, 20)),
				orNone(c.o.SchedulingDelay()), orNone(c.o.QueueWait()), itl,
			}
			if got != c.want || itls != c.itls {
				t.Errorf("got %+v and %d ITL samples, want %+v and %d", got, itls, c.want, c.itls)
			}
		})
	}
}

func TestPreemptedRequestKeepsFirstToken(t *testing.T) {
	o := completed()
	o.Preemptions, o.Recomputed, o.PrefillLost, o.DecodeLost = 2, 150, 50, 600
	o.LastToken, o.Finished = 9000, 9000
	if got, _ := o.TTFT(7); got != 1007 {
		t.Errorf("TTFT is %d after preemptions", got)
	}
	r := NewRecorder(options())
	r.Record(&o)
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	var c collection
	r.addPending()
	s := c.scope(r.cells[0], nil)
	c.summaries.compute(sequentially)
	want := Split{FrontEnd: 300 + 3*7 + 20, Queue: 100, Prefill: 600 - 50, Decode: 7000 - 600, Recompute: 650}
	if *s.Split != want {
		t.Errorf("split %+v, want %+v", *s.Split, want)
	}
	if sum := want.FrontEnd + want.Queue + want.Prefill + want.Decode + want.Recompute; sum != s.E2E.Mean {
		t.Errorf("the split sums to %v, E2E is %v", sum, s.E2E.Mean)
	}
}

// Each violated relation must be seen, and named.
func TestRecordRefusesWhatCannotBe(t *testing.T) {
	for _, c := range []struct {
		name, want string
		base       func() Outcome
		change     func(o *Outcome)
	}{
		{"negative arrival", "out of order", completed, func(o *Outcome) { o.Arrival = -1 }},
		{"admitted before arrival", "out of order", completed, func(o *Outcome) { o.Admitted = 999 }},
		{"routed before admitted", "out of order", completed, func(o *Outcome) { o.Routed = 1099 }},
		{"queued before routed", "out of order", completed, func(o *Outcome) { o.Queued = 1199 }},
		{"scheduled before queued", "out of order", completed, func(o *Outcome) { o.Scheduled = 1299 }},
		{"token before scheduled", "out of order", completed, func(o *Outcome) { o.FirstToken = 1399 }},
		{"last token before first", "out of order", completed, func(o *Outcome) { o.LastToken, o.Finished = 1999, 1999 }},
		{"scheduled without queue", "out of order", completed, func(o *Outcome) { o.Queued = never }},
		{"never arrived", "never arrived", dropped, func(o *Outcome) {
			o.Arrival, o.Admitted, o.Routed, o.Queued = never, never, never, never
		}},
		{"finished before the last token", "before its last phase", completed, func(o *Outcome) { o.Finished = 3000 }},
		{"finished before queued", "before its last phase", dropped, func(o *Outcome) { o.Finished = 1299 }},
		{"completed after the last token", "not with its last token", completed, func(o *Outcome) { o.Finished = 3501 }},
		{"completed unscheduled", "not with its last token", prefillOnly, func(o *Outcome) { o.Scheduled = never }},
		{"completed without end", "finished at never", completed, func(o *Outcome) { o.Finished = never }},
		{"running with an end", "finished at 3500", completed, func(o *Outcome) { o.State = Running }},
		{"running unscheduled", "did not get there", prefillOnly, func(o *Outcome) { o.State, o.Scheduled, o.Finished = Running, never, never }},
		{"queued without queue", "did not get there", prefillOnly, func(o *Outcome) {
			o.State, o.Queued, o.Scheduled, o.Finished = Queued, never, never, never
		}},
		{"pending but queued", "queued at 1300", prefillOnly, func(o *Outcome) { o.State, o.Finished = Pending, never }},
		{"rejected but queued", "queued at 1300", prefillOnly, func(o *Outcome) { o.State, o.Reason = Rejected, RejectAll }},
		{"completed on no instance", "no instance", completed, func(o *Outcome) { o.Instance = -1 }},
		{"no such state", "state 200", completed, func(o *Outcome) { o.State = 200 }},
		{"no such reason", "reason 99", completed, func(o *Outcome) { o.Reason = 99 }},
		{"dropped without reason", "no reason", dropped, func(o *Outcome) { o.Reason = NoReason }},
		{"dropped as rejected", "means rejected", dropped, func(o *Outcome) { o.Reason = NoInstance }},
		{"no input", "out of range", completed, func(o *Outcome) { o.Input, o.Cached = 0, -1 }},
		{"negative tokens", "out of range", completed, func(o *Outcome) { o.Generated = -1 }},
		{"all cached", "100 tokens cached of 100", completed, func(o *Outcome) { o.Cached = 100 }},
		{"more from the CPU tier than cached", "32 tokens cached, 33 of them from the CPU tier", completed, func(o *Outcome) { o.CachedCPU = 33 }},
		{"negative from the CPU tier", "-1 of them", completed, func(o *Outcome) { o.CachedCPU = -1 }},
		{"negative cached", "tokens cached", completed, func(o *Outcome) { o.Cached = -1 }},
		{"tokens without times", "3 tokens", prefillOnly, func(o *Outcome) { o.State, o.Generated = TimedOut, 3 }},
		{"times without tokens", "0 tokens", completed, func(o *Outcome) { o.Generated = 0 }},
		{"one token at two times", "1 tokens cannot", completed, func(o *Outcome) { o.Generated = 1 }},
		{"more tokens than steps", "cannot come", completed, func(o *Outcome) { o.Generated = 1502 }},
		{"recomputed unpreempted", "without a preemption", completed, func(o *Outcome) { o.Recomputed = 5 }},
		{"lost more than prefill", "lost 601", completed, func(o *Outcome) { o.Preemptions, o.PrefillLost = 1, 601 }},
		{"lost more than decode", "lost 1501", completed, func(o *Outcome) { o.Preemptions, o.DecodeLost = 1, 1501 }},
		{"lost decode without output", "lost 1", prefillOnly, func(o *Outcome) { o.Preemptions, o.DecodeLost = 1, 1 }},
		{"no time at all", "TTFT is 0", completed, func(o *Outcome) {
			*o = Outcome{Identity: workload.Identity{Input: 1}, State: Completed, HandOver: NoHandOver(), Progress: Progress{Generated: 1}}
		}},
		{"prefill in no time", "E2E is 0", prefillOnly, func(o *Outcome) {
			*o = Outcome{Identity: workload.Identity{Input: 1}, State: Completed, HandOver: NoHandOver(), Progress: Progress{FirstToken: never, LastToken: never}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := c.base()
			r := NewRecorder(Options{To: never})
			r.Record(&o)
			if err := r.Err(); err != nil {
				t.Fatalf("before the change: %v", err)
			}
			c.change(&o)
			r.Record(&o)
			err := r.Err()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want something with %q", err, c.want)
			}
			good := completed()
			good.ID = 1
			r.Record(&good)
			if r.Err() != err {
				t.Error("the first violation was forgotten")
			}
		})
	}
}

func TestOverheadsOutOfRangeAreRefused(t *testing.T) {
	for _, o := range []Options{{TokenOverhead: -1}, {RequestOverhead: -1}, {TokenOverhead: MaxOverhead + 1}, {RequestOverhead: MaxOverhead + 1}} {
		if NewRecorder(o).Err() == nil {
			t.Errorf("%+v gave no error", o)
		}
	}
}

func TestOnlyTheWindowIsMeasured(t *testing.T) {
	o := options()
	o.From, o.To = 1000, 2000
	r := NewRecorder(o)
	for i, arrival := range []vtime.Time{999, 1000, 1999, 2000} {
		x := completed()
		shift := arrival - x.Arrival
		for _, at := range []*vtime.Time{&x.Arrival, &x.Admitted, &x.Routed, &x.Queued, &x.Scheduled, &x.FirstToken, &x.LastToken, &x.Finished} {
			*at += shift
		}
		x.ID = int64(i)
		inside := arrival >= 1000 && arrival < 2000
		if g := r.Group(0, 0, arrival); (g >= 0) != inside {
			t.Errorf("group of a request at %d is %d", arrival, g)
		}
		r.ITL(r.Group(0, 0, arrival), 750, 2)
		r.Record(&x)
	}
	r.addPending()
	if got := r.cells[0].injected(); got != 2 {
		t.Errorf("%d requests are measured, want 2", got)
	}
	if got := r.groups[0].N(); got != 4 {
		t.Errorf("%d ITL samples, want 4", got)
	}
	report, err := Collect(Run{
		Instances: []*Recorder{r}, Counters: make([]Counters, 1), Injected: 4, End: 5000,
		Classes: []string{"c"}, Tenants: []string{"t"}, Models: []string{"m"}, InstanceNames: []string{"i"},
	})
	if err != nil || report.Injected != 4 || report.Overall.Injected != 2 {
		t.Errorf("%d and %d injected, %v", report.Injected, report.Overall.Injected, err)
	}
}

// randomOutcome draws a request that satisfies all relations.
func randomOutcome(r *rand.Rand, number int64) Outcome {
	o := Outcome{
		State: State(r.IntN(States)),
		Identity: workload.Identity{
			Tags: workload.Tags{Class: workload.Label(r.IntN(3)), Tenant: workload.Label(r.IntN(4)), Model: workload.Label(r.IntN(2))},
			ID:   number, Arrival: vtime.Time(r.Int64N(1e8)), Input: 1 + r.Int32N(1000),
		},
		Progress: NoProgress(), Admitted: never, Finished: never, HandOver: NoHandOver(),
	}
	at := o.Arrival
	step := func() vtime.Time { at += vtime.Time(r.Int64N(1e5)); return at }
	if o.Admitted = step(); o.State == Rejected || o.State >= Shed {
		return refused(o, step())
	}
	h := &o.HandOver
	if r.IntN(3) == 0 {
		*h = HandOver{Instance: r.Int32N(3), Cached: r.Int32N(o.Input), Preemptions: 1, Recomputed: r.Int32N(9), Queued: step(), Scheduled: step(), PullStart: never, PullEnd: never}
		h.CachedCPU = r.Int32N(h.Cached + 1)
		at++
		h.Ended = step()
		h.Lost = vtime.Duration(r.Int64N(int64(h.Ended.Sub(h.Scheduled)) + 1))
		at++
	}
	o.Routed = step()
	if o.State == Pending {
		return o
	}
	o.Queued = step()
	switch o.State {
	case Dropped:
		o.Reason, o.Finished = OutputTooLong, at
		return o
	case Queued:
		return o
	}
	pulled := h.Made() && r.IntN(4) > 0
	if pulled {
		h.PullStart = step()
		at++
		h.PullEnd = step()
	}
	o.Scheduled = step()
	if o.Cached = r.Int32N(o.Input); pulled {
		h.RemoteTokens = r.Int32N(o.Cached + 1)
	}
	at++
	if o.Generated = r.Int32N(5); o.Generated > 0 {
		o.FirstToken = step()
		o.LastToken = o.FirstToken
	}
	if o.Generated > 1 {
		at += vtime.Time(o.Generated)
		o.LastToken = step()
	}
	if o.State == Failed {
		o.Reason = InstanceLost
	}
	if o.State == Completed {
		o.Finished = at
	} else if o.State.final() {
		o.Finished = step()
	}
	return o
}

// recordITL counts the ITL samples of o as steps would have.
func recordITL(r *Recorder, o *Outcome) {
	group := r.Group(o.Class, o.Model, o.Arrival)
	if o.Generated < 2 {
		return
	}
	n := int64(o.Generated) - 1
	gap := o.LastToken.Sub(o.FirstToken) / vtime.Duration(n)
	r.ITL(group, gap, int(n-1))
	r.ITL(group, o.LastToken.Sub(o.FirstToken)-vtime.Duration(n-1)*gap, 1)
}

func TestRecorderFoldIgnoresOrder(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 3))
	var outcomes []Outcome
	for i := range 3000 {
		outcomes = append(outcomes, randomOutcome(r, int64(i)))
	}
	fold := func() uint64 {
		rec := NewRecorder(options())
		for i := range outcomes {
			rec.Record(&outcomes[i])
			recordITL(rec, &outcomes[i])
		}
		if err := rec.Err(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		return rec.Fold()
	}
	want := fold()
	r.Shuffle(len(outcomes), func(i, j int) { outcomes[i], outcomes[j] = outcomes[j], outcomes[i] })
	if got := fold(); got != want {
		t.Errorf("seed %d: fold %x in one order, %x in another", seed, want, got)
	}
	for i := range outcomes {
		if outcomes[i].State == Completed && outcomes[i].Arrival > 0 {
			outcomes[i].Arrival--
			break
		}
	}
	if got := fold(); got == want {
		t.Errorf("seed %d: 1 µs of one request did not change the fold", seed)
	}
}

func BenchmarkRecord(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	outcomes := make([]Outcome, 4096)
	for i := range outcomes {
		o := completed()
		o.Scheduled += vtime.Time(r.Int64N(20000))
		o.FirstToken = o.Scheduled + vtime.Time(10000+r.Int64N(50000))
		o.Generated = 2 + r.Int32N(500)
		o.LastToken = o.FirstToken + vtime.Time(o.Generated)*vtime.Time(9000+r.Int64N(4000))
		o.Finished = o.LastToken
		outcomes[i] = o
	}
	rec := NewRecorder(options())
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		o := outcomes[i&4095]
		delay := vtime.Time(uint32(i) * 2654435761 >> 12) // scattered over a second, so that values are new
		o.Scheduled += delay
		o.FirstToken += delay
		o.LastToken += delay
		o.Finished += delay
		rec.Record(&o)
	}
	if rec.Err() != nil {
		b.Fatal(rec.Err())
	}
}

func BenchmarkITL(b *testing.B) {
	values := benchmarkValues(1<<16, shapes[2].draw)
	rec := NewRecorder(options())
	group := rec.Group(0, 0, 0)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		rec.ITL(group, vtime.Duration(values[i&(1<<16-1)]), 1+i&63)
	}
}

// TestFoldIsOneOfManyCells folds a recorder with many cells often: an order of
// theirs that comes from a map would change from one fold to the next.
func TestFoldIsOneOfManyCells(t *testing.T) {
	r := NewRecorder(options())
	for i := range 60 {
		o := completed()
		o.ID, o.Tenant, o.Class = int64(i), workload.Label(i%20), workload.Label(i%3)
		r.Record(&o)
	}
	for range 20 {
		if first, next := r.Fold(), r.Fold(); first != next {
			t.Fatalf("the same recorder folds to %x and to %x", first, next)
		}
	}
}
