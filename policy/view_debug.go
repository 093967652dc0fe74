//go:build debug

package policy

// checkReads makes View panic on a read of a signal that was not declared.
const checkReads = true
