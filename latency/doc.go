// Package latency computes the times of a server: of a step from the composition of
// its batch, and of a request from delivery to the wait queue from the state of the
// instance.
//
// The map:
//
//	model.go         Model, the interface of latency models; Batch and QueueInput, its inputs
//	blackbox.go      Blackbox: two straight lines, and the published coefficients per
//	                 (model, GPU, TP)
//	roofline.go      Roofline: the longer of compute and memory, from model and GPU
//	physics.go       Physics: fitted coefficients of features of the work and the state;
//	                 features.go computes the features, features2.go
//	                 those that version 2 of the specification added
//	physics_set.go   PhysicsSet: coefficients with the data of their fit; physics_format.go
//	                 writes them to a file, coverage.go compares them with a run
//	choice.go        the shipped coefficient sets, and the set that covers a run best
//	spec.go          ModelSpec, the shape of a model, and its legal values
//	counts.go        Counts of a model: FLOPs, parameters, weight bytes, KV bytes
//	config.go        a ModelSpec from a Hugging Face config.json; config_fields.go
//	                 looks fields up; config_experts.go, config_quant.go, config_parts.go and
//	                 config_window.go read fields of MoE, of quantised models, of
//	                 their parts, and of sliding windows; config_notes.go lists what
//	                 is not modelled
//	models.go        the built-in models
//	widths.go        Widths: vLLM's flags for the widths of weights and KV cache
//	checkpoint.go    a model with the weights of another checkpoint of it
//	hardware.go      Hardware: GPUs, built in or from a file; vLLM's default limits;
//	                 hardware_json.go reads files of the public simulator
//	deployment.go    Deployment: model × GPU × TP, ceilings and all-reduce
//	memory.go        KV blocks of an instance, or DoesNotFit; Bytes, an amount of
//	                 memory in flags and files
//	capacity.go      the request rate that one instance can sustain
//	input.go         reading of YAML files; Unknown, the error for an unknown name; one
//	                 error for all problems of an input
//	embedded.go      look-up in the built-in lists, which decodes only what is needed
//
// docs/latency.md has every formula, README.md where they are easily got wrong.
//
// Everything here is pure: equal arguments, equal bits. Products that feed
// sums are rounded explicitly (float64(a*b) + c), so that no compiler fuses
// them. Files are read by the caller; this package parses bytes.
//
// Not modelled: pipeline parallelism, speculative decoding, beam search;
// data parallel engines with unequal batches; sparse and hybrid attention, which count as full
// attention; what several GPUs keep of the same weights; with latent
// attention, making keys and values of the heads anew for cached tokens in
// prefill. ModelSpec.NotModelled says what of it a model has.
package latency
