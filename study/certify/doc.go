// Package certify finds how far a random system holds, and says so with an error
// probability. The system is tried on a ladder of loads, from the lightest to the heaviest;
// a window is one try, which passes or fails. p, the share of windows that pass, falls from
// rung to rung. The answer is two claims: p is at least q on one rung, and below q on a rung
// above it. The chance that either is wrong is at most α = 1 − confidence.
//
// The search for the two rungs needs no guarantee. The guarantee comes from windows of
// fresh seeds, used for nothing else. Each end is tested by an e-value, the product of
// likelihood ratios of the windows so far: under every p for which the claim is wrong its
// expected value never exceeds 1, so that it reaches 1/a with a probability of at most a
// whenever one looks and stops (Ville 1939). The m-th attempt at an end needs 2^(m+1)/α; an
// attempt that is given up moves its end outward by a rung. The rung of an attempt depends
// on earlier windows alone, so the probabilities of all attempts add up to at most α.
//
// Windows are consumed in a fixed order. A System may run windows ahead that will probably
// be wanted; the answer is the same.
//
//	ladder.go   rungs for rates and for whole numbers
//	seeds.go    which seeds a window has
//	test.go     the short test of the search, and the e-value of an attempt
//	certify.go  Find: search, both ends, longer windows
//	bisect.go   Bisect: the same for a system without chance, where one window is all
package certify
