// Package trace is what a run says of its decisions: records of what was
// decided, on what grounds, and what came of it; their forms in files; and
// summaries of them.
//
//	record.go     the records, one type each; what a trace is
//	writer.go     traces into files; record_methods.go the JSON of records, which is
//	generated from their struct tags (go generate); append.go, number.go of values
//	reader.go     and out of them; parse.go from JSON
//	msgpack.go    the other form of files
//
// A Summary takes records as they come and says of them what fits on a page:
//
//	summary.go                 Summary: what it keeps, the order it holds records to
//	summary_decisions.go       admission, priority and routing records
//	summary_events.go          scale, batch, preemption and anomaly records
//	summary_outcome.go         outcomes, joined with the decisions before them
//	summary_worst.go           regret, the worst decisions, examples
//	summary_table.go           tables, averages and histograms of limited size
//	summary_bins.go            bins of time of a run whose length is not known
//	summary_report.go          Report: the facts, as JSON has them
//	summary_report_where.go    the same: instances, regret, the course of time
//	summary_facts.go           from what was kept to facts
//	summary_issues.go          the same: issues
//	summary_where.go           the same: instances, regret, the course of time
//	summary_text.go            the text, its limit, its numbers and names
//	summary_sections.go        sections of the text and their order
//	summary_sections_where.go  the same: decisions, instances, regret
//	summary_sections_time.go   the same: the course of time, classes and tenants
package trace
