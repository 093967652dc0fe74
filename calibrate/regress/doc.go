// Package regress fits linear coefficients to observations: weighted least
// squares with a ridge, inside bounds.
//
// The map:
//
//	system.go   System: observations added up to normal equations
//	box.go      Solve: the minimum inside a box, by active sets
//	spread.go   effective degrees of freedom and standard errors
//
// Nothing here knows of servers or steps. Everything is a function of its
// arguments: equal observations in equal order give equal bits on one machine.
package regress
