// Package actors is the simulated cluster: a router, an autoscaler and the
// instances, which are actors that exchange messages with timestamps; a collector,
// which receives the outcome of every request; and the snapshots in which instances
// publish what policies observe. [Run] is the front door of the library: everything
// that the command line can do is a call of it.
//
// Package setup says what a configuration means; a run begins with its plan.
//
//	config.go      settings and execution of a run
//	run.go         Run and Check; result.go their results: of a run, of one request,
//	               of scaling; load.go how loaded the instances were
//	reach.go       where a run left the data of its latency models
//	costs.go       what instances cost, and the figures that measures read
//	events.go      the bound on the events of a run
//	pool_result.go, failure_result.go, printed.go
//	               what a result says of pools, of failures, and what policies print
//	semantics.go   the version of what a run computes
//	workload.go    the source of a run, without the run
//	wait.go        which policies keep a run from running in parallel
//
// The actors. What makes one of a plan stands in its file:
//
//	cluster.go     which process is which actor, and how far each may run; end.go the
//	               end of a run, complete or cancelled
//	router.go      arrival and admission; router_end.go requests that end there
//	promise.go     what the router will do next, and promises not to do before
//	intake.go      requests from the source, some of them ahead of time; how many
//	               arrive together
//	loop.go        requests that follow from answers
//	schedule.go    decisions at later times
//	prefixes.go    what the router expects in prefix caches; forced routing
//	routing.go     routing decisions, and what follows from them
//	services.go    the deployments that serve one model together
//	apart.go       deployments that share nothing, with requests of their own; apart_run.go
//	               runs them side by side and joins their results
//	gate.go        admission policies: one for the run, or one for each model
//	gateway.go     the queue before routing; gateway_ticks.go when it acts,
//	               gateway_load.go how full it finds the instances,
//	               gateway_evict.go what it takes back from them, gateway_result.go
//	               what a result says of it
//	coordinator.go the router's part in prefill/decode disaggregation; disaggregated.go
//	               that of the instance; coordinator_lost.go KV and pulls that are lost
//	place.go       an instance in its pool (server) and its endpoints (place)
//	fleet.go       the pools of the router; pool.go a pool, and the endpoints among which
//	               a policy routes
//	nodes.go       nodes and their GPUs
//	scaling.go     the router's part in scaling, and in evaluations that events call
//	               for; transfer.go requests that instances return to it and that
//	               others resume
//	replicas.go    the router's book of the instances, with their phases and costs
//	autoscaler.go  evaluations of the autoscale policy
//	published.go   what only the router knows, published for the autoscaler
//	instance.go    one instance behind the protocol; rank.go what one of its engines
//	               yields; engines.go, engines_bounds.go one engine, or those of its
//	               data-parallel ranks
//	storage.go     storage tiers that instances share; storage_links.go their links
//	policies.go    the policies of a run; hints.go what the priority policy gives
//	               besides the priority
//	collector.go   outcomes, in order of arrival
//	verify.go      one configuration on many executors, one digest
//
// Failures:
//
//	failures.go    the router's book of what fails, and what it knows of it;
//	               node_failures.go of nodes, links.go of links
//	outage.go      an instance that crashes and is repaired
//	lost.go        requests that are lost with their instance, or whose pull failed
//
// Signals, from instances to policies:
//
//	publisher.go   what an instance publishes of an endpoint
//	signal_plan.go which signal reaches the router how; cadence.go how often
//	snapshots.go   where instances write, and the router and the autoscaler read
//	signal_group.go
//	               signals that share a cadence other than that of the load; sums of
//	               the latencies of the last requests that completed
//	refresh.go     what instances write at refreshes
//	cluster_view.go
//	               what the router, or the autoscaler, sees of the instances when it decides
//	observations.go
//	               what each decision saw, for a recording
//	bitset.go      instances whose value changed
//
// Messages:
//
//	message.go     kinds of messages and how their fields are written:
//	message_request.go
//	               requests delivered, returned, ended
//	message_control.go
//	               scaling, prefix caches
//	message_disaggregation.go, message_handover.go
//	               prefills, pulls, and what becomes of both
//	message_storage.go, message_failure.go
//	               storage tiers; crashes, links, lost requests
//	message_trace.go, message_routing.go
//	               messages to the tracer; traced_state.go, traced_disaggregation.go,
//	               traced_failure.go, traced_nodes.go those with their records
//	tracing.go     what is asked of a decision trace, and the router's part in it
//	tracer.go      the records of the trace, made of the messages
package actors
