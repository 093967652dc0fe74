package actors

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"blis/engine"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
	"blis/workload/traces"
)

// Phases lie apart by the latencies: arrival 100, admission +20, routing +30,
// queued +7 +2·10 tokens, and the client sees each token 5 later.
func TestPhasesFollowTheLatencies(t *testing.T) {
	c := plain()
	c.AdmissionLatency, c.RoutingLatency = 20, 30
	c.AlphaCoeffs = []float64{7, 2, 5}
	s := serve(t, c, request(100, 10, 3))
	wantFates(t, s, completed(177, 1177, 3177, 3))
	o := &s.rows[0]
	if o.Admitted != 120 || o.Routed != 150 || o.Queued != 177 {
		t.Errorf("admitted %v, routed %v, queued %v; want 120, 150, 177", o.Admitted, o.Routed, o.Queued)
	}
	all := &s.Report.Overall
	// TTFT 1,177 + 5 − 100; ITL 2 × 1,005; E2E their sum; TPOT (E2E − TTFT)/2.
	if all.TTFT.Max != 1082 || all.ITL.Max != 1005 || all.ITL.N != 2 || all.E2E.Max != 3092 || all.TPOT.Max != 1005 {
		t.Errorf("TTFT %d, ITL %d × %d, E2E %d, TPOT %d; want 1082, 1005 × 2, 3092, 1005", all.TTFT.Max, all.ITL.Max, all.ITL.N, all.E2E.Max, all.TPOT.Max)
	}
	if all.SchedulingDelay.Max != 77 || all.QueueWait.Max != 0 {
		t.Errorf("scheduling delay %d, queue wait %d; want 77, 0", all.SchedulingDelay.Max, all.QueueWait.Max)
	}
}

// Starts full with 100 tokens and gains 1 per ms. The cost is the prompt, all
// or nothing: 60 leave 40; 50 is refused and costs nothing; at 10 ms there are
// 50 again; at 1 s it is full, not fuller.
func TestTokenBucketAdmitsWhatItCanPayFor(t *testing.T) {
	c := plain()
	c.AdmissionPolicy, c.TokenBucketCapacity, c.TokenBucketRefillRate = "token-bucket", 100, 1000
	s := serve(t, c,
		request(0, 60, 1), request(0, 50, 1), request(10_000, 50, 1),
		request(1_000_000, 101, 1), request(1_000_000, 100, 1), request(1_000_000, 1, 1))
	rejected := func(at vtime.Time) fate {
		return fate{State: "rejected", Reason: metrics.InsufficientTokens, Scheduled: never, First: never, Last: never, Finished: at}
	}
	wantFates(t, s, completed(0, 1000, 1000, 1), rejected(0), completed(10_000, 11_000, 11_000, 1),
		rejected(1_000_000), completed(1_000_000, 1_001_000, 1_001_000, 1), rejected(1_000_000))
}

// Rejected requests never reach an instance.
func TestRejectAllRejectsAll(t *testing.T) {
	c := plain()
	c.AdmissionPolicy, c.AdmissionLatency = "reject-all", 40
	s := serve(t, c, request(0, 60, 1), request(5, 60, 1))
	wantFates(t, s,
		fate{State: "rejected", Reason: metrics.RejectAll, Scheduled: never, First: never, Last: never, Finished: 40},
		fate{State: "rejected", Reason: metrics.RejectAll, Scheduled: never, First: never, Last: never, Finished: 45})
	if s.rows[0].Instance != -1 || s.Report.Overall.Resources.Counters.Steps != 0 {
		t.Errorf("instance %d, %d steps; want none", s.rows[0].Instance, s.Report.Overall.Resources.Counters.Steps)
	}
}

// Events at the horizon execute, later ones do not. Requests are queued 10
// after they arrive, so steps end at 1,010 and 2,010. A run to 2,000 takes in
// the arrival at 2,000 and not the one at 2,001; a run to 2,010 the end of the
// step, with a completion and the formation after it. What is not done is where
// it was.
func TestHorizonIsInclusiveAndLeavesStates(t *testing.T) {
	c := plain()
	c.MaxNumSeqs, c.Horizon = 2, 2000
	c.AlphaCoeffs = []float64{10, 0, 0}
	requests := []workload.Request{request(0, 10, 2), request(0, 10, 9), request(0, 10, 1), request(1995, 10, 1), request(2000, 10, 1), request(2001, 10, 1)}
	s := serve(t, c, requests...)
	unfinished := func(state string, scheduled, first, last vtime.Time, tokens int32) fate {
		return fate{State: state, Scheduled: scheduled, First: first, Last: last, Finished: never, Tokens: tokens}
	}
	wantFates(t, s,
		unfinished("running", 10, 1010, 1010, 1), unfinished("running", 10, 1010, 1010, 1),
		unfinished("queued", never, never, never, 0), unfinished("pending", never, never, never, 0), unfinished("pending", never, never, never, 0))
	if s.Report.Injected != 5 || s.End != 2000 || !s.Report.Window.Cut {
		t.Errorf("injected %d, end %v, cut %v; want 5, 2,000, true", s.Report.Injected, s.End, s.Report.Window.Cut)
	}
	c.Horizon = 2010
	s = serve(t, c, requests...)
	wantFates(t, s,
		completed(10, 1010, 2010, 2), unfinished("running", 10, 1010, 2010, 2),
		// The seat is free at 2,010 and taken in that formation.
		unfinished("running", 2010, never, never, 0),
		unfinished("queued", never, never, never, 0), unfinished("queued", never, never, never, 0), unfinished("pending", never, never, never, 0))
}

