// Package measured reads measurements of servers: files that a server or its client
// wrote. It reads and checks; package calibrate computes with the numbers.
//
//	run.go        Run, Stage, Request: one measured run; Load reads its requests
//	runs.go       ReadRuns: the table of runs, runs.csv
//	requests.go   requests/<id>.csv: what a client measured, request by request
//	engine.go, engine_rows.go   folders with meta.json and requests.jsonl, with the engine's own times
//	client.go     files of load generators, read by package workload/loadgen
//	closed_loop.go   ReadClosedLoops: benchmarks of users who ask again and again
//	steps.go      ReadSteps: Step, the composition of a batch and its time
//	passes.go     files of forward passes, which ReadSteps reads too
//	otlp.go       ReadOTLP: Trace, the spans of vLLM in OTLP-JSON
//	otlp_span.go, otlp_requests.go, otlp_steps.go   one span, spans of requests, spans of steps
//	              Alone: the requests that ran alone on the server
//	table.go, jsontext.go, text.go                  CSV, JSON, gzip and numbers beneath
//
// All files may be gzip, recognised by the first bytes. They are streamed;
// what stays in memory is the result.
//
// # Time
//
// Results are in whole microseconds. A number of seconds in a file is taken by
// its digits, not as a float, so 1712345678.1234567 loses nothing: clocks are
// read to the nanosecond, the origin is subtracted, and what is left is rounded
// to the microsecond, half to even. Times that do not fit are errors.
//
// # Errors
//
// An error is one line: file, line, field, the value there, and what would be
// right. Nothing is left out silently: a row or span that is not understood is
// an error or is counted.
package measured
