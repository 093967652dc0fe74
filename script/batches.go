package script

import (
	"math"

	"go.starlark.net/starlark"

	"blis/policy"
	"blis/workload"
)

// batchMaker is a program's make_batch, and its on_arrival, for one instance. Each call is about
// the present alone, so that the program may have state: the calls of an instance are the same
// ones in the same order on any executor.
type batchMaker struct {
	policy.Scheduler // the program's victim, and what it leaves open
	of               *machine
	makes, hears     *starlark.Function // hears: nil if it has no on_arrival
	req              request
	waiting          requestList[policy.Waiting]
	running          requestList[policy.Running]
	ctx              batchContext
	formations       int32          // so far
	drawn            policy.Request // what draws are about
	shown            [3]starlark.Value
	taken            []bool // by index of the waiting requests: it was chosen
}

func newBatchMaker(rest policy.Scheduler, m *machine, makes, hears *starlark.Function) *batchMaker {
	m.state.banned = ""
	return &batchMaker{Scheduler: rest, of: m, makes: makes, hears: hears, waiting: newWaiting(m), running: newRunning(m)}
}

// Printed implements policy.Printer.
func (s *batchMaker) Printed() string { return s.of.Printed() }

// MakeBatch implements policy.BatchMaker.
func (s *batchMaker) MakeBatch(waiting []policy.Waiting, running []policy.Running, ctx *policy.SchedulerContext, choice []int32) []int32 {
	s.formations++
	s.show(&waiting[0], s.formations, ctx)
	s.ctx.forms = true
	s.waiting.begin(waiting)
	s.running.begin(running)
	s.shown = [3]starlark.Value{&s.waiting, &s.running, &s.ctx}
	return s.chosen(s.of.call(s.makes, s.shown[:arity(s.makes, len(s.shown))]), choice)
}

// OnRequestArrival implements policy.ArrivalObserver.
func (s *batchMaker) OnRequestArrival(w *policy.Waiting, ctx *policy.SchedulerContext) {
	if s.hears == nil {
		return
	}
	s.show(w, 0, ctx)
	s.ctx.forms = false
	s.req = newWaitingRequest(s.of, w)
	s.shown = [3]starlark.Value{&s.req, &s.ctx}
	if answer := s.of.call(s.hears, s.shown[:arity(s.hears, 2)]); answer != starlark.None {
		s.of.answer(TypeError, s.hears, "returns a %s: want nothing, what it finds out belongs into state", answer.Type())
	}
}

// show shows the program a decision. What it draws is about a request and a turn.
func (s *batchMaker) show(w *policy.Waiting, turn int32, ctx *policy.SchedulerContext) {
	s.of.begin()
	s.of.now = now{at: ctx.Now}
	s.drawn.Identity, s.drawn.Attempt = w.Identity, turn
	s.of.draws.about(&s.drawn)
	s.ctx.of, s.ctx.now = s.of, ctx
}

// chosen appends the indexes in an answer to choice.
func (s *batchMaker) chosen(answer starlark.Value, choice []int32) []int32 {
	s.taken = append(s.taken[:0], make([]bool, len(s.waiting.list))...)
	list, ok := answer.(starlark.Iterable)
	if _, pairs := answer.(starlark.Mapping); !ok || pairs {
		s.of.answer(TypeError, s.makes, "returns a %s: want a list of indexes of waiting requests, like [0, 2] or range(len(waiting))", answer.Type())
	}
	it := list.Iterate()
	defer it.Done()
	var entry starlark.Value
	for it.Next(&entry) {
		k := s.index(entry, len(choice))
		if s.taken[k] {
			s.of.answer(ValueError, s.makes, "chooses request %d twice: want each index at most once", k)
		}
		s.taken[k] = true
		choice = append(choice, int32(k))
	}
	return choice
}

// index reads an entry of an answer.
func (s *batchMaker) index(entry starlark.Value, at int) int {
	var x float64
	switch entry := entry.(type) {
	case starlark.Int:
		x = float64(entry.Float())
	case starlark.Float:
		x = float64(entry)
	case starlark.Bool:
		s.of.answer(TypeError, s.makes, "entry %d of the answer is a bool: want an index, like [k for k in range(len(waiting)) if …]", at)
	default:
		s.of.answer(TypeError, s.makes, "entry %d of the answer is a %s: want the index of a waiting request", at, entry.Type())
	}
	if most := len(s.waiting.list) - 1; !(x >= 0 && x <= float64(most)) || x != math.Trunc(x) {
		s.of.answer(ValueError, s.makes, "entry %d of the answer is %s: want the index of a waiting request, 0 to %d", at, clip(entry.String(), mostName), most)
	}
	return int(x)
}

