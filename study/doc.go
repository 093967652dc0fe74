// Package study answers questions that take many runs. A run is actors.Run on
// one goroutine; a study carries out many of them in parallel and keeps only the
// measures of each, so that thousands fit into memory. The result depends on the
// runs alone, not on the number of goroutines or on the order in which runs end.
//
//	pool.go        Pool: many independent tasks over all cores, in order; Run: the tasks
//	               are runs, of which values are kept
//	measures.go    Measures: the measures of a run
//	compare.go     Comparison and Plan: several bundles under the same traffic
//	compare_run.go its runs, and what failed
//	intervals.go   the method of the confidence intervals; bundles that run once
//	bootstrap.go   the moving-block bootstrap; sample.go the requests of a run,
//	               resample.go every measure over windows drawn again
//	result.go      Result: estimates, differences and verdicts
//	notes.go       notes on the result
//	one_latency.go one latency model for configurations that would get several
//	sweep.go       Sweep: many configurations; sweep_sample.go which combinations of
//	               values, sweep_where.go the condition that they keep, sweep_plan.go
//	               its points, sweep_key.go their keys, sweep_inputs.go the files that
//	               they read, sweep_run.go their runs
//	statistics.go  means, intervals and differences of a few replicates
//	one_latency.go ChooseLatency: the one latency model of configurations that would get several
//	capacity.go    Capacity: the highest load, or the smallest cluster, that keeps SLOs;
//	               capacity_axis.go what is searched over, capacity_pilot.go how long
//	               windows are, capacity_find.go the search, by package study/certify,
//	               capacity_result.go
//	size.go        Sizing: the smallest cluster, by GPU, TP, token budget and instances;
//	               size_candidate.go one of them
//	frontier.go    Frontier: capacity against cost of several clusters
//	slo.go         SLO: a bound over the requests of a window; sampler.go the measure alone,
//	               over requests of several runs; window.go one window of a
//	               run, ahead.go windows on several goroutines
//	regret.go      Regrets: the decisions with the largest regret, replayed
//	pareto.go      Pareto dominance and the ranking of bundles
//
// docs/studies.md says what the numbers mean and where the formulas come from.
package study
