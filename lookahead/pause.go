//go:build amd64 || arm64

package lookahead

// pause tells the processor n times, at least once, that the caller waits for
// memory to change, so that whoever shares the core gets more of it. It takes
// some ten nanoseconds each time.
func pause(n int)
