// Package html makes one HTML page of stored JSON results: of blis run, compare, sweep
// show, capacity (--frontier too) and validate.
//
// The page needs no network and no server. Its script and its style are constant, so the
// Content-Security-Policy in its head names them by their hashes and allows nothing else.
// All that a result says stands in the page as escaped text, or as JSON that the script
// reads; a name in a result never becomes markup. Equal documents give equal bytes: the
// page holds no date, host, path or time of its making.
//
//	html.go      Write: documents to a page, and what is wrong with a document
//	parser.go    JSON with the order of its keys, lists of numbers and places of errors; json.go its values
//	page.go      the frame of the page: policy, script, style, data; sheet.go what
//	             several kinds of documents have
//	names.go     names and text from results, made safe to look at
//	number.go    how numbers print
//	table.go     tables; plot.go, ticks.go charts that need no script
//	series.go    charts over time that the script draws; heat.go the heat map
//	run*.go      a run; compare.go, sweep.go, capacity.go, frontier.go, validate.go the others
//	assets/      script and style of this package, vendor/ uPlot 1.6.32 with its licence
//
// Tables and the charts of plot.go are readable without script. What the script draws has
// a table beside it.
package html
