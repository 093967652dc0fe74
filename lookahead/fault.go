package lookahead

import "fmt"

// Trap is a broken rule of the protocol: a bug in a process or in the kernel, not
// in a user's input. The caller of Run gets it as the Value of a Fault.
type Trap struct {
	Rule    string // the rule that is broken
	Process string // the process that had the turn
	// The two stamps that break the rule together. Of a local event or a
	// horizon only the Key is meaningful.
	First, Second Stamp
}

// Error prints the rule and both stamps.
func (t *Trap) Error() string {
	return fmt.Sprintf("%s: %s [%v] against [%v]", t.Process, t.Rule, t.First, t.Second)
}

// The rules, as a Trap names the breach of one.
const (
	ruleHorizon  = "message below its receiver's horizon"
	ruleOrder    = "two messages without order"
	ruleBackward = "time goes back"
	ruleCause    = "message not strictly later than its cause"
	rulePromise  = "notice before its promise"
	ruleKind     = "notice of a kind that its receiver does not receive"
	rulePeer     = "message to a control process that does not receive all kinds of notices that its sender receives"
	ruleRoute    = "message to a process that may not receive it"
	ruleSilent   = "silent message to a process that is no sink"
	ruleFields   = "fields written are not the number announced"
	ruleBody     = "message read against its format"
	ruleFrame    = "malformed frame"
	ruleIdle     = "observation passed without an end"
)

// Fault is the error of a run that stopped because a process panicked. There is
// no digest then.
type Fault struct {
	Process string
	ID      ProcessID
	At      Key   // of the event or message that the process was executing
	Last    Stamp // of the last message that the process executed or was executing
	Value   any   // of the panic
	Stack   []byte
}

// Error names process, virtual time, last stamp and the value.
func (f *Fault) Error() string {
	return fmt.Sprintf("process %q (%d) failed at %v, last message [%v]: %v", f.Process, f.ID, f.At, f.Last, f.Value)
}

// Unwrap returns the value of the panic if it is an error, such as a *Trap.
func (f *Fault) Unwrap() error {
	err, _ := f.Value.(error)
	return err
}

// firstFault returns the fault with the earliest Key, of all processes.
func (co *coordinator) firstFault() error {
	var first *Fault
	for _, n := range co.all() {
		if n.fault != nil && (first == nil || n.fault.At.Less(first.At)) {
			first = n.fault
		}
	}
	return first
}
