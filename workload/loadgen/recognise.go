package loadgen

import (
	"fmt"
	"strings"
)

// Recognise tells by the beginning of a text, as much of it as there is at hand,
// which tool wrote it; empty for a text of none. A file of a tool that has no
// requests in it is an error, which says what the file is and which one is
// wanted.
func Recognise(beginning string) (Tool, error) {
	start := strings.TrimLeft(beginning, " \t\r\n")
	has := func(keys ...string) bool {
		for _, key := range keys {
			if !strings.Contains(start, `"`+key+`"`) {
				return false
			}
		}
		return true
	}
	list := strings.HasPrefix(start, "[")
	if !list && !strings.HasPrefix(start, "{") {
		return "", recogniseText(start)
	}
	switch {
	case has("resourceSpans"):
		return OTLP, nil
	case has("metadata", "request_start_ns", "payload") && !has("metrics"):
		return "", fmt.Errorf("AIPerf's raw records, texts without token counts: want profile_export.jsonl beside it")
	case has("metadata", "request_start_ns"):
		return AIPerf, nil
	case !list && has("experiments"):
		return GenAIPerf, nil
	case !list && has("benchmarks"), has("guidellm_version"):
		return GuideLLM, nil
	case list && has("start_time", "end_time") && (has("request") || has("info")):
		return InferencePerf, nil
	case has("input_lens"), has("itls"), has("ttfts"), has("num_prompts", "request_throughput"), has("max_concurrency", "request_throughput"):
		return VLLMBench, nil
	}
	return "", useless(has)
}

// useless names files of known tools that do not list requests with lengths.
func useless(has func(...string) bool) error {
	for _, u := range []struct {
		keys []string
		text string
	}{
		{[]string{"load_summary", "successes"}, "a summary of inference-perf: want per_request_lifecycle_metrics.json, written with report.request_lifecycle.per_request: true"},
		{[]string{"input_config", "request_latency"}, "a summary of AIPerf or genai-perf: want AIPerf's profile_export.jsonl, or genai-perf's profile_export.json"},
		{[]string{"input_config", "request_throughput"}, "a summary of AIPerf or genai-perf: want AIPerf's profile_export.jsonl, or genai-perf's profile_export.json"},
		{[]string{"session_id", "payloads"}, "inputs of AIPerf, texts without token counts: want profile_export.jsonl"},
		{[]string{"conversations", "from"}, "a dataset of conversations (ShareGPT), texts without arrivals and token counts: want a trace, or a specification with its lengths"},
		{[]string{"custom_id", "body"}, "a batch of OpenAI's API, texts without arrivals and token counts: want a trace"},
		{[]string{"traceID", "operationName"}, "spans as Jaeger exports them: want OTLP-JSON, as the OpenTelemetry collector's file exporter writes it"},
		{[]string{"traceId", "localEndpoint"}, "spans as Zipkin exports them: want OTLP-JSON, as the OpenTelemetry collector's file exporter writes it"},
		{[]string{"schema", "blis.run/v1"}, "a result of blis run: want the rows that --requests-out wrote, or the trace itself"},
		{[]string{"request", "arrival_us", "state"}, "rows of blis run as JSON: want them as CSV (--requests-out FILE.csv)"},
		{[]string{"traceEvents"}, "a timeline in Chrome's trace format: want a trace of requests"},
	} {
		if has(u.keys...) {
			return fmt.Errorf("%s", u.text)
		}
	}
	return nil
}

// recogniseText names texts of known tools that are no JSON.
func recogniseText(start string) error {
	switch {
	case strings.HasPrefix(start, "# HELP "), strings.HasPrefix(start, "# TYPE "):
		return fmt.Errorf("metrics in Prometheus' text format, which have no requests: want what a load generator wrote, or spans (OTLP-JSON)")
	case strings.Contains(start, "generative_benchmark") && !strings.Contains(strings.SplitN(start, "\n", 2)[0], ","):
		return fmt.Errorf("a report of GuideLLM as YAML: want benchmarks.json")
	case strings.HasPrefix(start, "#!"):
		return fmt.Errorf("a script: want a trace")
	}
	return nil
}
