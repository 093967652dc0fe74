// Package calibrate fits latency models to measured servers and computes the
// errors of predictions. A program reads runs with Load, then calls Train, or
// Validate with subjects; FitSteps fits to traces of steps,
// FitPasses to forward passes.
//
// The map:
//
//	load.go          Load: measured runs from files, ready to be replayed
//	server.go        Server: the engine of a measured run; settings that the run does not name are derived
//	source.go        the requests of a run, with the content of their prompts
//	replay.go        Replay: a prediction for each request of a run
//	compare.go       Comparison: measured and predicted latencies, statistic by statistic
//	summary.go       Summary: errors over several runs
//	ranking.go       Ranking: servers and rates in measured and in predicted order; policies.go the same of policies
//	coefficients.go  Coefficients, and their bounds
//	family.go        Family: the latency models that are linear in their coefficients
//	fit.go           Sample, and the fit to whole runs with the simulation in the loop
//	feature_recorder.go  measured times as sums over the steps of a replay
//	refine.go        simplex search that goes on from a fit
//	holdout.go       HoldOut: fits are tested on data that they have not seen
//	train.go         Train: fit, held-out errors and a coefficient set
//	prefills.go      Prefills: requests that ran alone
//	subject.go       Subject: a latency model to validate, by name
//	validate.go      Validate: predictions of latency models compared with measurements
//	closed_loop.go   ClosedLoopSample: a benchmark of users who ask again and again, and its
//	                 server; closed_loop_replay.go simulates it, for TPOT and its features;
//	                 closed_loop_validate.go compares, by model and kind of server;
//	                 closed_loop_holdout.go tests fits on those held out
//	doubt.go         Doubt: a warning that the server is described wrongly
//	steps.go         FitSteps: ridge on the periods of steps
//	steps_data.go    StepData: the batch of each step; files of several runs
//	passes.go        Pass: forward passes measured alone, without outliers
//	passes_fit.go    FitPasses: least squares within bounds on forward passes
//	passes_report.go the errors of such a fit, its range, and a coefficient set of it
//	steps_rows.go    rows of a fit; steps_folds.go divides them
//	steps_choose.go  γ and the penalty by cross-validation
//	steps_report.go  the errors of the fit, and a coefficient set of it
//
// Package measured reads files, package regress solves least squares in a box. The
// features come from package latency, the engine from package engine: fits use the
// same code as simulations.
//
// Fits are functions of their inputs: equal files and options give equal
// coefficients to the bit, for any number of parallel replays.
package calibrate
