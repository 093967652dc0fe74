package policy

import (
	"fmt"
	"slices"
)

// Slot is what the router knows of one instance: 32 bytes, in one array with the
// others. The router, its owner, fills in what the policies of the run observe;
// other fields stay zero.
type Slot struct {
	Queue    int32 // requests in the wait queue, preempted ones included
	Batch    int32 // requests in the running list
	InFlight int32 // requests routed there that the router does not know to have ended
	Routable bool  // may be given new requests
	Phase    Phase
	Used     int64 // KV blocks in use
	Total    int64 // KV blocks
}

// Phase is where an instance is in its life.
type Phase uint8

// Phases, in their order. Replicas in all of them but Gone cost. Autoscalers do
// not count a replica that drains or is gone.
const (
	Serving  Phase = iota // warm; the phase of the instances that a run begins with
	Starting              // being provisioned, or loading its model
	Warming               // loaded, its steps still take longer
	Draining              // gets no new requests and is gone when its last one ends
	Gone
	Down // the router knows that its server is down; it comes back
)

var phaseNames = [...]string{"serving", "starting", "warming", "draining", "gone", "down"}

// String returns the phase in a word.
func (p Phase) String() string { return phaseNames[p] }

// View is the instances as a decision sees them, in instance order. The zero
// View has none. Its owner, the router, writes it with Add, Set, Show and
// AddInFlight; policies read it signal by signal.
//
// Few instances change between two decisions. So a View logs which, and a policy
// may follow it: it keeps what it computed of the instances and renews that for
// the changed ones (see changeCursor). The log is bounded: a policy that reads it
// too seldom is told that anything may have changed.
type View struct {
	slots    []Slot
	services []Service
	own      [][MaxOwnSignals]float64 // values of the signals of other modules; shorter than slots where none was shown
	// Declared is the Observes of the policy that reads the view next. In a
	// build with the tag debug a read outside it panics; else it is ignored.
	Declared Signals

	MaxNumSeqs int32 // max_num_seqs of every instance
	CPUEntries int64 // entries that the CPU tier of every instance has room for; 0: no tier
	BlockSize  int32 // tokens of a KV block, of every instance

	present []int32 // instances that are not gone, ascending
	ready   int32   // number of instances that serve or warm

	changes uint64  // so far; change number c is noted in log[c mod len(log)]
	log     []int32 // ring of the instances changed last; its length is a power of two
}

// The log has an entry for logShare slots, and leastLog at least. To read a longer
// log would take a policy longer than to begin anew.
const (
	logShare = 4
	leastLog = 8
)

// Add appends an instance.
func (v *View) Add(s Slot) {
	if s.Phase != Gone {
		v.present = append(v.present, int32(len(v.slots)))
	}
	v.ready += inService(s.Phase)
	v.slots = append(v.slots, s)
	v.services = append(v.services, Service{})
	for len(v.log)*logShare < len(v.slots) {
		v.log = make([]int32, max(leastLog, 2*len(v.log)))
	}
	v.changes += uint64(len(v.log)) + 1 // leaves every cursor behind
}

// Slot returns what Set last wrote for instance i. It is for the owner; policies
// read by the methods below, which check what they declared.
func (v *View) Slot(i int) Slot { return v.slots[i] }

// Set writes what is known of instance i. Equal values are no change.
func (v *View) Set(i int, s Slot) {
	was := v.slots[i].Phase
	if v.slots[i] == s {
		return
	}
	v.slots[i] = s
	v.note(i)
	if s.Phase != was {
		v.ready += inService(s.Phase) - inService(was)
		v.setPresent(int32(i), s.Phase != Gone)
	}
}

// setPresent puts instance i on the list of present ones, or takes it off.
func (v *View) setPresent(i int32, present bool) {
	at, listed := slices.BinarySearch(v.present, i)
	switch {
	case listed && !present:
		v.present = slices.Delete(v.present, at, at+1)
	case present && !listed:
		v.present = slices.Insert(v.present, at, i)
		v.changes += uint64(len(v.log)) + 1 // as Add does
	}
}

// inService returns 1 for the phases of instances that are loaded and in service.
func inService(p Phase) int32 {
	if p == Serving || p == Warming {
		return 1
	}
	return 0
}

