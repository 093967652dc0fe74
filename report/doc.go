// Package report writes results: for programs as JSON, CSV and rows, for people
// as text. What the command blis prints of a result is made here, so that a
// program that calls actors.Run or study.Compare gets the same:
//
//	result, err := actors.Run(ctx, cfg)
//	…
//	err = report.JSON(os.Stdout, result)
//
// It computes nothing but what a reader needs to trust the numbers: warnings.
//
//	document.go   the forms that every result has; JSON; the version of the program
//	run.go        a run: run_json.go, latencies.go, scaling.go as JSON; run_text.go,
//	              run_measures.go, kvtier.go, findings.go as text; rows.go its requests
//	warnings.go   what a reader of a run must know; scaling_warnings.go of one
//	              with an autoscaler
//	execution.go  how a run was carried out, and why there is no result
//	compare.go    a comparison: compare_json.go, compare_tables.go,
//	              compare_text.go and its parts
//	survey.go     a workload: survey_text.go
//	model.go      a model: model_text.go
//	train_*.go    fits of latency models; validate_*.go their errors
package report
