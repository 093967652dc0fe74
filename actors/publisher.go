package actors

import (
	"blis/policy"
)

// publisher is what an instance publishes of one of its endpoints, or of all together for the
// autoscaler, where there are several.
type publisher struct {
	instance *instance
	engine   observable // what it is about
	seat     int        // among the endpoints, or in the pool for the autoscaler

	finished         int64            // requests that ended here, in any state
	snapshots        *snapshots[load] // nil: no policy observes the load
	groups           []*signalGroup   // those with immediate signals
	readsKVUse       bool             // snapshots has KV use
	inFlightFromLoad bool             // snapshots has the number of finished requests
	recent           *recent          // nil: no policy observes recent latencies

	// What it published before the instance crashed, which stays while that is down: of its load, and
	// of its signal groups. But the requests that ended there are counted on.
	kept       load
	keptGroups []keptGroup
}

// observable is an engine, or an endpoint of several data-parallel ranks, to be looked at.
type observable interface {
	Waiting() int32
	Running() int32
	UsedBlocks() int
	State() policy.InstanceState
	StepState() policy.InstanceState
}

// load is the load as the instance publishes it.
func (s *publisher) load() load {
	if s.instance.isDown() {
		r := s.kept
		r.finished = s.finished
		return r
	}
	if s.instance.perStep {
		state := s.state(false)
		r := load{waiting: int32(state.Waiting), running: int32(state.Running), finished: s.finished}
		if s.readsKVUse {
			r.used = state.Used
		}
		return r
	}
	r := load{waiting: s.engine.Waiting(), running: s.engine.Running(), finished: s.finished}
	if s.readsKVUse {
		r.used = int64(s.engine.UsedBlocks())
	}
	return r
}

// state is the state of the engines: with onDemand as it is, else as the instance publishes it.
func (s *publisher) state(onDemand bool) policy.InstanceState {
	if s.instance.perStep && !onDemand {
		return s.engine.StepState()
	}
	return s.engine.State()
}

// observe is what the instance publishes of the signals of f. All else in it is 0.
func (s *publisher) observe(f *signalGroup) (published policy.InstanceState) {
	if s.instance.isDown() {
		return s.keptOf(f)
	}
	state := s.state(f.onDemand)
	if s.recent != nil {
		s.recent.fill(&state.Service)
	}
	state.Evaluate(f.signals)
	published.Copy(&state, f.signals)
	return published
}

// write writes the immediate signals.
func (s *publisher) write() {
	if s.snapshots != nil && s.snapshots.cadence == immediate {
		s.snapshots.set(s.seat, s.load())
	}
	for _, f := range s.groups {
		f.snapshots.set(s.seatOf(f), s.observe(f))
	}
}

// seatOf is where the instance writes in the snapshots of a group: those of an autoscaler are of its
// pool alone.
func (s *publisher) seatOf(f *signalGroup) int {
	if f.checks {
		return s.instance.server.slot
	}
	return s.seat
}
