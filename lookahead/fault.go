package lookahead

import (
	"fmt"
	"strings"
)

// Trap is a broken rule of the protocol: a bug in a process or in the kernel,
// never in a user's input. It reaches the caller as the Value of a Fault.
type Trap struct {
	Rule    string // what must hold and did not
	Process string // in whose turn it showed
	// The two places in the order that do not fit together. Of a local event
	// or a horizon only the Key is meaningful.
	First, Second Stamp
}

// Error prints the rule and both stamps.
func (t *Trap) Error() string {
	return fmt.Sprintf("%s: %s [%v] against [%v]", t.Process, t.Rule, t.First, t.Second)
}

// The rules that traps watch.
const (
	ruleHorizon  = "message below its receiver's horizon"
	ruleOrder    = "two messages without order"
	ruleBackward = "time goes back"
	ruleCause    = "message not strictly later than its cause"
	ruleRoute    = "message to a process that may not receive it"
	ruleSilent   = "silent message to a process that is no sink"
	ruleFields   = "fields written are not the number announced"
	ruleBody     = "message read against its format"
	ruleFrame    = "malformed frame"
	ruleIdle     = "observation passed without an end"
)

// Fault says that a process panicked. The run has stopped; there is no digest.
type Fault struct {
	Process string
	ID      ProcessID
	At      Key   // of the event or message that it was executing
	Last    Stamp // of the last message that it executed or was executing
	Value   any   // what it panicked with
	Stack   []byte
}

// Error names process, virtual time, last stamp and the value.
func (f *Fault) Error() string {
	return fmt.Sprintf("process %q (%d) failed at %v, last message [%v]: %v", f.Process, f.ID, f.At, f.Last, f.Value)
}

// Unwrap gives the value if it is an error, a *Trap for instance.
func (f *Fault) Unwrap() error {
	err, _ := f.Value.(error)
	return err
}

// Blocked is one process that has work and cannot go on.
type Blocked struct {
	Process string
	ID      ProcessID
	Next    Key    // what it would execute
	Waits   string // for what
}

// Deadlock says that work remains and nobody may advance.
type Deadlock struct{ Blocked []Blocked }

// Error names each blocked process and what it waits for.
func (d *Deadlock) Error() string {
	var b strings.Builder
	b.WriteString("nobody can advance although work remains:")
	for i, p := range d.Blocked {
		if i == 20 {
			fmt.Fprintf(&b, " and %d more", len(d.Blocked)-i)
			break
		}
		fmt.Fprintf(&b, " %q (%d) at %v waits for %s;", p.Process, p.ID, p.Next, p.Waits)
	}
	return strings.TrimSuffix(b.String(), ";")
}
