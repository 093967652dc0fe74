// Package evaluator evaluates candidates of search programs in processes of their own, which can
// take no more time and memory than they may. What an evaluation is says package evaluate; how a
// process is limited says package confine.
//
//	evaluator.go   Evaluator: one candidate after another, or several side by side
//	child.go       Child: the work of a process
//	candidate.go   candidates as search programs write them: one text, or components
//	batch.go       Batch: candidates as JSON Lines
//	server.go      Server: the HTTP server that GEPA's engines speak to
//
// docs/search.md has the formats.
package evaluator
