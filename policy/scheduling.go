package policy

import (
	"math"

	"blis/vtime"
	"blis/workload"
)

// Waiting is a request in the wait queue of an instance. Every field is
// constant while it waits, so an order made of them stays valid.
type Waiting struct {
	workload.Identity
	Priority  float64 // higher is more urgent
	Queued    vtime.Time
	MaxOutput int32 // workload.Absent when the client set no limit
	Preempted bool
	Hints     *Hints // of the priority policy; nil: all 0. They never change, and may be kept
}

// Running is a request in the running list of an instance.
type Running struct {
	ID        int64
	Priority  float64
	Arrival   vtime.Time
	Input     int32
	Computed  int32 // tokens whose KV exists or is being computed
	Generated int32
	Hints     *Hints // as those of Waiting
}

// SchedulerContext is the state of the instance at a scheduling decision.
type SchedulerContext struct {
	Now         vtime.Time
	Waiting     int32 // requests in the wait queue
	Running     int32 // requests in the running list
	FreeSeqs    int32 // requests that the running list has room for
	FreeBlocks  int64
	TotalBlocks int64
	Budget      int32 // tokens that running requests left of the step; in MakeBatch only
}

// Scheduler orders the work of one instance. It reads that instance and no signal
// of another.
type Scheduler interface {
	Observes() Signals
	// Reorders is false when the wait queue keeps the order in which requests
	// were queued, with preempted ones in front. Then Less is not called.
	Reorders() bool
	// Less is a strict total order of the wait queue: the request to be scheduled
	// next is first. Ties are broken by arrival, then by request number, either
	// of them up or down.
	Less(a, b *Waiting, ctx *SchedulerContext) bool
	// Chunk returns how many of the remaining prefill tokens of r to schedule in
	// this step, from 0 to remaining. The engine caps it by its limits. budget is
	// the prefill budget of the step that requests before r left; the tokens of
	// decoding requests are not part of it.
	Chunk(r *Running, remaining, budget int32, ctx *SchedulerContext) int32
	// Victim returns the index of the request to preempt when KV blocks run out.
	// running is the running list in its order, and is not empty.
	Victim(running []Running, ctx *SchedulerContext) int
}

// BatchMaker is a Scheduler that chooses at each formation which waiting requests may be admitted, as a set: it can leave
// requests out, and requests that fit pass others that do not. Running requests come first as always; Chunk can leave
// out their prefill. Reorders is false. Its instance has no decode runs, so that each step costs time, and no CPU tier or pulls.
type BatchMaker interface {
	Scheduler
	// MakeBatch appends to choice, which is empty, the indices of the waiting requests that are tried, in the order in
	// which they are: each once. One that does not fit into the rest of the budget, of max_num_seqs or of the KV
	// blocks is passed over. waiting is the wait queue: preempted requests, then the others as they were queued. Both lists are valid
	// during the call. Where nothing runs and nothing is chosen the instance waits for the next arrival.
	MakeBatch(waiting []Waiting, running []Running, ctx *SchedulerContext, choice []int32) []int32
}

// ArrivalObserver is a Scheduler that is told of each request that is queued on its instance, once, before it may be
// scheduled. A preempted request does not arrive again.
type ArrivalObserver interface {
	OnRequestArrival(w *Waiting, ctx *SchedulerContext)
}

// NoPreemptionOff says why preemption cannot be off: running requests need more
// blocks as they generate. When the cache is full and each needs one more, none
// goes on, so none ends and no block is ever freed.
const NoPreemptionOff = "preemption cannot be off: when the KV cache is full running requests that each need a block would wait for each other for ever, and vLLM always preempts; want auto, fcfs or priority, and more --total-kv-blocks or fewer --max-num-seqs to preempt less"

// preemption is the parameter that every scheduler has; --preemption-policy
// is the same setting.
var preemption = Parameter{Name: "preemption", Type: Choice, Default: "auto", Choices: []string{"auto", "fcfs", "priority"},
	Refused: map[string]string{"off": NoPreemptionOff},
	Help:    "whom to preempt for KV: fcfs, the last of the running list; priority, the lowest priority, then the latest arrival; auto, the scheduler's own rule"}

var schedulerTemplates = []template[Scheduler]{{
	Template: Template{Kind: SchedulerKind, Name: "fcfs", Help: "in the order queued, preempted requests in front; preempts the last running (default)",
		Parameters: []Parameter{preemption}},
	build: func(v values, _ Env) (Scheduler, error) { return fcfs{newPreemptor(v, lastRunning)}, nil },
}, {
	Template: Template{Kind: SchedulerKind, Name: "priority-fcfs", Help: "highest priority first, then arrival; preempts the lowest priority, then the latest arrival",
		Parameters: []Parameter{preemption}},
	build: func(v values, _ Env) (Scheduler, error) { return priorityFCFS{newPreemptor(v, leastUrgent)}, nil },
}, {
	Template: Template{Kind: SchedulerKind, Name: "sjf", Help: "shortest job first, then arrival; long jobs starve while short ones keep coming; preempts the last running",
		Parameters: []Parameter{
			{Name: "key", Type: Choice, Default: "prompt", Choices: []string{"prompt", "max_output", "prompt+max_output"},
				Help: "length of a job in tokens; a request without max_output counts as longer than all that have one, except with prompt"},
			preemption,
		}},
	build: func(v values, _ Env) (Scheduler, error) {
		return sjf{preemptor: newPreemptor(v, lastRunning), prompt: v.choice("key") != "max_output", limit: v.choice("key") != "prompt"}, nil
	},
}, {
	Template: Template{Kind: SchedulerKind, Name: "reverse-priority", Help: "lowest priority first, then latest arrival; preempts the highest priority, then the earliest arrival (pathological, for tests)",
		Parameters: []Parameter{preemption}},
	build: func(v values, _ Env) (Scheduler, error) { return reversePriority{newPreemptor(v, mostUrgent)}, nil },
}, {
	Template: Template{Kind: SchedulerKind, Name: "backfill", Help: "fcfs, but requests that fit pass one that does not, up to a number of times; each step is simulated by itself, which is slower",
		Parameters: []Parameter{{Name: "max_passes", Type: Count, Default: "100", Min: 1, Max: mostRequests,
			Help: "steps in which others may pass the first of the queue; after that it is admitted first, alone in its step"}, preemption}},
	build: func(v values, _ Env) (Scheduler, error) {
		return &backfill{fcfs: fcfs{newPreemptor(v, lastRunning)}, most: v.count("max_passes"), first: -1}, nil
	},
}}

