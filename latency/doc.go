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
//	spec.go          ModelSpec and its constants: FLOPs, weight bytes, KV bytes
//	config.go        a ModelSpec from a Hugging Face config.json
//	models.go        the built-in models
//	hardware.go      Hardware: GPUs, built in or from a file; vLLM's default limits
//	deployment.go    Deployment: model × GPU × TP, ceilings and all-reduce
//	memory.go        KV blocks of an instance, or that the model does not fit
//	capacity.go      the request rate that one instance can sustain
//
// A third model, physics, will weigh features that are built from the same
// constants and ceilings; ModelSpec and Deployment are made to be shared.
//
// Everything here is pure: equal arguments, equal bits. Products that feed
// sums are rounded explicitly (float64(a*b) + c), so that no compiler fuses
// them. Files are read by the caller; this package parses bytes.
//
// Not modelled: pipeline parallelism, speculative decoding, beam search;
// expert parallelism; sliding-window and hybrid attention, which count as full
// attention; multi-head latent attention, which is refused.
package latency
