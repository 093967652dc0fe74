//go:build !linux

package cputime

import "time"

// OfAll calls a function. It is not measured here: 0.
func OfAll(f func()) time.Duration { return Of(f) }

// Of calls a function. It is not measured here: 0.
func Of(f func()) time.Duration {
	f()
	return 0
}
