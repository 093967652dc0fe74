// Package race selects the best of several systems with as few replicates as
// it can: all run with the same seeds, and a system leaves as soon as another is
// clearly better. The package runs nothing: it says what to run, is told what came
// of it, and says who is left.
//
//	race.go    Race: New, Want, Observe, and the end of a race
//	screen.go  the rule of elimination
//	result.go  Result: who was selected, who left when, and what was saved
//
// The procedure is that of Kim and Nelson with c = 1, for systems whose runs share
// random numbers:
//
//	S.-H. Kim and B. L. Nelson, A fully sequential procedure for
//	indifference-zone selection in simulation, ACM Transactions on Modeling and
//	Computer Simulation 11 (3), 2001, pages 251 to 273.
//
// If the mean of the best system leads by Delta or more, the race selects it with
// probability 1 − Alpha or more. What is assumed: the values of a replicate over
// systems are jointly normal, and replicates are independent. If several systems
// are within Delta of the best one, the race selects one of the systems within
// Delta as a rule; the paper does not prove that.
package race
