package actors

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/vmihailenco/msgpack/v5"

	"blis/lookahead"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// observations writes into a recording what one observer, the router or the
// autoscaler, sees at each of its decisions: what is other than at its decision
// before. docs/recordings.md is the format. The nil observations are for a run
// without recording.
type observations struct {
	observer lookahead.ProcessID
	labels   *workload.Labels
	named    bool // labels are written
	last     map[seenOf][]float64
	changes  []seenChange // of the present decision
	numbers  []float64
	text     bytes.Buffer
}

// seenOf says what numbers are about: their name, and the instance, tenant or SLO
// class that this name is of; ofAll for none of these.
type seenOf struct {
	of   int
	name string
}

const ofAll = -1

// seenChange has numbers that are other than before.
type seenChange struct {
	seenOf
	numbers []float64
}

// newObservations returns nil unless the run is recorded.
func newObservations(observer lookahead.ProcessID, labels *workload.Labels, recorded bool) *observations {
	if !recorded {
		return nil
	}
	return &observations{observer: observer, labels: labels, last: map[seenOf][]float64{}}
}

// Decisions, as they are called in a recording.
const (
	seenAtAdmission = "admission"
	seenAtPriority  = "priority"
	seenAtRouting   = "routing"
	seenAtTrigger   = "trigger" // of the autoscaler: its conditions are checked
	seenAtScaling   = "scale"
)

// observe records what the policy of a decision about ask, which reads signals, sees: of requests what
// known has.
func (r *router) observe(out *lookahead.Outbox, at lookahead.Key, decision string, ask *policy.Request, priority float64, known *policy.RouterState, signals policy.Signals) {
	s := r.seen
	if s == nil {
		return
	}
	s.changes = s.changes[:0]
	s.see(ofAll, "delays", float64(ask.Delays))
	s.see(ofAll, "attempt", float64(ask.Attempt))
	if decision == seenAtRouting {
		s.see(ofAll, "priority", priority)
		if n := len(r.policies.hints); n > 0 {
			h := ask.Hints
			if h == nil {
				h = new(policy.Hints)
			}
			s.see(ofAll, "hints", h[:n]...)
		}
	}
	s.state(known, at.At, signals)
	first := decision == seenAtAdmission && ask.Delays == 0
	s.record(out, at, decision, ask, first, signals)
}

// observe records what a check of the trigger or of the policy sees.
func (a *autoscaler) observe(out *lookahead.Outbox, decision string, signals policy.Signals) {
	s, at := a.seen, key(a.context.Now, vtime.ClassScale)
	if s == nil {
		return
	}
	s.changes = s.changes[:0]
	last := -1.0
	if a.context.LastScale != vtime.Never {
		last = float64(a.context.LastScale)
	}
	s.see(ofAll, "replicas", float64(a.context.Replicas))
	s.see(ofAll, "last_scale", last)
	s.state(&a.state, at.At, signals)
	s.record(out, at, decision, nil, false, signals)
}

// state notes what st and its view show at now.
func (s *observations) state(st *policy.RouterState, now vtime.Time, signals policy.Signals) {
	s.see(ofAll, "requests", float64(st.Arrived), float64(st.Admitted), float64(st.Rejected))
	st.Numbers(signals, now, s.see)
	view := st.View
	for i := range view.Len() {
		slot := view.Slot(i)
		s.see(i, "phase", float64(slot.Phase))
		s.see(i, "routable", float64(bit(slot.Routable)))
		if signals&policy.KVUse != 0 {
			s.see(i, "kv_blocks", float64(slot.Total))
		}
		if signals&policy.Prefixes != 0 && st.Prefixes != nil {
			s.see(i, seenPrefixes, float64(st.Prefixes.Expected(i)))
		}
		for _, row := range policy.SignalTable() {
			if row.Bit&signals != 0 && (row.Key != "" || row.Bit == policy.InFlight) {
				s.numbers = view.Numbers(s.numbers[:0], &row, i)
				s.see(i, seenName(&row), s.numbers...)
			}
		}
	}
}

const seenPrefixes = "expected_prefix_hits"