// A horizon after all work changes nothing, and the run ends with its last
// event.
func TestHorizonAfterAllWorkCutsNothing(t *testing.T) {
	c := plain()
	c.Horizon = 3600 * vtime.Second
	s := serve(t, c, request(0, 10, 2))
	if s.Report.Window.Cut || s.End != 2000 || *s.Report.Overall.RequestsPerSecond != 500 {
		t.Errorf("cut %v, end %v, %v requests per second; want false, 2,000, 500", s.Report.Window.Cut, s.End, *s.Report.Overall.RequestsPerSecond)
	}
}

// A preempted request stands in front with fcfs. A, B and C arrive together;
// B is preempted for A while C waits for a seat, and is admitted before it.
// (4 blocks: A grows to 3, B has 2 of its own and needs a third at 33.)
func TestPreemptedRequestStandsInFrontWithFCFS(t *testing.T) {
	c := plain()
	c.TotalKVBlocks, c.MaxNumSeqs = 4, 2
	s := serve(t, c, request(0, 16, 20), request(0, 32, 10), request(0, 16, 1))
	b, third := &s.rows[1], &s.rows[2]
	if b.Preemptions != 1 || third.Scheduled < 20_000 || b.Finished != 29_000 {
		t.Errorf("B preempted %d times and done at %v, C scheduled at %v: want C behind B, which comes back at 20,000", b.Preemptions, b.Finished, third.Scheduled)
	}
}

// urgent gives requests the priority that their hint says.
type urgent struct{}

func (urgent) Observes() policy.Signals { return policy.NoSignals }
func (urgent) Score(r *policy.Request, _ *policy.RouterState, _ vtime.Time) float64 {
	return r.Hint
}

func hinted(hint float64, r workload.Request) workload.Request {
	r.Hint = hint
	return r
}

func byPriority(c Config) Config {
	c.Scheduler = "priority"
	c.Custom.Priority = func(policy.Env) policy.Priority { return urgent{} }
	return c
}

// With priority the queue is in order of priority, then arrival, and a
// preempted request is sorted in like any other: here C, more urgent, arrives
// while B waits to come back, and goes first.
func TestPreemptedRequestIsSortedInWithPriority(t *testing.T) {
	c := byPriority(plain())
	c.TotalKVBlocks, c.MaxNumSeqs = 4, 2
	s := serve(t, c, hinted(2, request(0, 16, 20)), hinted(1, request(0, 32, 10)), hinted(3, request(1500, 16, 1)))
	b, third := &s.rows[1], &s.rows[2]
	// At 2,000 one seat is free and 2 blocks are: C needs one.
	if b.Preemptions < 1 || third.Scheduled != 2000 {
		t.Errorf("B preempted %d times, C scheduled at %v: want C at 2,000, before B", b.Preemptions, third.Scheduled)
	}
	if b.State != metrics.Completed || b.Generated != 10 || b.FirstToken != 1000 {
		t.Errorf("B: %+v", *b)
	}
}

// The victim of priority is the least urgent, wherever it stands in the list:
// A, admitted first but least urgent, loses its blocks to B.
func TestVictimIsTheLeastUrgent(t *testing.T) {
	c := byPriority(plain())
	c.TotalKVBlocks = 4
	s := serve(t, c, hinted(1, request(0, 32, 10)), hinted(2, request(500, 16, 20)))
	if a, b := s.rows[0].Preemptions, s.rows[1].Preemptions; a < 1 || b != 0 {
		t.Errorf("A preempted %d times, B %d; want A alone", a, b)
	}
}

// Async: the first batch is formed when the instance is idle, so its stamp is
// its start; a request that arrives during step n is in the batch formed when
// n ends, which starts when n+1 ends: its stamp is one step before that.
func TestScheduledStampIsOneStepEarlierWithAsync(t *testing.T) {
	c := plain()
	c.AsyncScheduling = new(true)
	s := serve(t, c, request(0, 10, 9), request(1500, 10, 1))
	wantFates(t, s, completed(0, 1000, 9000, 9), completed(2000, 4000, 4000, 1))
	c.AsyncScheduling = new(false)
	s = serve(t, c, request(0, 10, 9), request(1500, 10, 1))
	wantFates(t, s, completed(0, 1000, 9000, 9), completed(2000, 3000, 3000, 1))
}

