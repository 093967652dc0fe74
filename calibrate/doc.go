// Package calibrate fits latency models to measured servers and says how far
// off they are.
//
// The map:
//
//	server.go        Server: the engine of a measured run, with what it leaves open derived
//	source.go        its requests, with the identity of their prompts
//	replay.go        Replay: what the simulation says of each of them
//	load.go          Load: runs from files, ready to be replayed
//	subject.go       Subject: a latency model that is judged
//	compare.go       Comparison: measured beside predicted, statistic by statistic
//	summary.go       Summary: errors over several runs
//	coefficients.go  what a coefficient may be
//	family.go        Family: the latency models that are linear in their coefficients
//	feature_recorder.go  measured times as sums over the steps of a replay
//	fit.go           FitRuns: simulation in the loop; polish.go searches on from there
//	holdout.go       Folds, Judge: fits judged by what they have not seen
//	prefills.go      Prefills: requests that ran alone
//	steps.go         FitSteps: ridge on the periods of steps; steps_rows.go and
//	                 steps_batch.go make rows of steps, steps_folds.go and
//	                 steps_choose.go choose γ and the penalty, steps_report.go says
//	                 how good the fit is, steps_set.go makes a coefficient file,
//	                 steps_group.go divides a file of several runs
//	train.go         Train: a coefficient file with its errors
//	validate.go      Validate: latency models beside measurements
//	doubt.go         Doubt: errors that say that the model of the server is wrong
//	ranking.go       whether they put servers and rates in the right order
//
// Below it stand measured (readers of files) and regress (least squares in a
// box). The features come from package latency, the engine from package engine:
// what is fitted is what runs.
//
// Fits are functions of their inputs: equal files and options give equal
// coefficients to the bit, whatever the number of replays side by side.
package calibrate
