package actors

// load is what an instance publishes of its load.
type load struct {
	waiting, running int32
	used             int64
	finished         int64 // requests that ended here, in any state
}

// snapshots holds a value R of each instance, which the instance writes and the
// router reads. Each instance writes its own place, and the router reads between
// the windows of the protocol, so nothing is locked.
//
// Immediate signals (cadence 0) have one value per instance, true at the Key to
// which the instance has advanced.
//
// Periodic signals have three per instance, those of the last three refreshes
// before which the instance had an event. Refresh k is the event
// (k·cadence, ClassRefresh); its value is what the events before it left behind:
//
//	events     ──x──────x──────────────x─
//	refreshes  0    1    2    3    4    5
//	written         1    2              5    at 3 and 4 the value of 2 holds
//
// An instance that has advanced writes the value of the next refresh. The router
// reads refresh k once no instance has an event before it left. Until then the
// kernel's LeafLimit stops every instance before refresh k+2, so it has written
// at most k+1 and k+2, and the latest value up to k is still there.
type snapshots[R comparable] struct {
	cadence
	live    []R
	changed bitset // instances whose live value changed since the router read it
	past    []refreshes[R]
}

// refreshes is a ring of values; latest is the place written last.
type refreshes[R any] struct {
	ring   [3]refreshed[R]
	latest int
}

type refreshed[R any] struct {
	refresh int64 // for which value was written; −1: none
	value   R
}

func newSnapshots[R comparable](instances int, every cadence) *snapshots[R] {
	b := &snapshots[R]{cadence: every}
	for range instances {
		b.grow()
	}
	return b
}

// grow makes room for one more instance.
func (b *snapshots[R]) grow() {
	if b.cadence != immediate {
		var h refreshes[R]
		for j := range h.ring {
			h.ring[j].refresh = -1
		}
		b.past = append(b.past, h)
		return
	}
	var none R
	b.live = append(b.live, none)
	b.changed.cover(len(b.live))
}

// begin enters the value of instance i before its first event.
func (b *snapshots[R]) begin(i int, r R) {
	if b.cadence == immediate {
		b.set(i, r)
		return
	}
	b.past[i].ring[0].value = r // written for refresh −1
}

// set enters the live value of instance i.
func (b *snapshots[R]) set(i int, r R) {
	if b.live[i] != r {
		b.live[i] = r
		b.changed.add(i)
	}
}

// takeChanged calls f with the live values that changed since the last call, in
// the order of the instances. No instance may be running.
func (b *snapshots[R]) takeChanged(f func(i int, r R)) {
	b.changed.empty(func(i int) { f(i, b.live[i]) })
}

// publish enters the value of instance i for refresh k.
func (b *snapshots[R]) publish(i int, k int64, r R) {
	h := &b.past[i]
	if h.ring[h.latest].refresh != k {
		h.latest = (h.latest + 1) % len(h.ring)
	}
	h.ring[h.latest] = refreshed[R]{k, r}
}

// at is the value of instance i at refresh k: the latest one that was written for
// k or an earlier refresh.
func (b *snapshots[R]) at(i int, k int64) R {
	best := refreshed[R]{refresh: -2}
	for _, s := range b.past[i].ring {
		if s.refresh <= k && s.refresh > best.refresh {
			best = s
		}
	}
	return best.value
}
