// Package draw draws the random numbers of traffic: gaps between arrivals, and
// numbers of tokens.
//
//	variates.go      Variates: uniform, normal and exponential draws from a stream
//	distribution.go  Distribution: of a number; drawn, its moments, its bounds
//	families.go      the kinds of distributions, with the ranges of parameters
//	zipf.go          Zipf's law by rejection-inversion
//	empirical.go     values with weights by the alias method
//	lengths.go       Length and Delay: a number of tokens, a duration
//	process.go       ArrivalProcess: the arrival processes and their parameters
//	gaps.go          gaps between arrivals of a process
//	curve.go         RateCurve: a rate over time, and its windows; flat, spikes, a sinusoid
//	timewarp.go      operational time: maps gaps to a rate curve
//	arrivals.go      Arrivals: the instants of an arrival process
//	bursts.go        Bursts: which arrivals are in a burst, and their share
//	scatter.go       Stage, Scatter: a number of arrivals in a span of time
//	exact.go         log, exp, cos and log Γ with the same bits on every machine
//
// Everything here gives the same bits on every machine. Therefore no library draws:
// libraries call package math, whose logarithm is assembly on one architecture and
// compiled with fused operations on another. Tests compare the draws with the
// distributions of gonum.
package draw
