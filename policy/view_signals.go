package policy

import "math/bits"

// What a View does with any signal, by the table of signals.

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

// Value returns the value on instance i of a signal that RegisterSignal returned, 0
// before it was shown.
func (v *View) Value(s Signals, i int) float64 {
	if checkReads {
		v.check(s)
	}
	if i >= len(v.own) {
		return 0
	}
	return v.own[i][bits.TrailingZeros32(uint32(s))-firstOwn]
}
