package measured

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"blis/vtime"
)

func readTrace(t *testing.T, text string) *Trace {
	t.Helper()
	trace, err := readOTLP("t", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if !accounted(trace) {
		t.Errorf("%d spans, %d used, skipped %v", trace.Spans, trace.Used, trace.Skipped)
	}
	return trace
}

// first and second are two requests as vLLM reports them.
var (
	first = spanOf("llm_request", "a", 1_700_000_000, 3, attributes("gen_ai.request.id", "one", "gen_ai.usage.prompt_tokens", 100, "gen_ai.usage.completion_tokens", 20,
		"gen_ai.latency.time_to_first_token", 0.3200004, "gen_ai.latency.e2e", 2.9, "gen_ai.latency.time_in_queue", 1.8e-05,
		"gen_ai.latency.time_in_model_prefill", 0.25, "gen_ai.latency.time_in_model_decode", 2.5, "gen_ai.latency.time_in_model_inference", 2.75))
	second = spanOf("llm_request", "b", 1_700_000_001, 1, attributes("gen_ai.usage.prompt_tokens", 7, "gen_ai.usage.completion_tokens", 1, "gen_ai.latency.time_in_model_prefill", 0.5))
)

func TestTraceOfRequests(t *testing.T) {
	for name, text := range map[string]string{
		"line by line": export(first) + "\n" + export(second) + "\n",
		"one object":   export(first, second),
		"list":         "[" + export(second) + ",\n" + export(first) + "]",
		"gzip":         zipped(export(second, first)),
		"pretty":       strings.ReplaceAll(export(first, second), ",", ",\n  "),
		"sent again":   export(first) + export(second) + export(first),
	} {
		trace := readTrace(t, text)
		if len(trace.Requests) != 2 || trace.Used != 2 || len(trace.Steps) != 0 {
			t.Fatalf("%s: %+v", name, trace)
		}
		if want := map[bool]int{true: 1}[name == "sent again"]; trace.Skipped[skippedTwice] != want {
			t.Errorf("%s: skipped %v", name, trace.Skipped)
		}
		r := trace.Requests[0]
		want := TracedRequest{
			ID: "one", Start: 0, End: 3e6, Input: 100, Output: 20,
			TTFT: 320_000, E2E: 2_900_000, Queue: 18, Prefill: 250_000, Decode: 2_500_000, Inference: 2_750_000,
			Arrived: vtime.Never, Handoff: vtime.Never, Queued: vtime.Never, Scheduled: vtime.Never, FirstToken: vtime.Never, Finished: vtime.Never, Departed: vtime.Never,
		}
		if r != want {
			t.Errorf("%s:\n got %+v\nwant %+v", name, r, want)
		}
		if r := trace.Requests[1]; r.Start != 1e6 || r.Prefill != 500_000 || r.Decode != Unknown || r.TTFT != Unknown {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// The front end's span and the engine's, found by parent or by request id.
func TestJourneyOfARequest(t *testing.T) {
	const s, ms = 1_000_000_000, 1_000_000
	api := spanOf("llm_request", "a", 100, 2, attributes("gen_ai.request.id", "one"),
		eventOf("api.ARRIVED", 100*s, ""), eventOf("api.HANDOFF_TO_CORE", 100*s+4*ms, ""), eventOf("api.FIRST_RESPONSE_FROM_CORE", 101*s, ""), eventOf("api.DEPARTED", 102*s, ""))
	events := []string{
		eventOf("journey.QUEUED", 100*s+10*ms, attributes("prefill.total_tokens", 64)),
		eventOf("journey.SCHEDULED", 100*s+30*ms, attributes("schedule.kind", "FIRST")),
		eventOf("journey.PREEMPTED", 100*s+40*ms, ""),
		eventOf("journey.SCHEDULED", 100*s+50*ms, attributes("schedule.kind", "RESUME")),
		eventOf("journey.FIRST_TOKEN", 100*s+90*ms, ""),
		eventOf("journey.FINISHED", 101*s+990*ms, attributes("decode.done_tokens", 9)),
	}
	byParent := strings.Replace(spanOf("llm_core", "c", 100, 2, "", events...), `"traceId":"tc",`, `"traceId":"ta","parentSpanId":"a",`, 1)
	byID := spanOf("llm_core", "c", 100, 2, attributes("gen_ai.request.id", "one"), events...)
	want := TracedRequest{
		ID: "one", Start: 0, End: 2e6, Input: 64, Output: 9, Preemptions: 1,
		TTFT: 90_000, E2E: 2e6, Queue: 20_000, Prefill: 60_000, Decode: 1_900_000, Inference: 1_960_000,
		Arrived: 0, Handoff: 4000, Queued: 10_000, Scheduled: 30_000, FirstToken: 90_000, Finished: 1_990_000, Departed: 2e6,
	}
	plain := strings.NewReplacer("journey.", "", "api.", "", "HANDOFF_TO_CORE", "HANDOFF")
	for name, text := range map[string]string{
		"by parent": export(api, byParent), "by id": export(api, byID), "engine first": export(byParent, api), "plain names": plain.Replace(export(api, byID)),
	} {
		trace := readTrace(t, text)
		if len(trace.Requests) != 1 || trace.Requests[0] != want || trace.Used != 2 || trace.OtherEvents != 1 {
			t.Errorf("%s: %d used, %d other events\n got %+v\nwant %+v", name, trace.Used, trace.OtherEvents, trace.Requests, want)
		}
	}
	if trace := readTrace(t, export(byID)); len(trace.Requests) != 1 || trace.Requests[0].Queued != 10_000 || trace.Requests[0].Arrived != vtime.Never {
		t.Errorf("engine alone: %+v", trace.Requests)
	}
	again := strings.ReplaceAll(byID, `"spanId":"c"`, `"spanId":"d"`)
	if trace := readTrace(t, export(api, byID, again)); len(trace.Requests) != 2 || trace.Used != 3 {
		t.Errorf("two sequences of a request: %+v", trace.Requests)
	}
}

func TestSpansOfOthersAreCounted(t *testing.T) {
	other := spanOf("POST /v1/completions", "x", 1, 1, "", eventOf("log", 1, ""))
	trace := readTrace(t, export(first, other, spanOf("scheduler_steps", "5", 1, 1, ""))+export(strings.ReplaceAll(other, `"x"`, `"y"`)))
	want := map[string]int{`named "POST /v1/completions"`: 2, skippedNoSteps: 1}
	if trace.Spans != 4 || trace.Used != 1 || !reflect.DeepEqual(trace.Skipped, want) {
		t.Errorf("%+v", trace)
	}
}

func TestStepsOfATrace(t *testing.T) {
	idle := stepOf(4, "batch.num_prefill_reqs", 0, "batch.num_decode_reqs", 0, "batch.prefill_tokens", 0, "batch.decode_tokens", 0, "batch.scheduled_tokens", 0)
	trace := readTrace(t, steps(stepOf(2), stepOf(3), idle, stepOf(5))+steps2("6", stepOf(1)))
	if trace.Idle != 1 || len(trace.Steps) != 4 || trace.Spans != 2 {
		t.Fatalf("%+v", trace)
	}
	for i, want := range []struct {
		id       int64
		period   float64
		previous bool
	}{{1, 2000, false}, {2, 2000, true}, {3, 2000, true}, {5, 0, false}} {
		s := trace.Steps[i]
		if s.ID != want.id || s.Period != want.period || s.PreviousInSample != want.previous || s.HasSums {
			t.Errorf("%+v, want %+v", s, want)
		}
		if s.Running != 4 || s.Waiting != 1 || s.PrefillTokens != 10 || s.DecodeRequests != 2 || s.KVUsage != 0.5 || s.BlocksFree != 50 || s.Duration != 30 {
			t.Errorf("%+v", s)
		}
	}
}

// A step of which no one says when it began has no period, and a span that is
// called like a step is one.
func TestStepsWithoutAClock(t *testing.T) {
	summary := strings.NewReplacer("step.ts_start_ns", "step.ts").Replace(stepOf(1))
	inner := strings.TrimSuffix(summary[strings.Index(summary, `"attributes":[`)+len(`"attributes":[`):], "]}")
	trace := readTrace(t, steps(stepOf(2))+export(spanOf("step.BATCH_SUMMARY", "6", 1, 1, inner+","+attributes("flag", raw(`{"boolValue":true}`)))))
	if len(trace.Steps) != 2 || trace.Steps[0].Period != 0 || !trace.Steps[1].PreviousInSample || trace.Used != 2 {
		t.Errorf("%+v", trace)
	}
}

func steps2(id string, events ...string) string {
	return export(spanOf("scheduler_steps", id, 1, 1, "", events...))
}

// Three requests in a step: the first chunk of a prompt, the last chunk of
// another, and one whose only output is still on its way, which vLLM counts
// among the prefills.
func TestSnapshotsGiveTheSums(t *testing.T) {
	batch := func(id int) string {
		return stepOf(id, "batch.num_prefill_reqs", 3, "batch.num_decode_reqs", 0, "batch.prefill_tokens", 16, "batch.decode_tokens", 0, "batch.scheduled_tokens", 16)
	}
	trace := readTrace(t, steps(batch(7),
		snapshotOf(7, 50, 20, 0, 10),           // pairs 10·20 + 55
		snapshotOf(7, 105, 100, 0, 5),          // pairs 5·100 + 15, yields a token
		snapshotOf(7, 30, 30, 0, 1),            // a decode that reads 31
		snapshotOf(7, 40, 44, 5, 0),            // not in this batch
		batch(8), snapshotOf(8, 50, 20, 0, 10), // the others were dropped
		stepOf(9), snapshotOf(9, 10, 12, 8, 5), snapshotOf(9, 10, 0, 0, 5), snapshotOf(9, 10, 19, 10, 2), // computed again after a preemption
		snapshotOf(99, 1, 0, 0, 1)))
	s := trace.Steps[0]
	if !s.HasSums || s.PrefillRequests != 2 || s.PrefillTokens != 15 || s.DecodeRequests != 1 || s.DecodeTokens != 1 ||
		s.PrefillPairs != 255+515 || s.PrefillContext != 120 || s.DecodeContext != 31 || s.SampledRows != 2 {
		t.Errorf("%+v", s)
	}
	if s := trace.Steps[1]; s.HasSums || s.PrefillRequests != 3 {
		t.Errorf("%+v", s)
	}
	if s := trace.Steps[2]; !s.HasSums || s.PrefillRequests != 2 || s.DecodeRequests != 1 || s.PrefillPairs != 5*12+15+15 || s.SampledRows != 1 {
		t.Errorf("%+v", s)
	}
}

// aloneNaively looks at all pairs.
func aloneNaively(list []TracedRequest) map[string]bool {
	found := map[string]bool{}
	for i, a := range list {
		free := a.Input > 0 && a.Output > 0 && a.Prefill != Unknown
		for k, b := range list {
			free = free && (i == k || a.End < b.Start || b.End < a.Start)
		}
		if free {
			found[a.ID] = true
		}
	}
	return found
}

func TestAloneIsAloneAmongAllPairs(t *testing.T) {
	const seed = 3
	random := rand.New(rand.NewPCG(seed, 0))
	for range 5000 {
		var list []TracedRequest
		for i := range random.IntN(8) {
			start := vtime.Time(random.IntN(30))
			r := TracedRequest{ID: string(rune('a' + i)), Start: start, End: start.Add(vtime.Duration(random.IntN(6))), Input: 1, Output: 1, Prefill: vtime.Duration(random.IntN(5) - 1)}
			list = append(list, r)
		}
		want, last := aloneNaively(list), vtime.Time(0)
		got := Alone(list)
		for _, r := range got {
			if !want[r.ID] || r.Start < last {
				t.Fatalf("seed %d: %+v of %+v, want %v", seed, got, list, want)
			}
			last = r.Start
		}
		if len(got) != len(want) {
			t.Fatalf("seed %d: %+v of %+v, want %v", seed, got, list, want)
		}
	}
}
