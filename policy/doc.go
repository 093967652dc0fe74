// Package policy holds the decisions of a cluster: whether a request is admitted,
// how urgent it is, which instance serves it, in what order an instance works, how
// many instances there are. It has five interfaces, the templates that implement
// them, and the registry that makes a policy from the name of a template and
// parameters.
//
// A policy is a small object that is made once per run. It may keep state, but sees
// only its arguments and the [Env] it was made with: no clock, no instance, no
// randomness but the draws and the stream it was given. Observes declares which
// signals of the instances it reads. The lookahead of a run, and so how far it runs
// in parallel, follows from that; a policy must read nothing else.
//
// Where to look:
//
//	decide.go      the five interfaces, their decisions, and what a policy may know
//	               of a request
//	signals.go     the signals of instances, as a table, and how policies read them
//	state.go       what the router counts: requests, in all and by tenant;
//	               class_state.go: the last requests of each SLO class
//	hints.go       what a priority policy gives of a request besides its priority
//	view.go        what policies see of the instances
//	cursor.go      how a policy follows the changes of a view
//	maxtree.go     the best of many instances of which few change
//	registry.go    names, parameters, constructors, errors for bad ones
//	register.go    policies, scorers and signals of other modules
//	template.go    what a template says of its parameters, and of single tenants
//	parameter.go   types of parameters; values by tenant or class
//
//	admission.go   always-admit, token-bucket, rate-limit, tenant-quota, reject-all
//	shed.go        saturation-shed
//	priority.go    constant, slo-based, tenant-priority, deadline-aware, inverted-slo;
//	               class inversions, an anomaly of priorities
//	routing.go     round-robin, the table of routing policies, and their randomness:
//	               hashes, no stream
//	routing_load.go, routing_two.go, routing_session.go
//	               least-loaded and always-busiest; power-of-two; session-hash
//	filter.go, filter_request.go, filter_view.go
//	               which instances a routing policy does not look at
//	prefix_routing.go
//	               prefix-affinity, by package prefixindex
//	weighted.go    weighted; scorers.go its scorers; sessions.go which instance
//	               served a session last; spread.go scorers that compare instances with each
//	               other; scorer_….go one scorer each
//	scheduling.go  fcfs, priority-fcfs, sjf, reverse-priority, backfill
//
//	autoscale.go   none, oscillator
//	autoscale_signal.go
//	               what autoscalers measure, of which instances, and how near it
//	               came to their thresholds
//	autoscale_threshold.go, autoscale_target.go, autoscale_queue.go
//	               threshold, target-utilization, queue-depth
//	autoscale_window.go
//	               what the latter two remember of desired numbers and of changes
//	trigger.go     conditions under which an autoscaler is asked
//
// Built with the tag debug, a read of a signal that the policy did not declare
// panics.
package policy
