// Package input reads the files that a user names: plain files, pipes and
// devices alike, each once and none further than what it is for needs.
//
//	input.go   the limits, and reading a whole file within one
//	nesting/   how deep YAML may be nested, looked at before it is parsed
//	textio/    the text of a file whatever it is packed or encoded as; JSON and
//	           decimal numbers as streams
package input
