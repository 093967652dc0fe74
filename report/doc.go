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
//	document.go   what every result can do; JSON
//	run.go        a run: run_json.go and latencies.go, replicas.go, sessions.go,
//	              scaling.go its parts as JSON; run_text.go and anomalies.go,
//	              fitness.go, checks.go, findings.go as text; rows.go requests
//	warnings.go   what a reader of a run must know; scaling_warnings.go of one
//	              with an autoscaler
//	execution.go  how a run was carried out
//	compare.go    a comparison: compare_json.go, compare_tables.go,
//	              compare_text.go and its parts
//	survey.go     a workload: survey_text.go, survey_plot.go
//	model.go      a model: model_text.go
//	train_*.go    fits of latency models; validate_*.go, prefills.go what they are
//	              worth
//	errors.go     why there is no result; version.go which program computed it
package report
