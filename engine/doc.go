// Package engine is one serving instance as docs/semantics.md describes it: the
// queueing delay, the guards, the wait queue, batch formation, steps,
// preemption, time-outs, synchronous and asynchronous scheduling. It has no
// actors, clocks or goroutines in it: requests are delivered to it, it is
// advanced to a Key of virtual time, and it tells a Sink what became of them.
//
// Where to look:
//
//	agenda.go     the events that an instance has before it
//	advance.go    what each of them does
//	requests.go   the phases of a request, and all that is counted by phase
//	batch.go      a step as it is formed, and the ring of those in flight
//	step.go       one step: finish what ends, form what comes next
//	form.go       batch formation while everything fits, and admission
//	preempt.go     batch formation request by request, with preemption
//	cohort.go     requests that only decode, kept together as sums
//	wheel.go      who of them ends when
//	run.go        many steps of such a cohort in one go
//	diagnosis.go  the anomalies of an instance: who was passed over, storms
//	priorities.go who was queued when, and who waits with what priority
//	observer.go   what an observer sees of steps, preemptions and anomalies
//	backlog.go    what waits to be prefilled, and how fast that went lately
//	drain.go      what becomes of requests whose instance is taken away
//	release.go    an instance that is done with
//	maxtree.go    the tree of maxima that they look things up in
//
// A request that decodes and whose blocks are its own content joins the
// cohort, where a step costs the same however many members it has. Everything
// else about it is computed when somebody asks. With
// Config.StepByStep nobody joins: that is the twin that must agree bit for
// bit.
package engine
