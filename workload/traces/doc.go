// Package traces reads requests from files, and writes them.
//
//	trace.go, options.go   Trace: requests read from a file, how they are replayed
//	guess.go      which format a text is of
//	table.go      how a trace is held in memory
//	azure.go, mooncake.go, burstgpt.go, tokens.go, lengths.go, blis.go   one format each
//	inferencesim.go, inferencesim_header.go, inferencesim_sessions.go   the format of the public simulator
//	tools.go      what load generators wrote, read by package loadgen
//	rounds.go     rounds of sessions: counted, and none twice
//	chains.go     contents that have the ids of their tokens
//	lines.go, csv.go, json.go, json_values.go, number.go, names.go   the text beneath the formats
//	rate.go       the mean rate of a trace, and another in its place
//	notes.go      what of a file was not used, or is unlikely to be meant
//	tracefile.go  the one place that opens files
//	write.go      Write: any source as a trace of our own format
//
// Errors about input are one line that names the file, line and column, or the
// option, and says what would be right.
package traces
