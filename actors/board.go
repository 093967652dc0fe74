package actors

// reading is what one instance shows: queue depth, batch size and KV use, the
// signals that the instance itself publishes.
type reading struct {
	queue, batch int32
	used         int64
	finished     int64 // requests that ended here, whatever became of them
}

// board is where instances publish readings R and the router reads them. Each instance writes
// its own place between barriers of the protocol, so nothing is locked.
//
// With immediate signals there is one reading per instance, good for the Key
// to which the instance has advanced. With periodic signals (a cadence above 0)
// there are three: what its events before the refresh (k·cadence, class 12)
// left behind, for the last three k before which it had any. An instance
// writes the reading of the next refresh whenever it has advanced, and the
// router reads refresh k once nobody has an event left before it. Until it has
// done so the kernel's LeafLimit keeps every instance from writing for more than
// k+1 and k+2, so the last reading up to k is still there.
type board[R comparable] struct {
	cadence
	live    []R
	changed bitset // of instances whose live reading changed since the router looked
	past    []history[R]
}

// history is a ring of readings; latest is the one written last.
type history[R any] struct {
	slots  [3]slotReading[R]
	latest int
}

type slotReading[R any] struct {
	refresh int64 // k for which it was written; −1: initial, empty
	reading R
}

func newBoard[R comparable](instances int, every cadence) *board[R] {
	b := &board[R]{cadence: every}
	for range instances {
		b.grow()
	}
	return b
}

// grow makes a place for a further instance.
func (b *board[R]) grow() {
	if b.cadence != immediate {
		var h history[R]
		for j := range h.slots {
			h.slots[j].refresh = -1
		}
		b.past = append(b.past, h)
		return
	}
	var none R
	b.live = append(b.live, none)
	b.changed.cover(len(b.live))
}

// tell enters the live reading of instance i.
func (b *board[R]) tell(i int, r R) {
	if b.live[i] != r {
		b.live[i] = r
		b.changed.add(i)
	}
}

// news calls f with the live readings that changed since the last call, in the
// order of the instances. Nobody may be running.
func (b *board[R]) news(f func(i int, r R)) {
	b.changed.empty(func(i int) { f(i, b.live[i]) })
}

// publish enters the reading of instance i for refresh k.
func (b *board[R]) publish(i int, k int64, r R) {
	h := &b.past[i]
	if h.slots[h.latest].refresh != k {
		h.latest = (h.latest + 1) % len(h.slots)
	}
	h.slots[h.latest] = slotReading[R]{k, r}
}

// seen is what instance i showed at refresh k: the latest reading that was
// written for it or, when nothing changed since, for an earlier one.
func (b *board[R]) seen(i int, k int64) R {
	best := slotReading[R]{refresh: -2}
	for _, s := range b.past[i].slots {
		if s.refresh <= k && s.refresh > best.refresh {
			best = s
		}
	}
	return best.reading
}
