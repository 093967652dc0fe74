package actors

import (
	"encoding/json"
	"strings"
	"testing"

	"blis/metrics"
	"blis/workload"
)

// The cache of plain holds 64·16 = 1,024 tokens, and so the longest request.
// A prompt of 1,024 leaves no room for a token; 1,023 leaves it for one.
func TestRequestLargerThanTheCacheIsDroppedAndTheRestCompletes(t *testing.T) {
	s := serve(t, plain(),
		request(0, 100, 2), request(0, 1024, 1), request(0, 5000, 1), request(0, 50, 1), request(10_000, 1023, 1))
	dropped := fate{State: "dropped", Reason: metrics.PromptTooLong, Scheduled: never, First: never, Last: never}
	wantFates(t, s,
		completed(0, 1000, 2000, 2), dropped, dropped, completed(0, 1000, 1000, 1), completed(10_000, 11_000, 11_000, 1))
	if n := s.Report.Overall.Reasons[metrics.PromptTooLong]; n != 2 {
		t.Errorf("%d counted as too long, want 2", n)
	}
}

// Nothing completes: the report is complete, what cannot be measured is null,
// and it is no error.
func TestEverythingDroppedGivesACompleteReport(t *testing.T) {
	var all []workload.Request
	for range 20 {
		all = append(all, request(0, 2000, 10))
	}
	s := serve(t, plain(), all...)
	o := &s.Report.Overall
	if s.count(metrics.Dropped) != 20 || s.Report.Injected != 20 {
		t.Errorf("%d of %d dropped, want 20 of 20", s.count(metrics.Dropped), s.Report.Injected)
	}
	for name, summary := range map[string]*metrics.Summary{"TTFT": o.TTFT, "TPOT": o.TPOT, "ITL": o.ITL, "E2E": o.E2E, "scheduling delay": o.SchedulingDelay, "queue wait": o.QueueWait} {
		if summary != nil {
			t.Errorf("%s is %+v, want null", name, *summary)
		}
	}
	if o.RequestsPerSecond != nil || o.TokensPerSecond != nil || o.ITLMean != nil {
		t.Errorf("rates of a run without completions: %v %v %v, want null", o.RequestsPerSecond, o.TokensPerSecond, o.ITLMean)
	}
	text, err := json.Marshal(s.Report)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`"ttft_us":null`, `"e2e_us":null`, `"itl_us":null`, `"requests_per_second":null`, `"dropped":20`, `"prompt_too_long":20`} {
		if !strings.Contains(string(text), key) {
			t.Errorf("the JSON lacks %s: %s", key, text)
		}
	}
}

// 1,000 in of 1,024 leave room for 24 tokens. Without a limit of the client's
// the request is cut there; with one it can be refused beforehand.
func TestRequestThatFitsOnlyWithoutItsOutputIsLengthCapped(t *testing.T) {
	cut := completed(0, 1000, 24_000, 24)
	cut.Reason = metrics.LengthCapped
	s := serve(t, plain(), request(0, 1000, 100), limited(100, request(100_000, 1000, 100)), limited(24, request(100_000, 1000, 24)))
	wantFates(t, s, cut,
		fate{State: "dropped", Reason: metrics.OutputTooLong, Scheduled: never, First: never, Last: never, Finished: 100_000},
		completed(100_000, 101_000, 124_000, 24))
	if n := s.Report.Overall.Resources.Counters.LengthCapped; n != 1 {
		t.Errorf("%d length-capped, want 1", n)
	}
}

// A given max-model-len below the cache cuts in the same way, and the token
// budget does when chunked prefill is off.
func TestLengthIsCappedByModelLengthAndByBudgetWithoutChunks(t *testing.T) {
	cut := completed(0, 1000, 10_000, 10)
	cut.Reason = metrics.LengthCapped
	dropped := fate{State: "dropped", Reason: metrics.PromptTooLong, Scheduled: never, First: never, Last: never}
	t.Run("max-model-len", func(t *testing.T) {
		c := plain()
		c.MaxModelLen = 110
		wantFates(t, serve(t, c, request(0, 100, 50), request(0, 110, 1)), cut, dropped)
	})
	t.Run("chunked prefill off", func(t *testing.T) {
		c := plain()
		c.EnableChunkedPrefill = false
		c.MaxNumBatchedTokens = 110
		wantFates(t, serve(t, c, request(0, 100, 50), request(0, 110, 1)), cut, dropped)
	})
}

// Without chunks a prompt above the budget can never be scheduled. It must not
// stand in the way of the others for ever.
func TestPromptsAboveTheBudgetWithoutChunksAreDropped(t *testing.T) {
	c := plain()
	c.EnableChunkedPrefill = false
	c.MaxNumBatchedTokens = 256
	dropped := fate{State: "dropped", Reason: metrics.PromptTooLong, Scheduled: never, First: never, Last: never}
	// 255 + 100 exceed one budget: the second waits a step, whole.
	s := serve(t, c, request(0, 300, 5), request(0, 255, 1), request(0, 256, 1), request(0, 100, 1), request(0, 900, 1))
	wantFates(t, s, dropped, completed(0, 1000, 1000, 1), dropped, completed(1000, 2000, 2000, 1), dropped)
}

// Chunks end where the budget does, inside blocks: 50 + 50 + 20 tokens at 1 µs
// each on top of a step's 1,000. Its 7 full blocks below the last token are
// keyed all the same, so the same prompt computes 120 − 7·16 = 8 afterwards.
func TestChunkEdgesNeedNotBeMultiplesOfTheBlockSize(t *testing.T) {
	c := plain()
	c.BetaCoeffs = []float64{1000, 1, 0}
	c.MaxNumBatchedTokens = 50
	same := workload.Span{Content: 1, Length: 120}
	s := serve(t, c, prompt(request(0, 120, 2), same), prompt(request(10_000, 120, 1), same))
	wantFates(t, s, completed(0, 3120, 4120, 2), completed(10_000, 11_008, 11_008, 1))
	if got := s.rows[1].Cached; got != 112 {
		t.Errorf("%d tokens cached, want 112", got)
	}
}

