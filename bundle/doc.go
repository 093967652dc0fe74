// Package bundle reads, changes, completes and writes the file that names the
// policies of a run. It knows policies by their templates alone (package policy).
//
// Where to look:
//
//	bundle.go      what a bundle holds, its sections and fields as a table
//	read.go        a document becomes a bundle; document.go YAML becomes a document;
//	               translate.go files of other simulators
//	set.go         single fields are changed, as by --set
//	complete.go    defaults are filled in; whether the policies draw
//	write.go       as YAML and as JSON; id.go a name for what a bundle says
package bundle
