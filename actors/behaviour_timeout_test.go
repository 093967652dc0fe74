package actors

import (
	"testing"

	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

func timedOut(scheduled, first, last, finished vtime.Time, tokens int32) fate {
	return fate{State: "timed_out", Scheduled: scheduled, First: first, Last: last, Finished: finished, Tokens: tokens}
}

// A completion at the very tick of the deadline wins; one tick earlier the
// deadline does, and its token of that step is not delivered: the request
// leaves when the step that was in flight ends.
func TestCompletionAtTheTickOfTheDeadlineWins(t *testing.T) {
	for _, async := range []bool{false, true} {
		c := plain()
		c.AsyncScheduling = &async
		wantFates(t, serve(t, c, due(3000, request(0, 10, 3))), completed(0, 1000, 3000, 3))
		wantFates(t, serve(t, c, due(2999, request(0, 10, 3))), timedOut(0, 1000, 2000, 3000, 2))
	}
}

// The process that holds the request times it out: here the router (before admission,
// before routing), the way to the queue, the queue and the batch.
func TestTimeoutWhereverTheRequestIs(t *testing.T) {
	nowhere := timedOut(never, never, never, 500, 0)
	for _, where := range []struct {
		name   string
		change func(*Config)
		want   fate
	}{
		{"admission latency", func(c *Config) { c.AdmissionLatency = 2000 }, nowhere},
		{"routing latency", func(c *Config) { c.RoutingLatency = 2000 }, nowhere},
		{"after admission, before routing", func(c *Config) { c.AdmissionLatency, c.RoutingLatency = 400, 200 }, nowhere},
		{"queueing delay", func(c *Config) { c.AlphaCoeffs = []float64{2000, 0, 0} }, nowhere},
		{"routing at the deadline, guard at the queue", func(c *Config) { c.RoutingLatency = 500 }, nowhere},
		{"queued at the deadline", func(c *Config) { c.AlphaCoeffs = []float64{500, 0, 0} }, nowhere},
		{"batch", func(c *Config) {}, timedOut(0, never, never, 1000, 0)},
		{"queued just before, then in a batch", func(c *Config) { c.AlphaCoeffs = []float64{499, 0, 0} }, timedOut(499, never, never, 1499, 0)},
	} {
		t.Run(where.name, func(t *testing.T) {
			c := plain()
			where.change(&c)
			s := serve(t, c, due(500, request(0, 10, 3)))
			wantFates(t, s, where.want)
			if o := &s.Report.Overall; o.OutputTokens != 0 || s.Report.Window.Seconds != nil {
				t.Errorf("%d output tokens, throughput over %v s: want none of a request that timed out", o.OutputTokens, s.Report.Window.Seconds)
			}
		})
	}
}

// A request whose deadline is its arrival never runs: without latency the
// guard at the queue refuses it, otherwise the router times it out.
func TestDeadlineAtArrival(t *testing.T) {
	for _, latency := range []vtime.Duration{0, 300} {
		c := plain()
		c.RoutingLatency = latency
		wantFates(t, serve(t, c, due(700, request(700, 10, 3)), request(700, 10, 1)),
			timedOut(never, never, never, 700, 0),
			completed(vtime.Time(700+latency), vtime.Time(1700+latency), vtime.Time(1700+latency), 1))
	}
}

// In the queue it leaves at the end of the step in flight, and its seat in
// line with it: the third gets the seat at 3,000.
func TestTimeoutInTheQueueTakesEffectAtTheEndOfTheStep(t *testing.T) {
	c := plain()
	c.MaxNumSeqs = 1
	s := serve(t, c, request(0, 10, 3), due(1500, request(0, 10, 3)), request(0, 10, 1))
	wantFates(t, s, completed(0, 1000, 3000, 3), timedOut(never, never, never, 2000, 0), completed(3000, 4000, 4000, 1))
}

// In the batch its blocks and seat are free for the formation at the end of
// the step: the one seat goes to the second at 2,000.
func TestTimeoutInTheBatchFreesItsSeatAtTheEndOfTheStep(t *testing.T) {
	c := plain()
	c.MaxNumSeqs = 1
	s := serve(t, c, due(1500, request(0, 10, 9)), request(0, 10, 1))
	wantFates(t, s, timedOut(0, 1000, 1000, 2000, 1), completed(2000, 3000, 3000, 1))
	// Its TTFT stays in the figures: it produced a first token. Its tokens are
	// in no throughput.
	o := &s.Report.Overall
	if o.TTFT.N != 2 || o.OutputTokens != 1 || o.GeneratedTokens != 2 || o.E2E.N != 1 {
		t.Errorf("TTFT n %d, output %d, generated %d, E2E n %d; want 2, 1, 2, 1", o.TTFT.N, o.OutputTokens, o.GeneratedTokens, o.E2E.N)
	}
}

// Async: at 1,500 the batch of step 3 (2,000 to 3,000) is formed already. The
// request leaves at 2,000 without its token of step 2; its share of step 3
// stays, costs its 100 µs and yields nothing; the seat is free for what is
// formed at 2,000, which is step 4.
func TestTimeoutWithAsyncSchedulingLeavesItsShareInTheFormedBatch(t *testing.T) {
	c := plain()
	c.AsyncScheduling, c.MaxNumSeqs = new(true), 1
	c.BetaCoeffs = []float64{1000, 0, 100}
	// Steps: [0, 1000] prefill, [1000, 2100] and [2100, 3200] decode.
	s := serve(t, c, due(1500, limited(50, request(0, 10, 9))), request(0, 10, 1))
	wantFates(t, s, timedOut(0, 1000, 1000, 2100, 1), completed(2100, 4200, 4200, 1))
}

// 512 requests of two tokens, 16 seats, one deadline for all. A batch of 16
// takes 2,000: two batches complete; the third has its first tokens at 5,000,
// the tick of the deadline, and leaves at 6,000 with all that wait.
func TestManyIdenticalDeadlines(t *testing.T) {
	c := plain()
	c.MaxNumSeqs = 16
	var all []workload.Request
	for range 512 {
		all = append(all, due(5000, request(0, 10, 2)))
	}
	s := serve(t, c, all...)
	if done, late := s.count(metrics.Completed), s.count(metrics.TimedOut); done != 32 || late != 480 {
		t.Errorf("%d completed, %d timed out; want 32 and 480", done, late)
	}
	o := &s.Report.Overall
	if o.TTFT.N != 48 || o.OutputTokens != 64 || o.GeneratedTokens != 80 {
		t.Errorf("%d first tokens, %d output and %d generated tokens; want 48, 64, 80", o.TTFT.N, o.OutputTokens, o.GeneratedTokens)
	}
	for i, r := range s.rows {
		if want := vtime.Time(6000); i >= 32 && r.Finished != want {
			t.Fatalf("request %d left at %v, want %v", i, r.Finished, want)
		}
	}
}

// All is done at 10 s; deadlines at 300 s that are no longer anybody's must
// not stretch the run or dilute its throughput.
func TestLateDeadlinesDoNotDiluteThroughput(t *testing.T) {
	const deadline = 300 * vtime.Time(vtime.Second)
	c := plain()
	var all []workload.Request
	for i := range vtime.Time(10) {
		all = append(all, due(deadline, request(i*1_000_000, 10, 2)))
	}
	all[9].Output = 1000 // from 9 s to 10 s, 1,000 steps
	c.TotalKVBlocks = 128
	s := serve(t, c, all...)
	w := &s.Report.Window
	if w.Seconds == nil || *w.Seconds != 10 || s.End != 10_000_000 || w.Cut {
		t.Fatalf("window of %v s, end %v, cut %v; want 10 s", w.Seconds, s.End, w.Cut)
	}
	o := &s.Report.Overall
	if *o.RequestsPerSecond != 1 || *o.TokensPerSecond != (9*2+1000)/10. {
		t.Errorf("%v requests and %v tokens per second; want 1 and 101.8", *o.RequestsPerSecond, *o.TokensPerSecond)
	}
	if u := *o.Resources.Utilisation; u != (9*2000+1_000_000)/10e6 {
		t.Errorf("utilisation %v; want 0.1018", u)
	}
}
