//go:build !linux

package confine

// theLimits are not of the kernel here.
func theLimits() string { return "" }
