// Package chrometrace makes a Chrome trace of a run: JSON in the Trace Event Format, which
// ui.perfetto.dev and chrome://tracing open. docs/chrome-trace.md says what is in it.
//
//	recorder.go   Recorder: takes decision records and the outcomes of requests, and keeps them packed
//	options.go    what is kept: cap, window, instances
//	kept.go       what is kept of a step, a request, a transfer, an instant
//	thin.go       what is left out when there are more events than the cap
//	events.go     from what is kept to events in their order
//	phases.go     the phases of a request
//	encode.go     an event as a line of JSON
//	write.go      the file; head.go what it says about itself
//
// Memory does not grow with the run: a Recorder holds no more than the cap allows, and makes
// events only when it writes.
package chrometrace
