// Package traces reads requests from files, and writes them.
//
//	trace.go      Trace: requests read from a file, its options
//	table.go      how a trace is held in memory
//	azure.go, mooncake.go, blis.go   one trace format each
//	lines.go, csv.go, number.go      the text beneath the formats
//	tracefile.go  the one place that opens files
//	write.go      Write: any source as a trace of our own format
//
// Errors about input are one line that names the file, line and column, or the
// option, and says what would be right.
package traces
