// Package loadgen reads what load generators and servers wrote of the requests
// that they sent or served: when each was sent, how long it was, and how long it
// took. Package traces replays these requests, package calibrate/measured
// compares them with a simulation.
//
//	loadgen.go       Tool, Run, Request, Read
//	recognise.go     Recognise: which tool wrote a text
//	record.go        values of one request, and what they must be
//	vllmbench.go     vllm bench serve --save-result --save-detailed
//	guidellm.go      GuideLLM: benchmarks.json
//	aiperf.go        AIPerf: profile_export.jsonl
//	genaiperf.go     genai-perf (perf_analyzer): profile_export.json
//	inferenceperf.go inference-perf: per_request_lifecycle_metrics.json
//	otlp.go          spans of requests in OTLP-JSON
//
// Files are read once, as a stream; what stays in memory is the result, some 100
// bytes a request. Texts of prompts and answers are passed over. An error is one
// line: file, line, field, the value there, and what would be right.
package loadgen
