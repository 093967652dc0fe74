// Package textio is what stands beneath all readers of files that people have:
// it opens the text of a file, reads JSON as a stream, and reads decimal numbers
// by their digits.
//
//	open.go      Open: the text of a file, unpacked and in UTF-8
//	kinds.go     files that are no text, by their first bytes
//	zip.go       the one file within a zip archive, as a stream
//	encoding.go  UTF-16, and lines that end in CR alone
//	json.go      JSON: values one after the other, in bounded memory
//	jsonvalue.go strings, numbers and literals of JSON
//	decimal.go   Scaled: a decimal number as a whole number of units
//
// Nothing here opens a file or knows what its text means. Errors say what the
// file is and what would be right; callers put its name before them.
package textio
