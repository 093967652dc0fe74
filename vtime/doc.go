// Package vtime is the clock of the simulation: instants and durations in
// whole microseconds of virtual time, the one rule by which a float becomes
// such a number, random streams that are named by their purpose, and a hash of
// numbers.
//
// Every package may import it and it imports nothing of the project, so it is
// the place to look for "how is time rounded" and "where does randomness come
// from". It never reads a wall clock.
package vtime
