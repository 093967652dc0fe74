// Package bench measures how fast a run is: the scenarios of the speed budget
// as Go benchmarks and for `blis bench`.
//
//	api.go         Options, Report and Run: what the command line calls
//	scenarios.go   the workloads, their budgets and growth limits
//	process.go     one run as a process of its own: wall, CPU, memory, digest
//	calibrate.go   how fast the machine is at the moment, to scale budgets by
//	measure.go     medians per scenario and number of cores
//	growth.go      CPU times of pairs of scenarios
//	allocations.go heap allocations per request, in process
//	compare.go     against an earlier report or another binary
//	text.go        the table
//
// The budget means the whole process, from its start to the printed result,
// so the figures come from child processes of the same binary. README.md says
// how to measure and what came out.
package bench
