package actors

import (
	"blis/policy"
	"blis/vtime"
)

// sideSnapshots are snapshots of signals with another cadence than the load
// snapshots: KV use every 50 ms beside an immediate queue depth, or the hit rate
// every 10 ms. Most runs have none.
type sideSnapshots struct {
	snapshots *snapshots[policy.InstanceState]
	signals   policy.Signals // that they carry
	onDemand  bool           // the router reads the engine as it is, not as the instance publishes it
	checks    bool           // for evaluations of the autoscaler alone, which wait for everything before them
	refresh   int64          // last refresh that the view shows; −1: none
}

// observe is what the instance publishes of the signals of f. All else in it is 0.
func (p *instance) observe(f *sideSnapshots) (published policy.InstanceState) {
	state := p.state(f.onDemand)
	if p.recent != nil {
		p.recent.fill(&state.Service)
	}
	state.Evaluate(f.signals)
	published.Copy(&state, f.signals)
	return published
}

// state is the state of the engine: as it is with asked, else as the instance
// publishes it.
func (p *instance) state(asked bool) policy.InstanceState {
	if p.perStep && !asked {
		return p.engine.StepState()
	}
	return p.engine.State()
}

// show enters s in the view, as clusterView.show does with a load.
func (f *sideSnapshots) show(view *policy.View, i int, s *policy.InstanceState) {
	if view.Phase(i) != policy.Gone {
		view.ShowSignals(i, s, f.signals)
	}
}

// look makes the view show what a decision at now may see of these signals.
func (f *sideSnapshots) look(s *clusterView, now vtime.Time) {
	switch b := f.snapshots; {
	case b.cadence != immediate:
		if k := b.before(now); k > f.refresh && !s.takesRefreshes() {
			for _, i := range s.view.Present() {
				state := b.at(int(i), k)
				f.show(&s.view, int(i), &state)
			}
			f.refresh = k
		}
	case s.engines != nil:
		f.readEngines(s)
	default:
		b.takeChanged(func(i int, state policy.InstanceState) { f.show(&s.view, i, &state) })
	}
}

// readEngines is look for the sequential twin.
func (f *sideSnapshots) readEngines(s *clusterView) {
	for i, p := range s.engines {
		state := p.observe(f)
		f.show(&s.view, i, &state)
	}
}
