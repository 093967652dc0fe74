package script

import (
	"go.starlark.net/starlark"

	"blis/policy"
)

// scheduler is a program's order and victim, for one instance. The key of a request is
// a function of what is constant while it waits, so it does not matter when it is computed.
type scheduler struct {
	decider
	fcfs    policy.Scheduler // for what the program leaves open
	keys    []queuedKey      // by number of the request, modulo their number
	victim  *starlark.Function
	running requestList[policy.Running]
	drawn   policy.Request // what draws are about
}

// The number of keys that are remembered: as many as requests wait, within these bounds.
const (
	leastKeys = 1 << 5
	mostKeys  = 1 << 14
)

// queuedKey is the key of a request.
type queuedKey struct {
	waiting policy.Waiting
	key     float64
	known   bool
}

func newScheduler(p *program, env policy.Env, maxSteps uint64) (policy.Scheduler, error) {
	m, err := newMachine(p, env, maxSteps)
	if err != nil {
		return nil, err
	}
	if err := m.findHints(); err != nil {
		return nil, err
	}
	m.draws.kind = orderDraws
	m.state.banned = "state is known in make_batch, on_arrival and a victim beside them: the place of a request in order must not change while it waits"
	s := &scheduler{decider: decider{machine: m, req: request{of: m, kind: policy.SchedulerKind}}, running: newRunning(m)}
	if s.fcfs, err = policy.NewScheduler("fcfs", nil, env); err != nil {
		return nil, err
	}
	var makes, hears *starlark.Function
	for _, f := range []struct {
		name string
		most int
		to   **starlark.Function
	}{{"order", 1, &s.function}, {"victim", 1, &s.victim}, {"make_batch", 3, &makes}, {"on_arrival", 2, &hears}} {
		if *f.to, err = m.function(f.name, 1, f.most); err != nil {
			return nil, err
		}
	}
	switch {
	case makes != nil && s.function != nil:
		return nil, m.faultOf(s.function, SyntaxError, "there is make_batch, which chooses the order too: want one of the two")
	case makes != nil:
		return newBatchMaker(s, m, makes, hears), nil
	case hears != nil:
		return nil, m.faultOf(hears, SyntaxError, "there is no make_batch for which it could remember anything: want both")
	case s.function == nil && s.victim == nil:
		return nil, m.missing("order")
	}
	return s, nil
}

// Observes implements policy.Scheduler: it is not given any instance.
func (*scheduler) Observes() policy.Signals { return policy.NoSignals }

// Reorders implements policy.Scheduler.
func (s *scheduler) Reorders() bool { return s.function != nil }

// Less implements policy.Scheduler.
func (s *scheduler) Less(a, b *policy.Waiting, ctx *policy.SchedulerContext) bool {
	if s.function == nil {
		return s.fcfs.Less(a, b, ctx)
	}
	if n := len(s.keys); n == 0 || ctx != nil && int(ctx.Waiting) > n/2 && n < mostKeys {
		s.keys = make([]queuedKey, max(leastKeys, 2*n)) // what was known is asked again
	}
	x, y := s.key(a), s.key(b)
	switch {
	case x != y:
		return x < y
	case a.Arrival != b.Arrival:
		return a.Arrival < b.Arrival
	}
	return a.ID < b.ID
}

// key returns the key of a request, from memory if it is there.
func (s *scheduler) key(w *policy.Waiting) float64 {
	k := &s.keys[uint64(w.ID)%uint64(len(s.keys))]
	if k.known && k.waiting == *w {
		return k.key
	}
	s.begin()
	s.drawn.Identity = w.Identity
	s.draws.about(&s.drawn)
	s.req.identity, s.req.waiting, s.req.priority, s.req.scored = &w.Identity, w, w.Priority, true
	s.args[0] = &s.req
	*k = queuedKey{*w, s.number(s.call(s.function, s.args[:1])), true}
	return k.key
}

// Chunk implements policy.Scheduler: whole prompts, as far as the budget goes.
func (s *scheduler) Chunk(r *policy.Running, remaining, budget int32, ctx *policy.SchedulerContext) int32 {
	return s.fcfs.Chunk(r, remaining, budget, ctx)
}

// Victim implements policy.Scheduler: without a function of the program the last of
// the running list.
func (s *scheduler) Victim(running []policy.Running, ctx *policy.SchedulerContext) int {
	if s.victim == nil {
		return s.fcfs.Victim(running, ctx)
	}
	s.begin()
	s.now = now{at: ctx.Now}
	s.draws.about(nil)
	s.running.begin(running)
	s.args[0] = &s.running
	answer := s.call(s.victim, s.args[:1])
	if whole, ok := answer.(starlark.Int); ok {
		if k, small := whole.Int64(); small && k >= 0 && k < int64(len(running)) {
			return int(k)
		}
	}
	s.answer(TypeError, s.victim, "returns %s: want the index of a running request, 0 to %d", clip(answer.String(), mostName), len(running)-1)
	return 0
}
