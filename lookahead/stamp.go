package lookahead

import (
	"fmt"

	"blis/vtime"
)

// Key is the head of a stamp: an instant, and a class of events that orders them
// within the instant. Promises, horizons and observations are Keys. A horizon is
// exclusive: with horizon h everything before h may happen, and nothing at h.
type Key struct {
	At    vtime.Time
	Class uint8
}

// NeverKey is later than every Key that a run can reach. Every Key at vtime.Never
// means never, whatever its class.
var NeverKey = Key{At: vtime.Never}

// Less reports whether k comes before o.
func (k Key) Less(o Key) bool {
	return k.At < o.At || k.At == o.At && k.Class < o.Class
}

// Next returns the Key right after k: no Key lies between the two.
func (k Key) Next() Key {
	switch {
	case k.At == vtime.Never:
		return NeverKey
	case k.Class == 255:
		return Key{At: k.At + 1}
	}
	return Key{At: k.At, Class: k.Class + 1}
}

// IsNever reports whether k means never.
func (k Key) IsNever() bool { return k.At == vtime.Never }

// String prints the Key as "1500µs/6", or "never".
func (k Key) String() string {
	if k.IsNever() {
		return "never"
	}
	return fmt.Sprintf("%v/%d", k.At, k.Class)
}

// Earliest returns the smaller of two Keys.
func Earliest(a, b Key) Key {
	if b.Less(a) {
		return b
	}
	return a
}

// latest returns the larger of two Keys.
func latest(a, b Key) Key {
	if a.Less(b) {
		return b
	}
	return a
}

// ProcessID identifies a process and is the Source of the stamps of its messages.
// Each class of processes has its own ids, in the order of creation:
//
//	0, 1                       the first two control processes
//	FirstLeaf, …               leaves
//	ThirdControl, …, LastControl  the other control processes
//	FirstSink, …               sinks
//
// Other ids are unused.
type ProcessID uint32

// The bounds of the ranges of ids.
const (
	FirstLeaf    ProcessID = 2
	ThirdControl ProcessID = 1 << 28
	LastControl  ProcessID = 1<<29 - 1
	FirstSink    ProcessID = 1 << 30
)

// channel returns the class of receivers that the process belongs to.
func (id ProcessID) channel() channel {
	switch {
	case id >= FirstSink:
		return toSink
	case id < FirstLeaf || id >= ThirdControl:
		return toControl
	}
	return toLeaf
}

// channel is a class of processes as the receivers of messages.
type channel uint8

const (
	toControl channel = iota
	toLeaf
	toSink

	channels // the number of them
)

// Kind is the type of a message. Its values belong to the processes.
type Kind uint16

// Silent is the bit of kinds that only inform a sink, such as records of a trace.
// Digests and counts of messages leave them out: a run has the same digests with
// and without them.
const Silent Kind = 1 << 15

// Stamp is the place of a message in the total order. Stamps are compared field
// by field. Source and Seq make them unique, so no thread can influence the
// order.
type Stamp struct {
	At     vtime.Time
	Class  uint8
	Source uint32
	Seq    uint64 // counts the messages of the source in the order of sending, from 1
}

// Key returns the head of the stamp.
func (s Stamp) Key() Key { return Key{At: s.At, Class: s.Class} }

// Less reports whether s comes before o.
func (s Stamp) Less(o Stamp) bool {
	switch {
	case s.At != o.At:
		return s.At < o.At
	case s.Class != o.Class:
		return s.Class < o.Class
	case s.Source != o.Source:
		return s.Source < o.Source
	}
	return s.Seq < o.Seq
}

// String prints the stamp as "1500µs/6 source 3 seq 17".
func (s Stamp) String() string {
	return fmt.Sprintf("%v source %d seq %d", s.Key(), s.Source, s.Seq)
}
