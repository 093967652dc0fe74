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
//	policy.go      Request and Signals: what a policy may know
//	decide.go      the five interfaces and their decisions
//	state.go       what the router knows of its own past and of tenants;
//	               class_state.go of the last requests of each SLO class
//	view.go        what policies see of the instances
//	cursor.go      how a policy follows the changes of a view
//	maxtree.go     the best of many instances of which few change
//	draws.go       randomness of routing: hashes, no stream
//	registry.go    names, parameters, constructors, errors for bad ones
//	register.go    policies and scorers of other modules
//	template.go    what a template says of its parameters
//	parameter.go   types of parameters; values by tenant or class
//
//	admission.go   always-admit, token-bucket, reject-all; admission_rate.go rate-limit
//	tenants.go     settings of single tenants; quota.go tenant-quota
//	shed.go        saturation-shed
//	priority.go    constant, slo-based, tenant-priority, deadline-aware, inverted-slo
//	inversion.go   class inversions, an anomaly of priorities
//	routing.go     round-robin, and the table of routing policies
//	routing_load.go, routing_two.go
//	               least-loaded and always-busiest; power-of-two
//	prefix_routing.go
//	               prefix-affinity, by package prefixindex
//	weighted.go    weighted; scorers.go its scorers, spread.go those that compare
//	               instances with each other
//	session.go     which instance served a session last
//	scheduling.go  fcfs, priority-fcfs, sjf, reverse-priority
//
//	autoscale.go   none, oscillator
//	autoscale_signal.go
//	               what autoscalers measure, and of which instances
//	autoscale_threshold.go, autoscale_target.go, autoscale_queue.go
//	               threshold, target-utilization, queue-depth
//	autoscale_window.go
//	               what the latter two remember of desired numbers and of changes
//	autoscale_watch.go
//	               how near a signal came to its threshold
//	trigger.go     conditions under which an autoscaler is asked
//
// Built with the tag debug, a read of a signal that the policy did not declare
// panics.
package policy
