// Package policy holds what decides in a cluster: whether a request is
// admitted, how urgent it is, which instance serves it, in what order an
// instance works, how many instances there are. Five interfaces, the
// templates that implement them, and the registry that makes a template from
// its name and parameters.
//
// A policy is a small object that is made once per run. It may keep state, but
// sees only its arguments and the [Env] it was made with: no clock, no
// instance, no randomness but the draws and the stream it was given. It declares with
// Observes which signals of the instances it reads; how far a simulation may
// run in parallel follows from that, so a policy must read nothing else.
//
// Where to look:
//
//	policy.go      Request and Signals, what a policy may know
//	state.go       what the router knows of its own past and of tenants
//	decide.go      the five interfaces and their decisions
//	class_state.go what it knows of how requests of each SLO class fared
//	view.go        what a routing policy sees of the instances
//	registry.go    names, parameters, constructors, errors for bad ones
//	parameter.go   types of parameters, and what is named by tenant or class
//	admission.go   always-admit, token-bucket, reject-all, and admission_rate.go rate-limit
//	tenants.go     values of single tenants; quota.go tenant-quota
//	shed.go        saturation-shed
//	priority.go    constant, slo-based, tenant-priority, deadline-aware, inverted-slo
//	inversion.go   class inversions, the anomaly
//	draws.go       chance of routing: hashes, no stream
//	cursor.go      how a policy follows what changes there, while instances come and go
//	maxtree.go     the best of many instances, few of which change
//	routing.go     round-robin, and the table of routing policies
//	routing_load.go, routing_two.go
//	               least-loaded and always-busiest, power-of-two
//	prefix_routing.go
//	               prefix-affinity
//	weighted.go    weighted
//	scorers.go     its scorers, and spread.go those that compare instances
//	prefix.go      what each instance is expected to have cached, with a picture;
//	               prefix_mirror.go by their events, prefix_routed.go by where
//	               requests went: prefix_segments.go which places hold how much,
//	               prefix_orders.go in which order they lose it; prefix_sets.go sets
//	               of places
//	session.go     which instance served a session last
//	scheduling.go  fcfs, priority-fcfs, sjf, reverse-priority
//	autoscale.go   none, oscillator
//	autoscale_signal.go
//	               what autoscalers measure, and of which instances
//	autoscale_threshold.go, autoscale_target.go, autoscale_queue.go
//	               threshold, target-utilization, queue-depth
//	trigger.go     conditions under which an autoscaler is asked
//	autoscale_watch.go
//	               how near a signal came to asking for more
//	autoscale_window.go
//	               what the latter two remember of what they wanted and did
//	bundle.go      the file that names the policies of a run, its fields as a table
//	bundle_*.go    how it is read (bundle_adopt.go: in other words), changed by --set,
//	               completed and written; bundle_seed.go whether it draws
//
// Built with the tag debug, a read of a signal that the policy did not declare
// panics.
package policy
