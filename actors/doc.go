// Package actors is the simulated cluster: a router, an autoscaler and the
// instances as actors that exchange timestamped messages, a collector that
// hears the outcome of every request, and the board on which instances publish
// what policies observe. [Run] is the library's front door: everything that
// the command line can do is a call of it.
//
//	config.go      every setting of a run, with its default; defaults.go sets these
//	run.go         Run and Check; result.go, scaling_result.go what comes of it
//	judged.go      a run as measures see it, what its instances cost
//	check.go       what a setting can be
//	plan.go        from settings to model, cache size, limits, source
//	workload.go    the source of a run, without the run
//	plan_scaling.go
//	               whether and between which bounds instances come and go
//	policies.go    from settings and bundle to policies
//	idle.go        settings that others leave without an effect
//	shortcut.go    which settings are fields of the bundle
//	cluster.go     which process is who, and who may run how far
//	sums.go        how large what a run sums up may get
//	router.go      arrival, admission, routing
//	promise.go     what it will do next, and promises not to do before
//	loop.go        requests that follow from answers
//	ahead.go       how far it may be ahead of the instances
//	intake.go      requests off the source, some ahead of time; which can be
//	schedule.go    decisions of the router that are to come
//	fate.go        requests that end with the router
//	instance.go    one engine behind the protocol
//	autoscaler.go  scale checks; trigger.go those that events call for
//	scaling.go     the router's part in them: more, fewer, requests given back
//	replicas.go    its book of the instances, with their phases and costs
//	bitset.go      which instances have news
//	actuation.go   how a scale decision is carried out, as settings
//	collector.go   outcomes in order of arrival; row.go what it hands out
//	parallel.go    the end of a run on all workers
//	wait.go        which policy holds a run back
//	sight.go       what the router knows of the instances when it decides
//	ticks.go       requests that arrive together
//	boards.go      which signals are told where; cadence.go how often
//	board.go       observation: live, periodic, and the twin that reads engines
//	feed.go        boards for signals of another cadence, or asked for
//	refresh.go     what instances leave behind at refreshes
//	recent.go      latencies of the last requests that completed
//	prefixes.go    what the router expects in prefix caches; forced routing
//	message.go     kinds of messages and how their fields are written:
//	message_request.go
//	               requests delivered, returned, ended
//	message_control.go
//	               scaling, prefix caches
//	message_trace.go, message_routing.go
//	               messages to the tracer
//	tracing.go     what is asked of a decision trace, and the router's part in it
//	tracer.go      the records made of them; trace_end.go the end of a trace
//	recall.go      what was on its way when a run was cancelled
//	verify.go      one configuration on many executors, one digest
package actors
