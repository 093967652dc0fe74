package cputime

import (
	"runtime"
	"syscall"
	"time"
)

// Of is the processor time of a function on its own goroutine. What others do
// meanwhile, the garbage collector too, is not in it.
func Of(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := thread()
	f()
	return thread() - before
}

// thread is the processor time of this thread.
func thread() time.Duration {
	const ofThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if syscall.Getrusage(ofThread, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