// Present lists the instances that are not gone, in order. Loops over instances
// walk this list: the number of instances that are gone only grows. It is valid
// until the view changes.
func (v *View) Present() []int32 { return v.present }

// Ready returns the number of instances that are loaded and in service: those
// that serve and those that warm.
func (v *View) Ready() int32 { return v.ready }

// Show writes the signals of instance i, which change all the time. It does what
// Set does, without copying a Slot.
func (v *View) Show(i int, queue, batch, inFlight int32, used int64) {
	s := &v.slots[i]
	if s.Queue == queue && s.Batch == batch && s.InFlight == inFlight && s.Used == used {
		return
	}
	s.Queue, s.Batch, s.InFlight, s.Used = queue, batch, inFlight, used
	v.note(i)
}

// ShowService writes how instance i serves.
func (v *View) ShowService(i int, s Service) {
	if v.services[i] == s {
		return
	}
	v.services[i] = s
	v.note(i)
}

// Service returns what ShowService last wrote for instance i. It is for the owner.
func (v *View) Service(i int) Service { return v.services[i] }

// ShowSignals writes signals of instance i as they are in s. It does what Show and
// ShowService do, for any published signals.
func (v *View) ShowSignals(i int, s *InstanceState, signals Signals) {
	slot := &v.slots[i]
	state := InstanceState{Waiting: int64(slot.Queue), Running: int64(slot.Batch), Used: slot.Used, Service: v.services[i]}
	state.Copy(s, signals&^OwnSignals)
	v.Show(i, int32(state.Waiting), int32(state.Running), slot.InFlight, state.Used)
	v.ShowService(i, state.Service)
	if signals&OwnSignals == 0 {
		return
	}
	for i >= len(v.own) {
		v.own = append(v.own, [MaxOwnSignals]float64{})
	}
	state.Own = v.own[i]
	state.Copy(s, signals&OwnSignals)
	if v.own[i] != state.Own {
		v.own[i] = state.Own
		v.note(i)
	}
}

// Numbers appends the numbers of a signal as the view shows them of instance i: one
// for most, none for a signal that is not of single instances. It is for the owner.
func (v *View) Numbers(list []float64, r *Signal, i int) []float64 {
	slot := &v.slots[i]
	state := InstanceState{Waiting: int64(slot.Queue), Running: int64(slot.Batch), Used: slot.Used, Service: v.services[i]}
	if i < len(v.own) {
		state.Own = v.own[i]
	}
	switch {
	case r.Bit == InFlight:
		return append(list, float64(slot.InFlight))
	case r.value != nil:
		return append(list, state.Own[r.own])
	}
	for _, n := range r.numbers {
		list = append(list, float64(*n(&state)))
	}
	return list
}

// AddInFlight adds n to the in-flight count of instance i.
func (v *View) AddInFlight(i int, n int32) {
	v.slots[i].InFlight += n
	v.note(i)
}

func (v *View) note(i int) {
	v.log[v.changes&uint64(len(v.log)-1)] = int32(i)
	v.changes++
}

// Len returns the number of instances there ever were.
func (v *View) Len() int { return len(v.slots) }

// Routable reports whether instance i may be given requests. It is the
// router's own knowledge and no signal.
func (v *View) Routable(i int) bool { return v.slots[i].Routable }

// Phase returns the phase of instance i. It is the router's own knowledge and no
// signal.
func (v *View) Phase(i int) Phase { return v.slots[i].Phase }

// read returns the slots, for a loop of this package that reads no signals of them
// but s.
func (v *View) read(s Signals) []Slot {
	if checkReads {
		v.check(s)
	}
	return v.slots
}

// load is View.Load of a slot.
func (s *Slot) load() int64 { return int64(s.Queue) + int64(s.Batch) + int64(s.InFlight) }

// check panics when a policy reads a signal that it did not declare: the run does
// not wait for such a signal.
func (v *View) check(s Signals) {
	if undeclared := s &^ v.Declared; undeclared != 0 {
		panic(fmt.Sprintf("policy: read of %v by a policy that observes %v", undeclared, v.Declared))
	}
}
