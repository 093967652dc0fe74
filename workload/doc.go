// Package workload says what arrives: requests and the content of their
// prompts, and the keys by which the prefix cache recognises equal content.
//
// The map:
//
//	request.go    Request, Source, Labels: the types that all other packages use
//	labels.go     Label, Tags: names of tenants, classes and models as numbers
//	validate.go   what a legal request is
//	slice.go      Slice: an explicit list of requests; Collect: the requests of a source
//	loop.go       ClosedLoop: a source in which requests follow from answers
//	play.go       Play: what such a source would send, without a cluster
//	keys.go       chained block keys over named content
//	extent.go     runs of blocks by spans of content
//
// Where requests come from is the business of the packages below:
//
//	draw          random numbers: arrival processes, distributions of lengths
//	traffic       sources that generate requests
//	loadgen       what load generators wrote of the requests that they sent
//	traces        sources that read requests from files
//	servegen      clients for traffic, as ServeGen's files describe them
//	spec          clients for traffic, as a YAML specification describes them
//	survey        what a source yields, counted
//
// Nothing here reads a clock. What is random comes from streams named
// "workload/<client>/<purpose>", so that a change to one purpose or client
// leaves the draws of every other as they were. Errors about input are one
// line that names the file, line and column, or the option, and says what
// would be right.
package workload
