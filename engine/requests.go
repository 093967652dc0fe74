package engine

import (
	"fmt"

	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// phase is where a request stands in an instance:
//
//	vacant → pending → waiting ⇄ running ⇄ decoding
//
// Preemption leads back from running to waiting. From each phase but vacant and
// decoding a request may leave: it is refused, times out, is drained, or completes.
type phase uint8

const (
	vacant     phase = iota // the slot is not in use
	pending                 // delivered, not queued yet
	waiting                 // in the wait queue
	running                 // among the individuals of the running list
	decoding                // in the running list, as a member of the cohort
	completing              // in no list, but still counted as running: has its last token in the step that ends
	leaving                 // in no list, about to be reported or handed back
	holding                 // ended, and its blocks are held until its transfers are noticed
	phases
)

// followers are the phases that may follow each phase, as bits.
var followers = [phases]uint8{
	vacant:     1 << pending,
	pending:    1<<waiting | 1<<leaving,
	waiting:    1<<running | 1<<leaving,
	running:    1<<waiting | 1<<decoding | 1<<completing | 1<<leaving,
	decoding:   1 << running,
	completing: 1 << leaving,
	leaving:    1<<vacant | 1<<holding,
	holding:    1 << vacant,
}

// runs reports whether a request in phase p counts as running.
func (p phase) runs() bool { return running <= p && p <= completing }

// requests is the table of the requests in an instance. A change of phase is
// made by to alone, which keeps everything that is counted by phase.
type requests struct {
	slots  []slot
	vacant []int32 // slots in phase vacant

	count      [phases]int32  // slots in each phase
	refusable  int32          // pending requests with a refusal
	backlog    *backlog       // of waiting requests; nil without Config.KeepBacklog
	priorities *priorityIndex // of waiting requests; nil until priorities differ

	hints      hintStore
	migrations map[int32]migration // of the slots with migrated
	cfg        *Config
	maxLen     int32 // effective max-model-len
}

// member is a reference to a request in a slot. It is stale, and skipped, once
// the slot holds another one.
type member struct {
	slot int32
	id   int64
}

// migration is what only requests have that came from another instance.
type migration struct {
	queued    vtime.Time // the first time; Never: not yet
	redirects int32
}

// at returns slot i; valid until the next add.
func (r *requests) at(i int32) *slot { return &r.slots[i] }

// waiting returns the length of the wait queue.
func (r *requests) waiting() int32 { return r.count[waiting] }

// running returns the length of the running list.
func (r *requests) running() int32 {
	return r.count[running] + r.count[decoding] + r.count[completing]
}

// unfinished reports whether a request waits or runs.
func (r *requests) unfinished() bool { return r.waiting()+r.running() > 0 }

// add returns a vacant slot.
func (r *requests) add() int32 {
	if n := len(r.vacant); n > 0 {
		i := r.vacant[n-1]
		r.vacant = r.vacant[:n-1]
		return i
	}
	if n := len(r.slots); n == cap(r.slots) {
		r.slots = append(make([]slot, 0, n+r.further(n)), r.slots...)
	}
	r.slots = r.slots[:len(r.slots)+1]
	r.count[vacant]++
	return int32(len(r.slots) - 1)
}

// further returns the number of slots that are added to a full table of n. Small steps
// keep a large cluster small. More requests than seats are a queue that grows on, so
// the table doubles: its copies and what they leave behind would be the greater cost.
func (r *requests) further(n int) int {
	if n >= int(r.cfg.MaxNumSeqs) {
		return max(n, leastSlots)
	}
	return max(n/4, leastSlots)
}

// leastSlots is the least number of slots that are added to a full table.
const leastSlots = 16

// open puts a request that is delivered at now into a slot.
func (r *requests) open(d *Delivery, now vtime.Time) int32 {
	i := r.add()
	s := r.at(i)
	s.request = request{
		Waiting:  policy.Waiting{Identity: d.Identity, Priority: d.Priority, Queued: vtime.Never, MaxOutput: d.MaxOutput, Hints: r.hints.keep(d.Hints)},
		output:   d.Output,
		target:   min(d.Output, r.maxLen-d.Input),
		limit:    d.Output,
		order:    -1,
		deadline: d.Deadline, admitted: d.Admitted, routed: now, expected: d.Expected, retries: d.Retries,
		scheduled: vtime.Never, firstToken: vtime.Never, lastToken: vtime.Never,
		evicted: vtime.Never,
	}
	if d.MaxOutput != workload.Absent {
		s.limit = d.MaxOutput
	}
	s.refusal = refusal(s.Input, s.MaxOutput, r.maxLen)
	s.group = int32(r.cfg.Sink.Group(d.Class, d.Model, d.Arrival))
	s.seq.Open(uint64(d.ID)+uint64(d.Attempt)<<32, d.Input, d.Spans, d.OutputContent, r.cfg.BlockSize, r.cfg.EnablePrefixCaching)
	r.to(i, pending)
	return i
}

// refusal returns why a request is not let into the wait queue, as vLLM's front end
// refuses one that is too long for max_model_len; NoReason if it is let in.
func refusal(input, maxOutput, maxLen int32) metrics.Reason {
	switch {
	case input >= maxLen:
		return metrics.PromptTooLong
	case maxOutput >= 0 && int64(input)+int64(maxOutput) > int64(maxLen):
		return metrics.OutputTooLong
	}
	return metrics.NoReason
}

// refuse lets the pending request in slot i not into the wait queue, for a reason.
func (r *requests) refuse(i int32, why metrics.Reason) {
	if s := r.at(i); s.refusal == metrics.NoReason && why != metrics.NoReason {
		s.refusal = why
		r.refusable++
	}
}

// resume makes the request in slot i one that got so far elsewhere.
func (r *requests) resume(i int32, p *Progress) {
	s := r.at(i)
	if r.migrations == nil {
		r.migrations = map[int32]migration{}
	}
	r.migrations[i] = s.resume(&p.Progress)
	s.evicted, s.lost, s.deficit = p.Evicted, p.Lost, p.Deficit
	s.Preempted = p.Scheduled != vtime.Never
}

// migration returns how slot i came from another instance.
func (r *requests) migration(i int32) migration {
	if r.at(i).migrated {
		return r.migrations[i]
	}
	return migration{queued: vtime.Never}
}

// to moves the request in slot i to phase p.
func (r *requests) to(i int32, p phase) {
	s := &r.slots[i]
	if followers[s.phase]>>p&1 == 0 {
		s.refuse(p)
	}
	switch s.phase {
	case pending:
		if s.refusal != metrics.NoReason {
			r.refusable--
		}
	case waiting:
		r.stopsWaiting(i)
	}
	r.count[s.phase]--
	r.count[p]++
	s.phase = p
	switch p {
	case vacant, holding:
		if s.ID >= 0 && s.migrated {
			delete(r.migrations, i)
		}
		if s.ID = -1; p == vacant {
			r.vacant = append(r.vacant, i)
		}
	case pending:
		if s.refusal != metrics.NoReason {
			r.refusable++
		}
	case waiting:
		r.startsWaiting(i)
	}
}

// refuse stands apart so that to stays small.
func (s *slot) refuse(p phase) {
	panic(fmt.Sprintf("engine: request %d goes from phase %d to %d", s.ID, s.phase, p))
}

func (r *requests) startsWaiting(i int32) {
	if r.backlog != nil {
		r.backlog.waiting += int64(r.slots[i].known())
	}
	if r.priorities != nil {
		r.priorities.startsWaiting(i)
	}
}

func (r *requests) stopsWaiting(i int32) {
	if r.backlog != nil {
		r.backlog.waiting -= int64(r.slots[i].known())
	}
	if r.priorities != nil {
		r.priorities.stopsWaiting(i)
	}
}

// holds reports whether m is still in its slot.
func (r *requests) holds(m member) bool { return r.slots[m.slot].ID == m.id }

// is reports whether m is still in its slot, and in phase p.
func (r *requests) is(m member, p phase) bool {
	s := &r.slots[m.slot]
	return s.ID == m.id && s.phase == p
}

// waitingTokens returns backlog.waiting, counted anew.
func (r *requests) waitingTokens() int64 {
	n := int64(0)
	for i := range r.slots {
		if s := &r.slots[i]; s.phase == waiting {
			n += int64(s.known())
		}
	}
	return n
}
