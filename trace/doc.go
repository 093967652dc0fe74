// Package trace is what a run says of its decisions: records of what was
// decided, on what grounds, and what came of it; their forms in files; and
// summaries of them.
//
//	record.go     the records, one type each; what a trace is
package trace
