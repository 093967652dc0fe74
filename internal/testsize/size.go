package testsize

import (
	"os"
	"strconv"
	"testing"
)

// Variables that tests read.
const (
	longVariable  = "BLIS_LONG"
	casesVariable = "BLIS_CASES"
)

// isLong reports whether the long size is asked for. -short outweighs it.
func isLong() bool { return os.Getenv(longVariable) != "" && !testing.Short() }

// Longest reports whether BLIS_LONG is all: what takes many minutes and is run now and then.
func Longest() bool { return os.Getenv(longVariable) == "all" }

// Long skips a test that belongs to the long size only.
func Long(t testing.TB) {
	t.Helper()
	if !isLong() {
		t.Skip("a long test: " + longVariable + "=1 runs it")
	}
}

// Of is the value for the present size.
func Of[T any](short, usual, long T) T {
	switch {
	case testing.Short():
		return short
	case isLong():
		return long
	}
	return usual
}

// Cases is the number of random cases of a test: that of BLIS_CASES if it is
// set, that of the present size otherwise.
func Cases(t testing.TB, short, usual, long int) int {
	t.Helper()
	text := os.Getenv(casesVariable)
	if text == "" {
		return Of(short, usual, long)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q: want a number of cases", casesVariable, text)
	}
	return n
}
