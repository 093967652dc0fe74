package cputime

import (
	"runtime"
	"syscall"
	"time"
)

// Of is the processor time of a function on its own goroutine. What others do
// meanwhile, the garbage collector too, is not in it.
func Of(f func()) time.Duration {
	const thread = 1 // RUSAGE_THREAD
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := used(thread)
	f()
	return used(thread) - before
}

// OfAll is the processor time of the whole process while a function runs.
func OfAll(f func()) time.Duration {
	before := used(syscall.RUSAGE_SELF)
	f()
	return used(syscall.RUSAGE_SELF) - before
}

// used is the processor time of this thread, or process, so far.
func used(who int) time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
