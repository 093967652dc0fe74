// Package plaintext is how results look for a person: numbers with few digits
// and separators, labelled lines that wrap, tables that fit a terminal.
//
//	lines.go    lines with a label; wrapping at blanks
//	columns.go  tables
//	numbers.go  numbers, durations, sizes
//	bars.go     rows of block characters
package plaintext
