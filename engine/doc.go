// Package engine is one serving instance as docs/semantics.md describes it: the
// queueing delay, the checks of lengths, the wait queue, batch formation, steps,
// preemption, time-outs, synchronous and asynchronous scheduling. It has no
// actors, clocks or goroutines in it: requests are delivered to it, it is
// advanced to a Key of virtual time, and its Sink gets what became of them.
//
// Where to look, from the outside in:
//
//	config.go      how an instance serves; args.go what vLLM has an engine argument for
//	engine.go      Engine and its parts, and what can be seen of it
//	advance.go     deliveries, and what each event does
//	agenda.go      the events that an instance has before it, and their order
//	step.go        one step: finish what ends, form what comes next
//	batcher.go     batch formation while everything fits
//	admit.go       admission from the wait queue
//	preempt.go     batch formation request by request, with preemption
//	batch.go       a step as it is formed, and the ring of those in flight
//	requests.go    the phases of a request, and all that is counted by phase
//	slot.go        what is known of a request; hints.go the memory of its hints
//	queue.go       the wait queue, and the part of the running list whose requests
//	               are looked at one by one
//	cohort.go      the other part: those that only decode, kept together as sums
//	wheel.go       which member of the cohort ends when
//	run.go         many steps of a cohort in one go
//	pace.go        how long steps take, also of a cold instance
//	evict.go       a request that the gateway takes back
//	crash.go       an instance that crashes and is restarted, or is slow
//	bounds.go      what an instance can say of its future
//	books.go       what is integrated over time; what waits to be prefilled, and how
//	               fast that went lately
//	diagnosis.go   the anomalies of an instance
//	priorities.go  which request was queued when, and waits with what priority
//	maxtree.go     the tree of maxima under that
//	observer.go    what an observer sees of formations, preemptions, transfers and anomalies
//	offload.go     the CPU tier of an instance, and how long transfers take
//	connector.go   what an instance that moves KV does besides: to a tier below the GPU, or
//	               from other instances
//	pass.go        its passes: formations, also of nothing, that notice transfers
//	admit_chosen.go
//	               admission of the requests that a scheduler chooses
//	admit_past.go  its admission, which passes over requests that wait for a transfer
//	waits.go       what is under way in it; idle.go what it holds without requests
//	lazy.go        blocks that are stored just before they are evicted
//	disaggregation.go, pull_port.go
//	               prefill/decode disaggregation, and how it reaches an instance
//	prefills.go    the KV of prompts that it computed for others
//	pulls.go       the KV that it pulls from others
//	storage.go     storage tiers below the CPU tier: what the instance asks them, and
//	               storage_write.go writes to them; storage_port.go answers that come as
//	               messages; storage_tier.go a tier, storage_faults.go its link
//	connector_books.go, pull_books.go, transfer_books.go
//	               what all of these count and check
//	filling.go     what it stores of the requests of a step
//	threshold.go   a CPU tier that blocks move to, as in other simulators
//	ranks.go       data-parallel ranks of one instance, and its endpoints (endpoint.go)
//	front_ends.go  which rank serves a request
//	lockstep.go    ranks that share experts, and step together; lockstep_pass.go,
//	               lockstep_run.go with passes, and many steps in one go
//	ranks_bounds.go, ranks_end.go
//	               what bounds.go and drain.go do, for ranks
//	drain.go       what becomes of requests whose instance is taken away; an instance
//	               without any gives its memory back
//
// A request that decodes, and whose blocks are its own content, joins the cohort,
// where a step costs the same for any number of members. What else is known of a
// member is computed when it is asked for. With Config.StepByStep no request
// joins: that is the twin that must agree bit for bit.
package engine
