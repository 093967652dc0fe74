// Package setup says what a configuration means: [Resolve] checks the settings of a
// run and derives what they leave open. The result is a [Plan], which is data; package
// actors makes the actors of it. Nothing here knows of actors, messages or virtual
// time that passes.
//
//	config.go        every setting of a run, with its default, but for those of
//	                 engine.Args; settings.go goes through them and sets them
//	plan.go          what Resolve yields, and which parts of a run its seeds decide
//	deployment.go    a deployment, of one pool or of two; pool.go its instances: server,
//	                 routing, scaling
//	resolve.go       the steps, in their order; cache and limits
//	pools.go         pools and deployments, each resolved as the one of a configuration of
//	                 its own; shared_settings.go what they have in common, summary.go what a
//	                 user is told of them, sizes.go how many GPUs they are; served.go which of
//	                 them serve a request
//	disaggregation.go  how prefill and decode instances share the work
//	overrides.go     settings that a pool has for itself; sections.go the same of the bundle
//	deployment_list.go  several deployments as settings; deployment_file.go their file
//	model.go         model and GPU, also without a run
//	command_line.go  a configuration as flags, and as a line that starts a vLLM server
//	vllm.go          the command line of a vLLM server as settings; vllm_flags.go its
//	                 flags
//	latency.go       the latency model
//	check.go         which values a setting can have, and the error for others
//	edits.go         flags as edits of the policy bundle; policies.go the bundle of
//	                 a run, and requests that the user routes
//	scaling.go       whether and between which bounds instances come and go, and how
//	                 long that takes
//	workload.go      generated requests, preset.go lengths with a name;
//	                 specification.go, trace.go other workloads
//	unused.go        settings that have no effect because of others
package setup
