// Package testsize says how much a test does. There are three sizes: that of
// `go test -short`, the usual one, and the long one, which BLIS_LONG=1 asks for
// and `.ci/run` uses.
package testsize
