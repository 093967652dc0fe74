package actors

import (
	"blis/lookahead"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// clusterView is what a control process, the router or the autoscaler, sees of the
// instances when it decides: the snapshots that they publish for it, and the requests
// in flight, which the router counts itself. How far instances may run, and how far
// the router must wait for them, follows from the signals that policies declare and
// from the cadences of these.
type clusterView struct {
	signals policy.Signals
	signalPlan
	readsAtAdmission, readsAtRouting bool // which decisions of the router read signals of instances
	readsAtGateway                   bool // cycles of the gateway do

	view    policy.View
	sent    []int32 // requests delivered to each endpoint
	refresh int64   // last refresh of the load snapshots that the view shows; −1: none

	// The sequential twin reads engines directly, in place of snapshots. At
	// refreshes it does so if foreseen: before each refresh the router knows whether
	// a decision will read it. It does not with scale checks, returned requests and
	// closed loops, whose decisions follow from no request that has arrived.
	engines  []*publisher // by seat
	foreseen bool
}

// sizeOf tells the view the size of what it shows of a pool: each has so many ranks.
func (s *clusterView) sizeOf(p *setup.Pool, ranks int) {
	s.view.MaxNumSeqs, s.view.BlockSize, s.view.CPUEntries = p.MaxNumSeqs*int32(ranks), p.BlockSize, p.CPUEntries()*int64(ranks)
}

// loadSignals are in the load snapshots, unless the bundle gives them another
// cadence. All other signals that instances publish are in signal groups.
const loadSignals = policy.QueueDepth | policy.BatchSize | policy.KVUse

// ofInstances reports whether signals include one that may come from snapshots: a
// published one, or in-flight.
func ofInstances(signals policy.Signals) bool {
	return signals.Published()|signals&policy.InFlight != policy.NoSignals
}

// bound narrows an observation to what the signals that are read allow.
func (s *clusterView) bound(o *lookahead.Observation) {
	for _, f := range s.groups {
		f.snapshots.bound(o)
	}
	if s.load != nil {
		s.load.bound(o)
	}
}

// update makes the view show what a decision at now may see.
func (s *clusterView) update(now vtime.Time) {
	for _, f := range s.groups {
		f.update(s, now)
	}
	switch b := s.load; {
	case b == nil:
	case b.cadence != immediate:
		if k := b.before(now); k > s.refresh && !s.readsAtRefreshes() {
			for _, i := range s.view.Present() {
				s.show(int(i), b.at(int(i), k))
			}
			s.refresh = k
		}
	case s.engines != nil:
		s.readEngines()
	default:
		b.takeChanged(s.show)
	}
}

// readsAtRefreshes reports whether the sequential twin reads the engines at each
// refresh.
func (s *clusterView) readsAtRefreshes() bool { return s.engines != nil && s.foreseen }

// readEngines is update for the sequential twin, for immediate signals.
func (s *clusterView) readEngines() {
	for i, p := range s.engines {
		s.show(i, p.load())
	}
}

// show enters the load of instance i in the view, unless the instance is gone:
// the twin would read another load of it.
func (s *clusterView) show(i int, r load) {
	slot := s.view.Slot(i)
	if slot.Phase == policy.Gone {
		return
	}
	inFlight := slot.InFlight
	if s.inFlightFromLoad {
		inFlight = s.sent[i] - int32(r.finished)
	}
	if s.inGroups != policy.NoSignals {
		r = s.withShown(r, slot)
	}
	s.view.Show(i, r.waiting, r.running, inFlight, r.used)
}

// withShown is r with the signals in groups as the view shows them.
func (s *clusterView) withShown(r load, shown policy.Slot) load {
	if s.inGroups&policy.QueueDepth != 0 {
		r.waiting = shown.Queue
	}
	if s.inGroups&policy.BatchSize != 0 {
		r.running = shown.Batch
	}
	if s.inGroups&policy.KVUse != 0 {
		r.used = shown.Used
	}
	return r
}

// grow makes room for signals of one more instance.
func (s *clusterView) grow() {
	if s.load != nil {
		s.load.grow()
	}
	for _, f := range s.groups {
		f.snapshots.grow()
	}
}

// routed counts a request that was routed to instance i.
func (s *clusterView) routed(i int) {
	if s.signals&policy.InFlight != 0 {
		s.view.AddInFlight(i, 1)
		s.sent[i]++
	}
}

// takeBack counts a request that was routed to instance i and does not come.
func (s *clusterView) takeBack(i int) {
	if s.signals&policy.InFlight != 0 {
		s.view.AddInFlight(i, -1)
		s.sent[i]--
	}
}

// ended counts a request of instance i that a notice says has ended.
func (s *clusterView) ended(i int) { s.view.AddInFlight(i, -1) }

// twinRefresh is the Key of the first refresh that the next decision will see and
// the twin has not read off the engines; NeverKey without twin.
func (s *clusterView) twinRefresh(r *router) lookahead.Key {
	k := lookahead.NeverKey
	if !s.readsAtRefreshes() || s.load == nil && s.groups == nil {
		return k
	}
	at := r.nextReading(s)
	if at.IsNever() {
		return k
	}
	if s.load != nil {
		k = nextUnseen(s.load.cadence, s.refresh, at.At)
	}
	for _, f := range s.groups {
		k = lookahead.Earliest(k, nextUnseen(f.snapshots.cadence, f.refresh, at.At))
	}
	return k
}

// nextUnseen is the Key of the last refresh before a decision at now, NeverKey if
// that is refresh seen or an earlier one.
func nextUnseen(c cadence, seen int64, now vtime.Time) lookahead.Key {
	if c == immediate || c.before(now) <= seen {
		return lookahead.NeverKey
	}
	return c.key(c.before(now))
}

// refreshTwin reads the engines for the refreshes at now.
func (s *clusterView) refreshTwin(now vtime.Time) {
	if b := s.load; b != nil && b.cadence.due(s.refresh, now) {
		s.readEngines()
		s.refresh = b.cadence.after(now)
	}
	for _, f := range s.groups {
		if c := f.snapshots.cadence; c.due(f.refresh, now) {
			f.readEngines(s)
			f.refresh = c.after(now)
		}
	}
}
