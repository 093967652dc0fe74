// Package metrics turns what happened in a run into numbers: exact mergeable
// distributions of latencies, counters of instances, and the report with its
// scopes (overall, per class, tenant, model and instance). Each metric is
// defined once, in docs/metrics.md, and computed here only.
//
// The way of a number:
//
//	engine, router → Recorder.Record (one Outcome per request)
//	engine         → Recorder.ITL (one call per step and group), Counters
//	end of the run → Collect: merge, check the books, Report
//
// During a run everything is an integer, so recorders merge to the same bits
// in any order; floats appear only in the report. Nothing here knows clocks,
// actors or files.
//
// The map:
//
//	outcome.go       Outcome: what is known of a request at its end; latencies.go its
//	                 latencies, check.go what must hold for it
//	recorder.go      Recorder: takes outcomes; cell.go sums of class, tenant and model
//	counters.go      Counters of an instance
//	distribution.go  Distribution: an exact multiset; runs.go and compact.go how it is
//	                 stored, sum.go sums in 128 bits
//	summary.go       percentiles without merging, on several workers; select.go of small
//	                 distributions
//	collect.go       Collect: from recorders to a Report; report.go, scope.go
//	targets.go       SLO targets
//	kvtier.go        KVTier: counters of a tier; kvtier_use.go what they say. The same of
//	                 storage tiers (kvstorage.go), prefill/decode disaggregation
//	                 (disaggregation.go) and data-parallel ranks (dataparallel.go)
//	handover.go      HandOver: what another instance did for a request; phases.go how long
//	                 that took
//	deployment.go    Deployment, Pool: what is reported of parts of a run, and their costs
//	series.go        load and KV use over time; integral.go
//	anomalies.go     what went wrong in a run
//	measure.go       Measure: one number of a whole run; Jain's index
//	constraint.go    Constraint: a bound of a Measure
//	fitness.go       a weighted sum of Measures
package metrics
