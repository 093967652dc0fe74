// Package actors is the simulated cluster: a router, an autoscaler and the
// instances as actors that exchange timestamped messages, a collector that
// hears the outcome of every request, and the board on which instances publish
// what policies observe. [Run] is the library's front door: everything that
// the command line can do is a call of it.
//
//	config.go      every setting of a run, with its default
//	check.go       what a setting can be
//	plan.go        from settings to model, cache size, limits, source, policies
//	cluster.go     which process is who, and who may run how far
//	router.go      arrival, admission, routing (semantics 1 and 6)
//	intake.go      requests off the source, some ahead of time
//	instance.go    one engine behind the protocol
//	autoscaler.go  periodic scale checks
//	collector.go   outcomes in order of arrival; row.go what it hands out
//	parallel.go    the end of a run on all workers
//	wait.go        which policy holds a run back
//	board.go       observation: live, periodic, and the twin that reads engines
//	message.go     the fields of each message
//	verify.go      one configuration on many executors, one digest
package actors
