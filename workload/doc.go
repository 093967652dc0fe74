// Package workload says what arrives: requests and the content of their
// prompts, the sources that yield them one by one, and the keys by which the
// prefix cache recognises equal content.
//
// The map:
//
//	request.go    Request, Source, Labels: the types that everyone else sees
//	validate.go   what a legal request is
//	synthetic.go  Synthetic: arrivals and lengths drawn from distributions
//	arrivals.go   the arrival processes; lengths.go the length distributions
//	exact.go      log, exp and log Γ with the same bits on every machine
//	slice.go      Slice: an explicit list of requests
//	trace.go      Trace: requests read from a file, its options
//	table.go      how a trace is held in memory
//	azure.go, mooncake.go, blis.go   one trace format each
//	lines.go, csv.go, number.go      the text beneath the formats
//	tracefile.go  the one place that opens files
//	write.go      WriteCSV: any source as a trace of our own format
//	keys.go       chained block keys over named content
//
// Nothing here reads a clock. What is random comes from streams named
// "workload/<client>/<purpose>", so that a change to one purpose or client
// leaves the draws of every other as they were. Errors about input are one
// line that names the file, line and column, or the option, and says what
// would be right.
//
// Not modelled yet: specifications with several clients, sessions whose next
// round waits for the previous answer, closed loops. Each of them is another
// Source.
package workload