// The threshold cuts prompts into pieces of its own, also where chunked
// prefill is off: 40 + 40 + 20.
func TestThresholdChunksPrompts(t *testing.T) {
	for _, chunked := range []bool{true, false} {
		c := plain()
		c.LongPrefillTokenThreshold, c.EnableChunkedPrefill = 40, chunked
		wantFates(t, serve(t, c, request(0, 100, 1)), completed(0, 3000, 3000, 1))
	}
}

// Everything arrives at once and wants more than there is: 30·(800 + about
// 3,400) tokens of 7,463·16 = 119,408. Preemption must make room without
// thrashing.
func TestThirtyLongOutputsCompleteWithFewPreemptions(t *testing.T) {
	c := plain()
	c.TotalKVBlocks, c.MaxNumSeqs, c.MaxNumBatchedTokens = 7463, 256, 2048
	var all []workload.Request
	want := int64(0)
	for i := range int32(30) {
		output := 3200 + 400*i/29
		all = append(all, request(0, 800, output))
		want += int64(output)
	}
	s := serve(t, c, all...)
	o := &s.Report.Overall
	if s.count(metrics.Completed) != 30 || o.OutputTokens != want || o.GeneratedTokens != want {
		t.Errorf("%d completed with %d tokens (%d generated), want 30 with %d", s.count(metrics.Completed), o.OutputTokens, o.GeneratedTokens, want)
	}
	if o.Preemptions < 1 || o.Preemptions > 30 {
		t.Errorf("%d preemptions, want 1 to 30", o.Preemptions)
	}
}

// Four blocks of 16; A has 16 tokens in and 20 out, B 32 in and 10 out.
//
//	     0  A takes 1 block, B 2: 1 is free
//	 1,000  both have their first token. A's next needs a 2nd block: the last.
//	        B's next needs a 3rd: B, last of the list, is preempted. Of K = 33
//	        it needs 3 blocks, 2 are free (and hit): it waits
//	18,000  A takes its 3rd block, the head of the free list: B's 2nd
//	20,000  A has its 20 tokens. B hits its 1st block and computes 33 − 16 = 17
//	21,000  B's second token, 20,000 after its first; then one per step
//	29,000  B's tenth
func TestPreemptedRequestKeepsItsFirstTokenAndCountsTokensOnce(t *testing.T) {
	c := plain()
	c.TotalKVBlocks = 4
	s := serve(t, c, request(0, 16, 20), request(0, 32, 10))
	wantFates(t, s, completed(0, 1000, 20_000, 20), completed(0, 1000, 29_000, 10))
	b := &s.rows[1]
	if b.Preemptions != 1 || b.Recomputed != 16 || b.Cached != 0 {
		t.Errorf("B: %d preemptions, %d recomputed, %d cached at first; want 1, 16, 0", b.Preemptions, b.Recomputed, b.Cached)
	}
	o := &s.Report.Overall
	if o.OutputTokens != 30 || o.GeneratedTokens != 30 {
		t.Errorf("%d output tokens, %d generated, want 30", o.OutputTokens, o.GeneratedTokens)
	}
	if o.TTFT.N != 2 || o.TTFT.Max != 1000 {
		t.Errorf("TTFT %+v, want 2 of 1,000 µs", *o.TTFT)
	}
	if o.ITL.N != 28 || o.ITL.Max != 20_000 || o.ITL.Min != 1000 {
		t.Errorf("ITL %+v, want 28 samples up to 20,000 µs", *o.ITL)
	}
	if k := &o.Resources.Counters; k.RelookedTokens != 33 || k.RecachedTokens != 16 || k.LookedUpTokens != 48 || k.CachedTokens != 0 {
		t.Errorf("cache counts %+v: want 48 tokens looked up at first, 33 again with 16 found", *k)
	}
}

// One seat: the second waits for all of the first.
func TestBatchOfOneServesOneAfterTheOther(t *testing.T) {
	c := plain()
	c.MaxNumSeqs = 1
	s := serve(t, c, request(0, 10, 3), request(0, 10, 3))
	wantFates(t, s, completed(0, 1000, 3000, 3), completed(3000, 4000, 6000, 3))
	if w := s.Report.Overall.QueueWait; w.Min != 0 || w.Max != 3000 {
		t.Errorf("queue wait %+v, want 0 and 3,000", *w)
	}
}

// A request without output is a prefill: it completes with it and has neither
// a TTFT nor an ITL. The first token has no gap before it.
func TestOutputsOfNoneOneAndTwoTokens(t *testing.T) {
	for output, want := range []struct{ ttft, itl, e2e int64 }{{0, 0, 1000}, {1, 0, 1000}, {1, 1, 2000}} {
		s := serve(t, plain(), request(0, 10, int32(output)))
		o := &s.Report.Overall
		ttft := int64(0)
		if o.TTFT != nil {
			ttft = o.TTFT.N
		}
		if s.count(metrics.Completed) != 1 || ttft != want.ttft || o.ITLSamples != want.itl || o.E2E.Max != want.e2e {
			t.Errorf("O = %d: %d TTFT, %d ITL, E2E %d; want %+v", output, ttft, o.ITLSamples, o.E2E.Max, want)
		}
		if got := &s.rows[0]; int64(got.Finished) != want.e2e || got.Generated != int32(output) {
			t.Errorf("O = %d: finished at %v with %d tokens", output, got.Finished, got.Generated)
		}
	}
}
