package policy

import "fmt"

// Slot is what the router knows of one instance: 32 bytes, so that a decision
// over many instances walks one contiguous array. Its owner, the router, fills
// in what the policies of the run observe; other fields stay zero.
type Slot struct {
	Queue    int32 // requests in the wait queue, preempted ones included
	Batch    int32 // requests in the running list
	InFlight int32 // routed there and not yet known to have ended
	Routable bool  // may be given new requests
	Used     int64 // KV blocks in use
	Total    int64 // KV blocks
}

// View is the instances as a decision sees them, in instance order. Policies
// read it by its methods; the router writes Slots.
type View struct {
	Slots []Slot
	// Declared is the Observes of the policy that reads the view next. In a
	// build with the tag debug a read outside it panics; else it is ignored.
	Declared Signals
}

// Len is the number of instances, routable or not.
func (v *View) Len() int { return len(v.Slots) }

// Routable reports whether instance i may be given requests. It is the
// router's own knowledge and no signal.
func (v *View) Routable(i int) bool { return v.Slots[i].Routable }

// QueueDepth is the length of the wait queue of instance i, preempted requests
// included and requests still in their queueing delay not.
func (v *View) QueueDepth(i int) int64 {
	if checkReads {
		v.check(QueueDepth)
	}
	return int64(v.Slots[i].Queue)
}

// BatchSize is the length of the running list of instance i.
func (v *View) BatchSize(i int) int64 {
	if checkReads {
		v.check(BatchSize)
	}
	return int64(v.Slots[i].Batch)
}

// InFlight is the router's count of requests that it sent to instance i and
// that have not ended as far as it knows.
func (v *View) InFlight(i int) int64 {
	if checkReads {
		v.check(InFlight)
	}
	return int64(v.Slots[i].InFlight)
}

// UsedBlocks is the number of KV blocks in use on instance i.
func (v *View) UsedBlocks(i int) int64 {
	if checkReads {
		v.check(KVUse)
	}
	return v.Slots[i].Used
}

// TotalBlocks is the number of KV blocks of instance i.
func (v *View) TotalBlocks(i int) int64 {
	if checkReads {
		v.check(KVUse)
	}
	return v.Slots[i].Total
}

// effectiveLoad is the set of signals behind View.Load.
const effectiveLoad = QueueDepth | BatchSize | InFlight

// Load is the effective load of instance i: queue depth + batch size +
// in-flight. A queued or running request counts twice, as in the public
// simulator (semantics 6).
func (v *View) Load(i int) int64 {
	if checkReads {
		v.check(effectiveLoad)
	}
	return v.Slots[i].load()
}

// read returns the slots to a loop of this package that reads the signals s of
// them and no others.
func (v *View) read(s Signals) []Slot {
	if checkReads {
		v.check(s)
	}
	return v.Slots
}

// load is View.Load of a slot.
func (s *Slot) load() int64 { return int64(s.Queue) + int64(s.Batch) + int64(s.InFlight) }

// check panics when a signal is read that the reading policy did not declare:
// the run would have gone on without waiting for it.
func (v *View) check(s Signals) {
	if undeclared := s &^ v.Declared; undeclared != 0 {
		panic(fmt.Sprintf("policy: read of %v by a policy that observes %v", undeclared, v.Declared))
	}
}
