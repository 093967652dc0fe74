// Package cli is the command blis, which simulates clusters of LLM inference
// servers in virtual time. A program of a few lines that calls Main is the
// command; policies that it registers before belong to it.
//
// The package parses, calls and prints; what it prints of results is made in
// package report, everything else in the packages below. Results go to stdout,
// all else to stderr. Exit codes: 0 done, 1 a check failed, 2 usage or input
// error, 3 the model does not fit, 130 interrupted, with the partial result
// written.
//
//	main.go      the commands; console.go the streams, progress.go what they
//	             show meanwhile; errors.go exit codes, errors_json.go errors as
//	             JSON; start.go the process
//	settings.go  the flags of run, verify and compare; config.go files and environment;
//	             preset.go what --workload stands for; timeout.go how clients wait;
//	             bundle.go what all of them say of policies; config_bundle.go
//	             where in a file that stands
//	vllm.go      what run, verify and compare make of the flags of vllm serve;
//	             vllm_flags.go lists these
//	run.go       blis run; output.go the files it writes,
//	             output_destination.go under which names; trace.go its decision
//	             trace; trace_summarize.go blis trace summarize
//	verify.go    blis verify
//	compare.go   blis compare; compare_bundles.go what its arguments are
//	workload.go  blis workload show; workload_export.go export and convert;
//	             workload_scenarios.go scenarios
//	list.go      blis policies, hardware
//	models.go    blis models; models_sets.go lists coefficients
//	train.go     blis train; train_steps.go its ridge on steps
//	validate.go  blis validate; measured.go what both say of the servers
//	bench.go     blis bench
//	help.go      blis help and every --help; help_flags.go the flags on it
//	version.go   blis version; completion.go what shells complete,
//	             completion_scripts.go how they ask
package cli
