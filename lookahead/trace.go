package lookahead

import "fmt"

// Trace asks for marks along the digests. With marks, the first message in which
// two runs differ is found in two passes: the first with Every, the second with
// the Process and the numbers that FirstDifference returns.
type Trace struct {
	Every    uint64    // every process gets a mark after each Every messages; 0: none
	Process  ProcessID // this process gets a mark after each message in [From, To)
	From, To uint64    // numbers of messages, counted from 1
}

// Mark is the state of a process's digest after it executed a message.
type Mark struct {
	Number uint64 // of the message, from 1
	Stamp  Stamp
	Hash   uint64 // of all messages so far
}

// ProcessTrace is the marks of one process.
type ProcessTrace struct {
	Name     string
	ID       ProcessID
	Marks    []Mark
	Messages uint64
	Final    uint64 // the process's digest, final state included
}

// Difference is the first place where the traces of two runs differ.
type Difference struct {
	Name string
	ID   ProcessID
	// The first message that differs has a number in [From, To). If To is
	// From+1, A and B are the marks after that message in the two runs.
	From, To uint64
	A, B     Mark
	Alone    bool // only one of the runs has that mark; A and B are both it
	State    bool // all messages are equal; the final states differ
}

// String describes the place.
func (d Difference) String() string {
	switch {
	case d.State:
		return fmt.Sprintf("%s (%d): all messages agree, the final state differs", d.Name, d.ID)
	case d.Alone:
		return fmt.Sprintf("%s (%d): one run goes on after message %d, to [%v]", d.Name, d.ID, d.From-1, d.A.Stamp)
	case d.To == d.From+1:
		return fmt.Sprintf("%s (%d): message %d differs: [%v] against [%v]", d.Name, d.ID, d.From, d.A.Stamp, d.B.Stamp)
	}
	return fmt.Sprintf("%s (%d): a message from %d up to %d differs, before [%v] or [%v]", d.Name, d.ID, d.From, d.To-1, d.A.Stamp, d.B.Stamp)
}

// FirstDifference compares two traces that list the same processes in the same
// order. Of several processes that differ it returns the one whose first
// differing mark is earliest, because later differences may be consequences of
// it. It returns false if there is no difference.
func FirstDifference(a, b []ProcessTrace) (first Difference, found bool) {
	for i := range min(len(a), len(b)) {
		d, differs := difference(&a[i], &b[i])
		if differs && (!found || d.before(first)) {
			first, found = d, true
		}
	}
	return first, found
}

// before reports whether d is a more likely origin than o: earlier, and in a
// message rather than in a final state.
func (d Difference) before(o Difference) bool {
	if d.State != o.State {
		return o.State
	}
	x, y := d.A.Stamp, o.A.Stamp
	if d.B.Stamp.Less(x) {
		x = d.B.Stamp
	}
	if o.B.Stamp.Less(y) {
		y = o.B.Stamp
	}
	return x.Less(y)
}

// difference returns the first difference of two traces of one process.
func difference(a, b *ProcessTrace) (Difference, bool) {
	d := Difference{Name: a.Name, ID: a.ID, From: 1}
	for i := range min(len(a.Marks), len(b.Marks)) {
		if i == 0 && len(a.Marks) > 0 && a.Marks[0].Number == b.Marks[0].Number && consecutive(a.Marks) && consecutive(b.Marks) {
			d.From = a.Marks[0].Number
		}
		if d.A, d.B = a.Marks[i], b.Marks[i]; d.A != d.B {
			d.To = max(d.A.Number, d.B.Number) + 1
			return d, true
		}
		d.From = d.A.Number + 1
	}
	if len(a.Marks) != len(b.Marks) {
		longer := a.Marks
		if len(b.Marks) > len(a.Marks) {
			longer = b.Marks
		}
		extra := longer[min(len(a.Marks), len(b.Marks))]
		d.A, d.B, d.To = extra, extra, extra.Number+1
		d.Alone = true
		return d, true
	}
	d.A, d.B, d.State = Mark{}, Mark{}, true
	return d, a.Final != b.Final
}

// consecutive reports whether the marks are of consecutive messages.
func consecutive(marks []Mark) bool {
	return len(marks) > 1 && marks[1].Number == marks[0].Number+1
}

// tracer records the marks of one process.
type tracer struct {
	every    uint64
	from, to uint64
	marks    []Mark
}

func newTracer(t Trace, id ProcessID) *tracer {
	r := &tracer{every: t.Every}
	if t.Process == id {
		r.from, r.to = t.From, t.To
	}
	if r.every == 0 && r.from >= r.to {
		return nil
	}
	return r
}

// mark adds a mark after message number n, if Trace asks for one.
func (r *tracer) mark(n uint64, s Stamp, d *digest) {
	if n >= r.from && n < r.to || r.every > 0 && n%r.every == 0 {
		r.marks = append(r.marks, Mark{n, s, d.sum()})
	}
}

// finish adds a mark after the last message, for the messages after the last
// multiple of every.
func (r *tracer) finish(n uint64, s Stamp, d *digest) {
	if r.every > 0 && n%r.every != 0 {
		r.marks = append(r.marks, Mark{n, s, d.sum()})
	}
}