// waitingColumns are the columns of waiting.
var waitingColumns = requestColumns[policy.Waiting]{
	"age":       {"seconds since it arrived", func(m *machine, w *policy.Waiting) float64 { return m.now.at.Sub(w.Arrival).Seconds() }},
	"arrival":   {"when it arrived, in seconds", func(_ *machine, w *policy.Waiting) float64 { return w.Arrival.Seconds() }},
	"input":     {"tokens of its prompt", func(_ *machine, w *policy.Waiting) float64 { return float64(w.Input) }},
	"preempted": {"1 if it was preempted, else 0", func(_ *machine, w *policy.Waiting) float64 { return truth(w.Preempted) }},
	"priority":  {"its priority", func(_ *machine, w *policy.Waiting) float64 { return w.Priority }},
	"queued":    {"when it was queued on the instance, in seconds", func(_ *machine, w *policy.Waiting) float64 { return w.Queued.Seconds() }},
	"round":     {"how many came before it in its session", func(_ *machine, w *policy.Waiting) float64 { return float64(w.Round) }},
	"tag":       {"a number that tells it apart from others; with another seed it has another one", func(m *machine, w *policy.Waiting) float64 { return m.tag(w.ID) }},
	"max_output": {"the client's limit of output tokens, infinite without", func(_ *machine, w *policy.Waiting) float64 {
		if w.MaxOutput == workload.Absent {
			return math.Inf(1)
		}
		return float64(w.MaxOutput)
	}},
	"ttft_target": {"TTFT target of its tenant or class in seconds, infinite without", func(m *machine, w *policy.Waiting) float64 {
		if target, any := m.ttftTarget(&w.Identity); any {
			return target
		}
		return math.Inf(1)
	}},
}

// newWaiting makes the argument waiting. Its entries are requests like the argument req.
func newWaiting(m *machine) requestList[policy.Waiting] {
	row := func(x *requestList[policy.Waiting], k int) starlark.Value {
		r := newWaitingRequest(m, &x.list[k])
		return &r
	}
	return requestList[policy.Waiting]{of: m, name: "waiting", table: waitingColumns, row: row, hints: func(w *policy.Waiting) *policy.Hints { return w.Hints }, cached: map[string]*vec{}}
}

// newWaitingRequest makes a request that waits on an instance at present.
func newWaitingRequest(m *machine, w *policy.Waiting) request {
	return request{of: m, identity: &w.Identity, waiting: w, priority: w.Priority, scored: true, present: true, kind: policy.SchedulerKind}
}

// batchContext is the argument ctx of make_batch and on_arrival: the instance.
type batchContext struct {
	of    *machine
	now   *policy.SchedulerContext
	forms bool // a batch is formed
}

var batchAttributes = func() attributes[*batchContext] {
	of := func(help string, f func(c *policy.SchedulerContext) starlark.Value) attribute[*batchContext] {
		return attribute[*batchContext]{help: help, value: func(x *batchContext) starlark.Value { return f(x.now) }}
	}
	return attributes[*batchContext]{
		"now":       of("the present, in seconds of virtual time", func(c *policy.SchedulerContext) starlark.Value { return seconds(c.Now) }),
		"waiting":   of("requests in the wait queue", func(c *policy.SchedulerContext) starlark.Value { return count(int64(c.Waiting)) }),
		"running":   of("requests in the running list", func(c *policy.SchedulerContext) starlark.Value { return count(int64(c.Running)) }),
		"free_seqs": of("requests that the running list has room for", func(c *policy.SchedulerContext) starlark.Value { return count(int64(c.FreeSeqs)) }),
		"kv_blocks": of("KV blocks that there are", func(c *policy.SchedulerContext) starlark.Value { return count(c.TotalBlocks) }),
		"kv": of("share of KV blocks in use, 0 to 1", func(c *policy.SchedulerContext) starlark.Value {
			return number(share(c.TotalBlocks-c.FreeBlocks, c.TotalBlocks))
		}),
		"free_tokens": {help: "tokens that the free KV blocks have room for", value: func(x *batchContext) starlark.Value {
			return count(x.now.FreeBlocks * int64(x.of.env.BlockSize))
		}},
		"budget": {help: "tokens of the step that running requests left; not in on_arrival", value: func(x *batchContext) starlark.Value {
			if !x.forms {
				return nil
			}
			return count(int64(x.now.Budget))
		}},
	}
}()

// Attr implements starlark.HasAttrs.
func (x *batchContext) Attr(name string) (starlark.Value, error) {
	a, ok := batchAttributes[name]
	if !ok {
		return nil, noAttribute("ctx", name, x.AttrNames())
	}
	value := a.value(x)
	if value == nil {
		return nil, typeMistake("ctx.%s is not known in on_arrival: no step is formed then", name)
	}
	return value, nil
}

// AttrNames implements starlark.HasAttrs.
func (x *batchContext) AttrNames() []string { return batchAttributes.names() }

func (x *batchContext) String() string        { return "<context>" }
func (x *batchContext) Type() string          { return "context" }
func (x *batchContext) Freeze()               {}
func (x *batchContext) Truth() starlark.Bool  { return true }
func (x *batchContext) Hash() (uint32, error) { return 0, typeMistake("ctx cannot be a key") }
