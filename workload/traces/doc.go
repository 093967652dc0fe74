// Package traces reads requests from files, and writes them.
//
//	trace.go, options.go   Trace: requests read from a file, and options of their replay
//	guess.go      recognises the format of a text
//	table.go      a trace in memory
//	azure.go, mooncake.go, burstgpt.go, tokens.go, lengths.go, blis.go   one format each
//	inferencesim.go, inferencesim_header.go, inferencesim_sessions.go   the format of the public simulator
//	tools.go      what load generators wrote, read by package loadgen
//	sessions.go   names, sessions and their rounds: numbered, and no round twice
//	chains.go     contents that have the ids of their tokens
//	lines.go, csv.go, json.go, json_values.go, number.go   the text beneath the formats
//	notes.go      fields of a file that were not used, or are likely mistakes
//	tracefile.go  the one place that opens files
//	write.go      Write: any source as a trace of our own format
//
// Errors about input are one line that names the file, line and column, or the
// option, and says what would be right.
package traces
