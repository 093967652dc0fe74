package openmetrics

import "blis/metrics"

// family is a metric with its series.
type family struct {
	name, help, unit string
	kind             string // gauge, counter, histogram
}

// Names, types and meanings are those of vLLM's V1 engine (vllm/v1/metrics/loggers.py, 0.10).
var (
	running = family{"vllm:num_requests_running", "Number of requests in model execution batches.", "", "gauge"}
	waiting = family{"vllm:num_requests_waiting", "Number of requests waiting to be processed.", "", "gauge"}
	usage   = family{"vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", "", "gauge"}

	queries     = family{"vllm:prefix_cache_queries", "Prefix cache queries, in terms of number of queried tokens.", "", "counter"}
	hits        = family{"vllm:prefix_cache_hits", "Prefix cache hits, in terms of number of cached tokens.", "", "counter"}
	preemptions = family{"vllm:num_preemptions", "Cumulative number of preemptions from the engine.", "", "counter"}
	prompt      = family{"vllm:prompt_tokens", "Number of prefill tokens processed.", "", "counter"}
	generation  = family{"vllm:generation_tokens", "Number of generation tokens processed.", "", "counter"}
	success     = family{"vllm:request_success", "Count of successfully processed requests.", "", "counter"}

	iteration = family{"vllm:iteration_tokens_total", "Histogram of number of tokens per engine step.", "", "histogram"}
	itl       = family{"vllm:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", "seconds", "histogram"}
)

// requestHistograms are those with an observation for each request.
var requestHistograms = [...]struct {
	family
	bounds []int64 // µs
}{
	ttftOf:      {family{"vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds.", "seconds", "histogram"}, ttftBounds[:]},
	e2eOf:       {family{"vllm:e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", "seconds", "histogram"}, requestBounds[:]},
	queueOf:     {family{"vllm:request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", "seconds", "histogram"}, requestBounds[:]},
	prefillOf:   {family{"vllm:request_prefill_time_seconds", "Histogram of time spent in PREFILL phase for request.", "seconds", "histogram"}, requestBounds[:]},
	decodeOf:    {family{"vllm:request_decode_time_seconds", "Histogram of time spent in DECODE phase for request.", "seconds", "histogram"}, requestBounds[:]},
	inferenceOf: {family{"vllm:request_inference_time_seconds", "Histogram of time spent in RUNNING phase for request.", "seconds", "histogram"}, requestBounds[:]},
}

// What requestHistograms are of.
const (
	ttftOf = iota
	e2eOf
	queueOf
	prefillOf
	decodeOf
	inferenceOf
	histogramKinds
)

// Inclusive upper bounds of vLLM's buckets, in µs.
var (
	ttftBounds = [...]int64{
		1_000, 5_000, 10_000, 20_000, 40_000, 60_000, 80_000, 100_000, 250_000, 500_000, 750_000, 1_000_000, 2_500_000,
		5_000_000, 7_500_000, 10_000_000, 20_000_000, 40_000_000, 80_000_000, 160_000_000, 640_000_000, 2560_000_000,
	}
	requestBounds = [...]int64{
		300_000, 500_000, 800_000, 1_000_000, 1_500_000, 2_000_000, 2_500_000, 5_000_000, 10_000_000, 15_000_000, 20_000_000,
		30_000_000, 40_000_000, 50_000_000, 60_000_000, 120_000_000, 240_000_000, 480_000_000, 960_000_000, 1920_000_000, 7680_000_000,
	}
)

// gauges are the families of levels.
var gauges = [...]struct {
	family
	kind  metrics.GaugeKind
	share bool // of all KV blocks
}{
	{running, metrics.RunningGauge, false}, {waiting, metrics.WaitingGauge, false}, {usage, metrics.BlocksGauge, true},
}

// counters are the families of what instances count.
var counters = [...]struct {
	family
	kind metrics.CountKind
}{
	{queries, metrics.LookedUpTokensCount}, {hits, metrics.CachedTokensCount}, {preemptions, metrics.PreemptionsCount},
}
