//go:build amd64 || arm64

package lookahead

// pause tells the processor n times, at least once, that the caller spins until
// memory changes. A thread that shares the core then gets more of it. Each time
// takes some ten nanoseconds.
func pause(n int)
