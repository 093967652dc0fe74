// Package trace records the decisions of a run: records of each decision, what it
// saw, and the outcome; their forms in files; and summaries of them.
//
//	record.go     the records, one type each; what a trace is
//	writer.go     traces into files; record_methods.go the JSON of records, which is
//	generated from their struct tags (go generate); append.go, number.go of values
//	reader.go     and out of them; parse.go from JSON, parse_quick.go
//	from the form of JSON that a Writer has
//	msgpack.go    the other form of files
//	below.go      what of the records a lower level has
//
// A Summary takes records as they come and reports them as facts and as a text of
// limited length:
//
//	summary.go                 Summary: what it keeps, the order it holds records to; Report
//	summary_decisions.go       admission, priority, routing and scale records; regret
//	summary_outcome.go         batches, preemptions, anomalies; outcomes, joined with the decisions before them
//	summary_table.go           tables, averages, histograms, examples and bins of time, all of limited size
//	summary_report.go          Report: the facts, as JSON has them
//	summary_facts.go           from what was kept to facts; summary_targets.go whose targets count
//	summary_prefix.go          prefix cache misses that another choice would have avoided, as facts and text
//	summary_bursts.go          bursts of tenants, and what others missed meanwhile
//	summary_focus.go           areas that a text may be about
//	summary_text.go            the text, its limit, its numbers and names
//	summary_sections.go        sections of the text and their order
//	summary_sections_where.go  the same: decisions, instances, regret
package trace
