package lookahead

import "fmt"

// Trace asks for marks along the digests, so that the place where two runs
// part can be found in two passes: first with Every, then with the Process
// and the numbers that FirstDifference named.
type Trace struct {
	Every    uint64    // a mark of every process after each so many messages; 0: none
	Process  ProcessID // the one process of which every message is marked
	From, To uint64    // its messages with these numbers, counted from 1: [From, To)
}

// Mark is the state of a process's digest after it executed a message.
type Mark struct {
	Number uint64 // of the message, from 1
	Stamp  Stamp
	Hash   uint64 // rolling
}

// ProcessTrace is what Trace recorded of one process.
type ProcessTrace struct {
	Name     string
	ID       ProcessID
	Marks    []Mark
	Messages uint64
	Final    uint64 // the process's digest, final state included
}

// Difference is the first place where two traces of one configuration part.
type Difference struct {
	Name string
	ID   ProcessID
	// The message lies in [From, To) of the process's numbers. When To is
	// From+1 it is that one, and A and B are its marks.
	From, To uint64
	A, B     Mark
	Alone    bool // only one of the runs has that mark, given as A and B
	State    bool // all messages agree; the final state does not
}

// String says where, in words.
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

// FirstDifference compares two traces that list the same processes in the
// same order. Of several processes that differ it names the one whose first
// differing mark is earliest: what comes later may be its consequence. It
// reports false if everything agrees.
func FirstDifference(a, b []ProcessTrace) (first Difference, found bool) {
	for i := range min(len(a), len(b)) {
		d, differs := difference(&a[i], &b[i])
		if differs && (!found || d.before(first)) {
			first, found = d, true
		}
	}
	return first, found
}

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

// consecutive reports whether the marks are of every message of a range.
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

// mark is called after message number n.
func (r *tracer) mark(n uint64, s Stamp, d *digest) {
	if n >= r.from && n < r.to || r.every > 0 && n%r.every == 0 {
		r.marks = append(r.marks, Mark{n, s, d.sum()})
	}
}

// finish marks the tail after the last multiple of every.
func (r *tracer) finish(n uint64, s Stamp, d *digest) {
	if r.every > 0 && n%r.every != 0 {
		r.marks = append(r.marks, Mark{n, s, d.sum()})
	}
}
