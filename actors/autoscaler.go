package actors

import (
	"blis/lookahead"
	"blis/policy"
	"blis/vtime"
)

// autoscaler is the actor that asks the autoscale policy at every multiple of
// its interval. It is a control process: when its policy reads signals, a
// check at T sees every instance as all of T left it.
type autoscaler struct {
	policy   policy.Autoscale
	interval vtime.Duration
	next     vtime.Time
	context  policy.AutoscaleContext
	checks   int64
}

var (
	_ lookahead.Process  = (*autoscaler)(nil)
	_ lookahead.Periodic = (*autoscaler)(nil)
	_ lookahead.Folder   = (*autoscaler)(nil)
)

// skip leaves out the checks before t. Timestamps that count from 1970 would
// otherwise cost millions of them.
func (a *autoscaler) skip(t vtime.Time) {
	if a.next < t {
		missed := (int64(t-a.next) + int64(a.interval) - 1) / int64(a.interval)
		a.next = a.next.Add(vtime.Duration(missed) * a.interval)
	}
}

// Next implements lookahead.Process: all its events are periodic.
func (a *autoscaler) Next() lookahead.Key { return lookahead.NeverKey }

// NextPeriodic implements lookahead.Periodic.
func (a *autoscaler) NextPeriodic() lookahead.Key {
	if a.next == vtime.Never {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: a.next, Class: classScale}
}

// Promise implements lookahead.Process. A policy that holds the number of
// replicas sends nothing.
func (a *autoscaler) Promise() lookahead.Key { return lookahead.NeverKey }

// Receive implements lookahead.Process; nobody sends to it yet.
func (a *autoscaler) Receive(m *lookahead.Message, _ *lookahead.Outbox) {
	panic("actors: the autoscaler received a message from " + m.Stamp.String())
}

// Advance implements lookahead.Process.
func (a *autoscaler) Advance(_ lookahead.Key, out *lookahead.Outbox) {
	for out.Execute(a.NextPeriodic()) {
		a.context.Now = a.next
		if d := a.policy.Evaluate(&a.context); d.Action != policy.Hold {
			panic("actors: the autoscale policy wants to act; this version only has policies that hold")
		}
		a.checks++
		a.next = a.next.Add(a.interval)
	}
}

// Fold implements lookahead.Folder.
func (a *autoscaler) Fold() uint64 { return uint64(a.checks) }
