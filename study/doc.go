// Package study answers questions that take many runs. A run is actors.Run on
// one goroutine; a study carries out many of them side by side and keeps of
// each only the measures it is judged by, so that thousands fit into memory.
// What comes out depends on the runs alone: not on how many went on at once,
// nor on which of them ended first.
//
//	pool.go        Pool: many independent tasks over all cores, in order
//	runs.go        Run: the tasks are runs, of which values are kept
//	measures.go    Measures: what these are values of
//	compare.go     Comparison and Plan: several bundles under the same traffic
//	compare_run.go its runs, and what failed
//	intervals.go   where intervals come from, and what runs once
//	bootstrap.go   the moving-block bootstrap; sample.go what it keeps of a run,
//	               resample.go every measure over windows drawn again
//	result.go      Result: what a comparison yields, and its verdicts
//	notes.go       what its reader must know
//	statistics.go  means, intervals and differences of a few replicates
//	regret.go      Regrets: decisions that a run regrets, taken the other way
//	pareto.go      which bundle is beaten in everything by another; the ranking
//
// docs/studies.md says what the numbers mean and where the formulas come from.
package study
