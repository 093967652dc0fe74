// Package measured holds the readers of measured serving runs: what a server,
// or a client of it, wrote down. It reads and checks; what follows from the
// numbers is the business of package calibrate.
//
//	run.go        Run, Stage, Request: one measured run, and how its requests are loaded
//	runs.go       ReadRuns: the table of runs, runs.csv
//	requests.go   requests/<id>.csv: what a client measured, request by request
//	engine.go, engine_rows.go   ReadEngine: meta.json and requests.jsonl, with the engine's own times
//	client.go     what load generators wrote, read by package workload/loadgen
//	steps.go, steps_check.go    ReadSteps: Step, the composition of a batch and how long it took
//	otlp.go       ReadOTLP: Trace, the spans of vLLM in OTLP-JSON
//	otlp_span.go, otlp_requests.go, otlp_steps.go   one span, spans of requests, spans of steps
//	alone.go      Alone: the requests that had the server to themselves
//	table.go, jsontext.go, text.go, number.go       CSV, JSON, gzip and numbers beneath
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
