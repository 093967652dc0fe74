// Package servegen reads the data of ServeGen, measured clients of production
// services: how often each sent requests, ten minutes by ten minutes, and how
// long they were.
//
//	servegen.go   Read: files as clients for package traffic; its options
//	trace.go      windows of rate and arrival process (chunk-N-trace.csv)
//	dataset.go    windows of lengths (chunk-N-dataset.json)
//	literal.go    the dictionaries of lengths inside a dataset
//	notes.go      Notes: what a user should know of the data; moments of fitted distributions
//	text.go       texts as bytes: gzip, sizes, errors
//	files.go      the one place that opens files
//
// Files are read strictly. An error is one line that names the file, line and
// column, or the window, key and position in a dictionary, and says what would
// be right.
package servegen
