// Package survey says what a source of requests yields: how many, when, how
// long, whose, and how much of their prompts a prefix cache could find again.
//
//	survey.go     Take: one pass over a source with Options; Survey: its result; shares of
//	              tenants, classes and models
//	lengths.go    numbers of tokens: percentiles, histogram, exact moments
//	timeline.go   arrivals over time
//	reuse.go      named content, and what an infinite prefix cache would find
//
// A survey depends on the requests alone. Everything is counted in whole
// numbers; floats appear when the counts are put into words. It holds no
// requests. What its memory grows with is said at each part: with the number
// of different lengths, tenants, sessions, and of different beginnings of
// prompts; not with the number of requests.
//
// A source yields what is known without answers. Requests of a closed loop,
// which are sent when an earlier one has been answered, are not in it, and so
// not in a survey of it.
package survey