// Async: a request that stops by itself before its limit has one more token in
// the batch that was formed meanwhile. It costs budget and time, here 100 µs,
// and yields nothing; a request whose end the scheduler knows has not.
func TestAsyncRequestThatStopsByItselfCostsOneMoreToken(t *testing.T) {
	c := plain()
	c.AsyncScheduling = new(true)
	c.BetaCoeffs = []float64{1000, 0, 100}
	for _, limit := range []int32{workload.Absent, 2, 50} {
		s := serve(t, c, limited(limit, request(0, 10, 2)))
		wantFates(t, s, completed(0, 1000, 2100, 2))
		steps := int64(2)
		if limit == 50 {
			steps = 3
		}
		if got := s.Report.Overall.Resources.Counters.Steps; got != steps {
			t.Errorf("limit %d: %d steps, want %d", limit, got, steps)
		}
	}
}

// Equal priority, equal arrival and admission without reserve: vLLM's tie rule,
// the earliest in the running list, lets two requests take each other's blocks
// for ever. Both want all 6 blocks, 16 tokens a step: at 3 blocks each the
// first gives way, is admitted again behind the other, and at 4 and 2 blocks
// the other gives way. Such a run ends with an error that says so.
func TestPriorityLivelockIsAnError(t *testing.T) {
	c := plain()
	c.Scheduler, c.SchedulerReserveFullISL = "priority", false
	c.TotalKVBlocks, c.LongPrefillTokenThreshold, c.EnablePrefixCaching = 6, 16, false
	for _, x := range []Execution{{Sequential: true, StepByStep: true}, {Workers: 1}, {Workers: 2, Inline: -1}} {
		_, err := serveOn(t, c, x, workload.Labels{}, []workload.Request{request(0, 95, 1), request(0, 95, 1)})
		var livelock *engine.Livelock
		if !errors.As(err, &livelock) {
			t.Fatalf("the error is %v, want *engine.Livelock", err)
		}
		if text := err.Error(); strings.Contains(text, "\n") || !strings.Contains(text, "preempt") {
			t.Errorf("the error is not one line that names the cause: %q", text)
		}
	}
	c.SchedulerReserveFullISL = true
	if s := serve(t, c, request(0, 95, 1), request(0, 95, 1)); s.count(metrics.Completed) != 2 {
		t.Errorf("%d completed with reserve on, want 2", s.count(metrics.Completed))
	}
}

// Times that count from 1970 give the result of the same trace from 0: a trace
// file is moved to its first arrival, and requests handed over as they are
// have every time later by the same amount.
func TestUnixTimestampsChangeNothing(t *testing.T) {
	const unix = vtime.Time(1_700_000_000_000_000)
	gaps := []vtime.Time{0, 700, 700, 4000, 90_000}
	var base, late []workload.Request
	for i, at := range gaps {
		r := due(at+200_000, request(at, int32(20+i), int32(3+i)))
		base = append(base, r)
		r.Arrival, r.Deadline = r.Arrival+unix, r.Deadline+unix
		late = append(late, r)
	}
	a, b := serve(t, plain(), base...), serve(t, plain(), late...)
	for i := range b.rows {
		o := &b.rows[i]
		for _, at := range []*vtime.Time{&o.Arrival, &o.Admitted, &o.Routed, &o.Queued, &o.Scheduled, &o.FirstToken, &o.LastToken, &o.Finished} {
			*at -= unix
		}
		if !reflect.DeepEqual(*o, a.rows[i]) {
			t.Errorf("request %d:\n got %+v\nwant %+v", i, *o, a.rows[i])
		}
	}
	x, y := &a.Report.Overall, &b.Report.Overall
	if !reflect.DeepEqual(x.TTFT, y.TTFT) || !reflect.DeepEqual(x.E2E, y.E2E) || *x.RequestsPerSecond != *y.RequestsPerSecond {
		t.Errorf("other latencies or throughput: %+v %+v", *x, *y)
	}

	var reports []*metrics.Report
	for _, requests := range [][]workload.Request{base, late} {
		c := plain()
		c.Trace = writeTrace(t, requests)
		r, err := Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		reports = append(reports, r.Report)
	}
	if !reflect.DeepEqual(reports[0], reports[1]) {
		t.Errorf("the trace with Unix times gives another report:\n got %+v\nwant %+v", reports[1], reports[0])
	}
}

// writeTrace writes requests as a trace of our own format.
func writeTrace(t *testing.T, requests []workload.Request) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace.csv")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	source, err := workload.NewSlice(requests, workload.Labels{})
	if err != nil {
		t.Fatal(err)
	}
	if err := traces.Write(f, source); err != nil {
		t.Fatal(err)
	}
	return file
}