// seenName is the name of a signal in a recording.
func seenName(row *policy.Signal) string {
	if row.Key != "" {
		return row.Key
	}
	return strings.NewReplacer(" ", "_", "-", "_").Replace(row.Name)
}

// see notes the numbers if they are other than before.
func (s *observations) see(of int, name string, numbers ...float64) {
	what := seenOf{of, name}
	if last, known := s.last[what]; known && slices.Equal(last, numbers) {
		return
	}
	numbers = slices.Clone(numbers)
	s.last[what] = numbers
	s.changes = append(s.changes, seenChange{what, numbers})
}

// record writes the entry of a decision with the changes, before the first one the
// names of labels. With first it has all of the request ask, which is nil for a
// decision about none.
func (s *observations) record(out *lookahead.Outbox, at lookahead.Key, decision string, ask *policy.Request, first bool, signals policy.Signals) {
	s.text.Reset()
	e := msgpack.NewEncoder(&s.text)
	e.UseCompactInts(true)
	if !s.named {
		s.writeNames(e)
		s.named = true
	}
	request := int64(-1)
	if ask != nil {
		request = ask.ID
	}
	must(e.EncodeArrayLen(9))
	must(e.EncodeString("seen"))
	must(e.EncodeInt(int64(s.observer)))
	must(e.EncodeString(decision))
	must(e.EncodeInt(int64(at.At)))
	must(e.EncodeInt(int64(at.Class)))
	must(e.EncodeInt(request))
	var names []string
	for _, row := range policy.SignalTable() {
		if row.Bit&signals != 0 {
			names = append(names, seenName(&row))
		}
	}
	writeStrings(e, names)
	s.writeChanges(e)
	if first {
		writeRequest(e, ask)
	} else {
		must(e.EncodeArrayLen(0))
	}
	out.Record(s.text.Bytes())
}

// writeNames writes the names of tenants, SLO classes and models.
func (s *observations) writeNames(e *msgpack.Encoder) {
	must(e.EncodeArrayLen(4))
	must(e.EncodeString("names"))
	for _, names := range []*workload.Names{&s.labels.Tenants, &s.labels.Classes, &s.labels.Models} {
		var list []string
		for i := range names.Len() {
			list = append(list, names.Name(workload.Label(i)))
		}
		writeStrings(e, list)
	}
}

func writeStrings(e *msgpack.Encoder, list []string) {
	must(e.EncodeArrayLen(len(list)))
	for _, s := range list {
		must(e.EncodeString(s))
	}
}

func (s *observations) writeChanges(e *msgpack.Encoder) {
	must(e.EncodeArrayLen(len(s.changes)))
	for _, c := range s.changes {
		must(e.EncodeArrayLen(2 + len(c.numbers)))
		must(e.EncodeInt(int64(c.of)))
		must(e.EncodeString(c.name))
		for _, x := range c.numbers {
			writeNumber(e, x)
		}
	}
}

// writeRequest writes what policies are told of a request besides its number and the
// numbers of its delays and attempts.
func writeRequest(e *msgpack.Encoder, ask *policy.Request) {
	must(e.EncodeArrayLen(10 + 2*len(ask.Spans)))
	for _, label := range []workload.Label{ask.Tenant, ask.Class, ask.Model} {
		must(e.EncodeInt(int64(label)))
	}
	must(e.EncodeUint(ask.Session))
	must(e.EncodeInt(int64(ask.Round)))
	must(e.EncodeInt(int64(ask.Arrival)))
	must(e.EncodeInt(since(0, ask.Deadline)))
	must(e.EncodeInt(int64(ask.Input)))
	must(e.EncodeInt(int64(ask.MaxOutput)))
	writeNumber(e, ask.Hint)
	for _, span := range ask.Spans {
		must(e.EncodeUint(uint64(span.Content)))
		must(e.EncodeInt(int64(span.Length)))
	}
}

// writeNumber writes whole numbers as integers, which are shorter.
func writeNumber(e *msgpack.Encoder, x float64) {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		must(e.EncodeInt(int64(x)))
	} else {
		must(e.EncodeFloat64(x))
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
