// Package trace is what a run says of its decisions: records of what was
// decided, on what grounds, and what came of it; their forms in files; and
// summaries of them.
//
//	record.go     the records, one type each; what a trace is
//	writer.go     traces into files; append.go, append_rare.go the JSON of records
//	reader.go     and out of them; parse.go from JSON
//	msgpack.go    the other form of files
package trace
