// Package workload defines what arrives at a cluster: requests, the content of their
// prompts, and the keys by which a prefix cache recognises equal content.
//
// The map:
//
//	request.go    Request, Source, Labels: the types that all other packages use
//	labels.go     Label, Tags: names of tenants, classes and models as numbers
//	validate.go   the rules of a legal request
//	slice.go      Slice: an explicit list of requests; Collect: the requests of a source
//	loop.go       ClosedLoop: a source in which requests follow from answers
//	play.go       Play: the requests of such a source, without a cluster
//	keys.go       chained block keys over named content
//	extent.go     runs of blocks by spans of content
//
// The packages below are sources of requests:
//
//	draw          random numbers: arrival processes, distributions of lengths
//	traffic       sources that generate requests
//	loadgen       result files of load generators, with the requests that they sent
//	traces        sources that read requests from files
//	servegen      clients for traffic, from the files of ServeGen
//	spec          clients for traffic, from a YAML specification
//	survey        statistics of the requests of a source
//
// Nothing here reads a clock. Random numbers come from streams named
// "workload/<client>/<purpose>", so a change to one client or purpose does not change
// the draws of the others. An error about input is one line that names the file,
// line and column, or the option, and what would be right.
package workload
