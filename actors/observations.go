package actors

import (
	"bytes"
	"math"
	"slices"

	"github.com/vmihailenco/msgpack/v5"

	"blis/lookahead"
	"blis/policy"
	"blis/vtime"
)

// observations writes into a recording what one observer, the router or the
// autoscaler, sees of the instances at each of its decisions: of each instance what
// is other than at its decision before. docs/recordings.md is the format. The nil
// observations are for a run without recording.
type observations struct {
	observer lookahead.ProcessID
	last     []map[string][]float64 // by instance and name of what is seen
	changes  []seenChange           // of the present decision
	numbers  []float64
	text     bytes.Buffer
}

// seenChange is something of an instance that is other than before.
type seenChange struct {
	instance int
	name     string
	numbers  []float64
}

// newObservations returns nil unless the run is recorded.
func newObservations(observer lookahead.ProcessID, recorded bool) *observations {
	if !recorded {
		return nil
	}
	return &observations{observer: observer}
}

// Decisions, as they are called in a recording.
const (
	seenAtAdmission = "admission"
	seenAtPriority  = "priority"
	seenAtRouting   = "routing"
	seenAtTrigger   = "trigger" // of the autoscaler: its conditions are checked
	seenAtScaling   = "scale"
)

// record writes what the view shows at the decision called what, which reads signals,
// to the recording. The request is −1 for decisions about none.
func (s *observations) record(out *lookahead.Outbox, at lookahead.Key, what string, request int64, view *policy.View, signals policy.Signals) {
	if s == nil {
		return
	}
	s.changes = s.changes[:0]
	for i := range view.Len() {
		if i == len(s.last) {
			s.last = append(s.last, map[string][]float64{})
		}
		slot := view.Slot(i)
		s.see(i, "phase", float64(slot.Phase))
		s.see(i, "routable", float64(bit(slot.Routable)))
		for _, row := range policy.SignalTable() {
			if row.Bit&signals != 0 && (row.Key != "" || row.Bit == policy.InFlight) {
				s.numbers = view.Numbers(s.numbers[:0], &row, i)
				s.see(i, seenName(&row), s.numbers...)
			}
		}
	}
	s.text.Reset()
	s.write(at, what, request, signals)
	out.Record(s.text.Bytes())
}

// seenName is the name of a signal in a recording.
func seenName(row *policy.Signal) string {
	if row.Bit == policy.InFlight {
		return "in_flight"
	}
	return row.Key
}

// see notes the numbers if they are other than before.
func (s *observations) see(i int, name string, numbers ...float64) {
	if slices.Equal(s.last[i][name], numbers) {
		return
	}
	numbers = slices.Clone(numbers)
	s.last[i][name] = numbers
	s.changes = append(s.changes, seenChange{i, name, numbers})
}

// write writes the entry.
func (s *observations) write(at lookahead.Key, what string, request int64, signals policy.Signals) {
	e := msgpack.NewEncoder(&s.text)
	e.UseCompactInts(true)
	var names []string
	for _, row := range policy.SignalTable() {
		if row.Bit&signals != 0 {
			names = append(names, row.Name)
			if row.Key != "" || row.Bit == policy.InFlight {
				names[len(names)-1] = seenName(&row)
			}
		}
	}
	must(e.EncodeArrayLen(8))
	must(e.EncodeString("seen"))
	must(e.EncodeInt(int64(s.observer)))
	must(e.EncodeString(what))
	must(e.EncodeInt(int64(at.At)))
	must(e.EncodeInt(int64(at.Class)))
	must(e.EncodeInt(request))
	must(e.EncodeArrayLen(len(names)))
	for _, name := range names {
		must(e.EncodeString(name))
	}
	must(e.EncodeArrayLen(len(s.changes)))
	for _, c := range s.changes {
		must(e.EncodeArrayLen(2 + len(c.numbers)))
		must(e.EncodeInt(int64(c.instance)))
		must(e.EncodeString(c.name))
		for _, x := range c.numbers {
			if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
				must(e.EncodeInt(int64(x)))
			} else {
				must(e.EncodeFloat64(x))
			}
		}
	}
}

// must panics on an error of writing to memory, which there is not.
func must(err error) {
	if err != nil {
		panic("actors: " + err.Error())
	}
}

// key is the Key of a decision at now.
func key(now vtime.Time, class uint8) lookahead.Key { return lookahead.Key{At: now, Class: class} }
