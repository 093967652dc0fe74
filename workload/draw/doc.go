// Package draw makes random numbers into what traffic is made of: gaps between
// arrivals and numbers of tokens.
//
//	variates.go   Variates: uniform, normal and exponential draws from a stream
//	arrivals.go   Arrivals: the instants of an arrival process
//	lengths.go    Length: numbers of tokens
//	lognormal.go  one draw from a lognormal distribution
//	exact.go      log, exp and log Γ with the same bits on every machine
//
// Everything here gives the same bits on every machine. That is why libraries
// are not used to draw: theirs call package math, whose logarithm is assembly
// on one architecture and compiled with fused operations on another. Tests
// hold the draws to gonum's distributions.
package draw
