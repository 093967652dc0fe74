// Package cli is the command blis, which simulates clusters of LLM inference
// servers in virtual time. A program of a few lines that calls Main is the
// command; policies that it registers before belong to it.
//
// The package parses, calls and prints; what it prints of results is made in
// package report, everything else in the packages below. Results go to stdout,
// all else to stderr. Exit codes: 0 done, 1 a check failed, 2 usage or input
// error, 3 the model does not fit, 5 to 7 of capacity, 130 interrupted, with the partial result
// written.
//
//	main.go      the process and the list of commands; console.go the streams,
//	             progress.go what they show meanwhile; errors.go exit codes and
//	             errors as JSON
//	settings.go  the flags of commands with runs; config.go files and environment;
//	             bundle.go what all of them say of policies
//	run.go       blis run; output.go the files it writes,
//	             output_destination.go under which names
//	trace.go     blis trace summarize, and the decision trace of run
//	compare.go   blis compare; compare_bundles.go what its arguments are
//	capacity.go  blis capacity; size.go blis size
//	train.go     blis train; measured.go what it and validate say of the servers
//	help.go      blis help and every --help; help_flags.go the flags on it
//
// Each other command has the file of its name.
package cli
