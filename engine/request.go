package engine

import (
	"blis/kv"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// Delivery is a request as it is delivered to an instance.
type Delivery struct {
	workload.Request
	Priority float64
	Admitted vtime.Time
	Expected int32 // prompt tokens that the router expects to be cached here
}

// slot is one request in the instance. Slots are reused; id tells whether a
// reference is still to the same request.
type slot struct {
	policy.Waiting // with the request's Identity

	phase     phase          // written by requests.to
	refusal   metrics.Reason // why the guards of the queue will refuse it; NoReason: they will not
	overdue   bool           // its deadline has passed; it leaves when the step in flight ends
	migrated  bool           // it came from another instance, see migration
	overtaken bool           // counted as overtaken

	output int32 // O
	target int32 // output tokens it will deliver: O, or less when max-model-len cuts it
	limit  int32 // output tokens after which the scheduler knows that it ends

	computed  int32 // C: tokens whose KV exists or is being computed
	generated int32 // output tokens delivered
	inFlight  int32 // output tokens of formed batches, not delivered yet
	lost      int32 // computed tokens when it was preempted last
	deficit   int32 // computed tokens at which its preemptions are made up for

	chain       int32 // of cohort.ends: the next slot of the same formation + 1
	order       int64 // number of its admission: position in the running list
	joined      int64 // formation in which it first counted as cohort member
	group       int32 // ITL group
	arrivalSlot int32 // in the priority index, once that is on

	deadline, admitted, routed       vtime.Time
	scheduled, firstToken, lastToken vtime.Time
	evicted                          vtime.Time // first preemption not made up for; Never
	prefillLost, decodeLost          vtime.Duration

	cached, preemptions, recomputed int32
	expected                        int32 // as delivered

	seq kv.Sequence
}

func (e *Engine) slot(i int32) *slot { return e.requests.at(i) }

// open fills slot i with a request delivered at now.
func (e *Engine) open(i int32, d *Delivery, now vtime.Time) {
	s := e.slot(i)
	seq := s.seq
	*s = slot{
		Waiting:  policy.Waiting{Identity: d.Identity, Priority: d.Priority, Queued: vtime.Never, MaxOutput: d.MaxOutput},
		output:   d.Output,
		target:   min(d.Output, e.maxLen-d.Input),
		limit:    d.Output,
		order:    -1,
		deadline: d.Deadline, admitted: d.Admitted, routed: now, expected: d.Expected,
		scheduled: vtime.Never, firstToken: vtime.Never, lastToken: vtime.Never,
		evicted: vtime.Never,
	}
	if d.MaxOutput != workload.Absent {
		s.limit = d.MaxOutput
	}
	s.refusal = e.refusal(s)
	s.group = int32(e.sink.Group(d.Class, d.Model, d.Arrival))
	s.seq = seq
	s.seq.Open(uint64(d.ID), d.Input, d.Spans, d.OutputContent, e.cfg.BlockSize, e.cfg.PrefixCaching)
}

// known is the number of tokens whose value is known: prompt and delivered.
func (s *slot) known() int32 { return s.Input + s.generated }

// done ends the life of slot i in the given state and tells the sink.
func (e *Engine) done(i int32, state metrics.State, reason metrics.Reason, now vtime.Time) {
	e.report(i, state, reason, now)
	e.sink.Done(&e.outcome, now)
	e.vacate(i)
}

// vacate frees slot i for another request.
func (e *Engine) vacate(i int32) {
	if e.slot(i).migrated {
		delete(e.migrated, i)
	}
	e.requests.to(i, vacant)
	e.agenda.vacated(i)
}

// report fills e.outcome with what became of slot i.
func (e *Engine) report(i int32, state metrics.State, reason metrics.Reason, finished vtime.Time) {
	s := e.slot(i)
	e.outcome = metrics.Outcome{
		Identity: s.Identity, Progress: s.progress(e.migrationOf(i)), State: state, Reason: reason, Instance: e.index,
		Expected: s.expected, Admitted: s.admitted, Finished: finished,
	}
	if s.scheduled != vtime.Never {
		e.Reach.Context = max(e.Reach.Context, int64(s.known()))
	}
}

// Unfinished calls f for every request that the instance still holds, with
// the outcome that it has when the run ends here. The engine must not be
// advanced afterwards.
func (e *Engine) Unfinished(f func(o *metrics.Outcome)) {
	states := [...]metrics.State{pending: metrics.Pending, waiting: metrics.Queued, running: metrics.Running}
	e.disband()
	for i := range int32(len(e.requests.slots)) {
		s := e.slot(i)
		if s.phase == vacant {
			continue
		}
		state := states[s.phase]
		if s.phase == pending && e.migrationOf(i).queued != vtime.Never {
			state = metrics.Queued // it has been, elsewhere
		}
		e.report(i, state, metrics.NoReason, vtime.Never)
		f(&e.outcome)
	}
}
