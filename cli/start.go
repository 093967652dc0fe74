package cli

import (
	"os"
	"runtime"
	"runtime/debug"

	cmap "github.com/orcaman/concurrent-map"
)

// A study is thousands of short runs, each a process. What follows sets up
// the process for that; libraries must not, so package actors does not. It
// changes no result.

// firstCollection is the size of the heap at which garbage is collected for
// the first time, in percent of the Go runtime's usual 4 MiB: 16 MiB.
const firstCollection = 400

// tuneGC makes a short run cheap to start: fewer shards in protoactor's
// registry, and a later first garbage collection.
func tuneGC() {
	// protoactor registers processes in 1,024 concurrent maps of SHARD_COUNT
	// shards. The usual 32 cost more than a short run; here actors are
	// registered one after another, so that 1 is as good. It must be set
	// before the first map is made.
	cmap.SHARD_COUNT = 1
	if _, chosen := os.LookupEnv("GOGC"); !chosen {
		collectLate()
	}
}

// collectLate puts the first garbage collection off: a run of a few thousand
// requests never needs it. Later collections come as usual, because memory that
// is reused is cheaper than new memory.
func collectLate() {
	usual := debug.SetGCPercent(firstCollection)
	witness := new(*byte) // holds a pointer, so that it shares its allocation with nothing that lives on
	runtime.AddCleanup(witness, func(percent int) { debug.SetGCPercent(percent) }, usual)
}
