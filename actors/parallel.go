package actors

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// parallelFrom is the number of requests from which the end of a run uses several
// goroutines.
const parallelFrom = 1 << 13

// inParallel returns a function that calls f(0) … f(n−1), each once and started in
// that order, on workers goroutines with the caller's, and returns when all have
// returned.
func inParallel(workers int) func(n int, f func(i int)) {
	return func(n int, f func(i int)) {
		var next atomic.Int64
		work := func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				f(int(i))
			}
		}
		var others sync.WaitGroup
		for range min(workers, n) - 1 {
			others.Go(work)
		}
		work()
		others.Wait()
	}
}

// workers is the number of goroutines that the run may use.
func workers(e *Execution) int {
	switch {
	case e.Sequential:
		return 1
	case e.Workers == 0:
		return runtime.GOMAXPROCS(0)
	}
	return e.Workers
}