// preemptionRule says which running request is preempted.
type preemptionRule uint8

const (
	lastRunning preemptionRule = iota
	leastUrgent
	mostUrgent
)

// preemptor is the common part of the schedulers: whole prompts, as far as the
// budget goes, and a rule of preemption.
type preemptor struct{ rule preemptionRule }

// newPreemptor reads the preemption parameter; own is the scheduler's own rule.
func newPreemptor(v values, own preemptionRule) preemptor {
	switch v.choice("preemption") {
	case "fcfs":
		return preemptor{lastRunning}
	case "priority":
		return preemptor{leastUrgent}
	}
	return preemptor{own}
}

func (preemptor) Observes() Signals { return NoSignals }

func (preemptor) Chunk(_ *Running, remaining, _ int32, _ *SchedulerContext) int32 { return remaining }

// Victim returns the index of the request that vLLM preempts: the last of the
// running list (fcfs), or the one with the lowest priority, then the latest arrival,
// then the earliest in the list (priority). The rule mostUrgent takes the highest
// priority, then the earliest arrival, then the earliest in the list.
func (e preemptor) Victim(running []Running, _ *SchedulerContext) int {
	if e.rule == lastRunning {
		return len(running) - 1
	}
	victim := 0
	for i := range running {
		below, above := &running[i], &running[victim]
		if e.rule == mostUrgent {
			below, above = above, below
		}
		if below.Priority < above.Priority || (below.Priority == above.Priority && below.Arrival > above.Arrival) {
			victim = i
		}
	}
	return victim
}

type fcfs struct{ preemptor }

func (fcfs) Reorders() bool { return false }

// Less is the order of the queue for its readers. It does not order several
// preempted requests as the queue does, which knows when each was preempted.
func (fcfs) Less(a, b *Waiting, _ *SchedulerContext) bool {
	switch {
	case a.Preempted != b.Preempted:
		return a.Preempted
	case a.Queued != b.Queued:
		return a.Queued < b.Queued
	}
	return a.ID < b.ID
}

// backfill is fcfs whose queue does not wait for its first request, as batch systems do it.
type backfill struct {
	fcfs
	most   int64
	first  int64 // number of the first request in the queue at the last formation, −1: none
	passed int64 // formations in which it stayed there
}

// MakeBatch implements BatchMaker.
func (s *backfill) MakeBatch(waiting []Waiting, _ []Running, _ *SchedulerContext, choice []int32) []int32 {
	if id := waiting[0].ID; id != s.first {
		s.first, s.passed = id, 0
	} else {
		s.passed++
	}
	if s.passed >= s.most {
		return append(choice, 0)
	}
	for k := range waiting {
		choice = append(choice, int32(k))
	}
	return choice
}

type priorityFCFS struct{ preemptor }

func (priorityFCFS) Reorders() bool { return true }

func (priorityFCFS) Less(a, b *Waiting, _ *SchedulerContext) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return earlier(a, b)
}

// reversePriority is priority-fcfs backwards, ties included.
type reversePriority struct{ preemptor }

func (reversePriority) Reorders() bool { return true }

func (reversePriority) Less(a, b *Waiting, ctx *SchedulerContext) bool {
	return priorityFCFS{}.Less(b, a, ctx)
}

// earlier breaks ties: by arrival, then by request number.
func earlier(a, b *Waiting) bool {
	if a.Arrival != b.Arrival {
		return a.Arrival < b.Arrival
	}
	return a.ID < b.ID
}

// sjf orders by a length that the client gave, never by the true output length.
type sjf struct {
	preemptor
	prompt, limit bool // the length is the sum of: prompt tokens, MaxOutput
}

func (sjf) Reorders() bool { return true }

func (s sjf) Less(a, b *Waiting, _ *SchedulerContext) bool {
	if x, y := s.length(a), s.length(b); x != y {
		return x < y
	}
	return earlier(a, b)
}

func (s sjf) length(w *Waiting) int64 {
	length := int64(0)
	if s.prompt {
		length = int64(w.Input)
	}
	if s.limit {
		if w.MaxOutput == workload.Absent {
			return math.MaxInt64
		}
		length += int64(w.MaxOutput)
	}
	return length
}
