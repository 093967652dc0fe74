// Package latency says how long things take: a model turns the composition of
// a batch into the time of a step, and the state of an instance into the time
// a request needs from delivery to the queue.
//
// The map:
//
//	model.go         Model, the three questions; Batch and QueueInput, what it may read
//	blackbox.go      Blackbox: two straight lines with fitted coefficients
//	coefficients.go  the published coefficients per (model, GPU, TP)
//	roofline.go      Roofline: compute against memory, from the two descriptions below
//	physics.go       Physics: features of the work and the state, weighed by fitted
//	                 coefficients; features.go computes them
//	physics_set.go   such coefficients with what they were fitted to; physics_format.go
//	                 writes them to a file, coverage.go compares them with a run
//	spec.go          ModelSpec, the shape of a model, and what shapes there can be
//	counts.go        Counts, what follows from it: FLOPs, parameters, weight bytes, KV bytes
//	config.go        a ModelSpec from a Hugging Face config.json; config_fields.go
//	                 looks fields up, config_experts.go and config_quant.go read
//	                 fields of MoE and of quantised models, config_notes.go says
//	                 what is not modelled
//	models.go        the built-in models
//	widths.go        Widths: vLLM's flags for the widths of weights and KV cache
//	hardware.go      Hardware: GPUs, built in or from a file; vLLM's default limits;
//	                 hardware_json.go reads files of the public simulator
//	choice.go        the coefficients of physics that are shipped, and which of them
//	                 cover a run best
//	deployment.go    Deployment: model × GPU × TP, ceilings and all-reduce
//	memory.go        KV blocks of an instance, or that the model does not fit; Bytes,
//	                 an amount of memory in flags and files
//	yaml.go          reading the files of models, GPUs and coefficients; embedded.go
//	                 reads of the built-in ones only what is asked for
//	names.go         Unknown: the error for a name that is in no list
//	problems.go      what is wrong with an input, all of it in one error
//	capacity.go      the request rate that one instance can sustain
//
// docs/latency.md has every formula, README.md where they are easily got wrong.
//
// Everything here is pure: equal arguments, equal bits. Products that feed
// sums are rounded explicitly (float64(a*b) + c), so that no compiler fuses
// them. Files are read by the caller; this package parses bytes.
//
// Not modelled: pipeline parallelism, speculative decoding, beam search;
// expert parallelism; sliding-window, sparse and hybrid attention, which count
// as full attention; what several GPUs keep of the same weights; with latent
// attention, making keys and values of the heads anew for cached tokens in
// prefill. ModelSpec.NotModelled says what of it a model has.
package latency
