// Package spec reads a specification of a workload in YAML and makes it into
// clients of package traffic. docs/workloads.md is the reference of its fields,
// which are the fields of the public simulator's specification, and more.
//
//	spec.go       Spec, Parse: the top of a specification
//	specfile.go   OpenFile: the one place that opens files
//	object.go     fields of a mapping: names, numbers, durations
//	notes.go      the first fault of a specification; Notes: what was accepted and has
//	              no effect, and which values were filled in
//	client.go     clients, and what cohorts share with them
//	window.go     windows in which a client sends; cohorts and their patterns
//	arrival.go    arrival processes
//	profile.go    how a rate varies over time
//	distribution.go  distributions of tokens, rounds and delays, as they are given
//	lengths.go    numbers of tokens drawn from them
//	media.go      lengths of multimodal prompts
//	session.go    types of requests, sessions, those of the public simulator too
//	graph.go      graphs of calls
//	tenant.go     tenants, their behaviours, and what they have in common
//	targets.go    SLO targets
//	perf.go       inference_perf
//	servegen.go   servegen_data
//	traffic.go    Traffic: a specification as clients of package traffic
//	entries.go    clients written out by cohort and tenant
//	rates.go      which client has which part of the rate
//	expected.go   mean tokens, for a rate that is a share of the capacity
//	draws.go      arrival processes, rate curves and distributions of package draw
//	values.go     values and times from files
//	scenarios.go  the built-in scenarios
//
// A specification is strict: what is unknown, of another type, out of range or
// given twice is one line with file, line and field. Whatever is accepted and
// does nothing is a note. The order of fields in a file never matters, the order
// of clients only where a prefix group has its length from a client above.
package spec
