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
// Where to look: distribution.go (the multiset), runs.go (how it is stored),
// summary.go (percentiles without merging), outcome.go and latencies.go (one
// request), check.go (what must hold for it), recorder.go and cell.go (the
// sums), collect.go and report.go (the result), summaries.go (percentiles,
// computed on several workers), targets.go (SLO targets), fairness.go (Jain's
// index), series.go and integral.go (load and KV use over time), anomalies.go,
// measure.go (measures of whole runs), fitness.go (their weighted sum).
package metrics
