package actors

import (
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// published is what the router publishes of what it alone knows: requests, rates,
// completions, the phases of replicas and their number. It is a log that the router
// writes and one other control process, the autoscaler, reads up to its end at each
// of its events, as a watch of Kubernetes delivers changes. Turns of control
// processes never overlap, and the kernel lets the autoscaler check at a Key only
// when the router has executed all events before it; so a check sees exactly those.
//
// The nil log is for runs in which nobody reads it.
type published struct {
	reads   policy.Signals // of the reader: the log has nothing that it does not observe
	entries []publishedEntry
	endings []policy.Ending // of the entries endedOfClass, in their order
	slots   []policy.Slot   // of the entries slotSet, in their order

	arrived, admitted, rejected int64
	replicas                    int32      // wanted: starting, warming, serving or pending
	pending                     int32      // of these, instances for which no node has had room
	last                        ScaleEvent // the last change of the number wanted …
	scaled                      bool       // … if there was one

	waiting int64 // requests at the gateway in front of the instances
}

// publishedEntry is one change.
type publishedEntry struct {
	kind          publishedKind
	completed     bool
	tenant, class workload.Label
	instance      int32
	at            vtime.Time
}

type publishedKind uint8

const (
	requestArrived publishedKind = iota
	requestAdmitted
	requestEnded // of an admitted request
	endedOfClass // how a request ended on an instance
	requestSent  // to an instance
	requestGone  // from an instance
	slotSet      // of an instance: it is new, or its phase is another
)

// observed reports whether the reader observes one of signals.
func (p *published) observed(signals policy.Signals) bool { return p != nil && p.reads&signals != 0 }

func (p *published) arrive(tenant, class workload.Label, now vtime.Time) {
	if p != nil {
		p.arrived++
	}
	if p.observed(policy.Active | policy.Rates) {
		p.entries = append(p.entries, publishedEntry{kind: requestArrived, tenant: tenant, class: class, at: now})
	}
}

func (p *published) admit(tenant workload.Label) {
	if p != nil {
		p.admitted++
	}
	if p.observed(policy.Active) {
		p.entries = append(p.entries, publishedEntry{kind: requestAdmitted, tenant: tenant})
	}
}

func (p *published) reject() {
	if p != nil {
		p.rejected++
	}
}

func (p *published) end(tenant workload.Label, completed bool, now vtime.Time) {
	if p.observed(policy.Active) {
		p.entries = append(p.entries, publishedEntry{kind: requestEnded, tenant: tenant, completed: completed, at: now})
	}
}

func (p *published) endOf(class workload.Label, x policy.Ending) {
	if p.observed(policy.ClassLatency) {
		p.entries = append(p.entries, publishedEntry{kind: endedOfClass, class: class})
		p.endings = append(p.endings, x)
	}
}

// send and leave are about one request on instance i.
func (p *published) send(i int)  { p.move(requestSent, i) }
func (p *published) leave(i int) { p.move(requestGone, i) }

func (p *published) move(kind publishedKind, i int) {
	if p.observed(policy.InFlight) {
		p.entries = append(p.entries, publishedEntry{kind: kind, instance: int32(i)})
	}
}

// set publishes the phase of instance i.
func (p *published) set(i int, s policy.Slot) {
	if p != nil {
		p.entries = append(p.entries, publishedEntry{kind: slotSet, instance: int32(i)})
		p.slots = append(p.slots, policy.Slot{Routable: s.Routable, Phase: s.Phase, Total: s.Total})
	}
}

// scale publishes a change of the number of replicas wanted.
func (p *published) scale(e ScaleEvent) {
	if p != nil {
		p.replicas, p.last, p.scaled = e.To, e, true
	}
}

// wait publishes for how many of the replicas that are wanted no node has had room.
func (p *published) wait(pending int32) {
	if p != nil {
		p.pending = pending
	}
}

// follow brings state and view up to the end of the log, and empties it.
func (p *published) follow(state *policy.RouterState, view *policy.View) {
	endings, slots := p.endings, p.slots
	for i := range p.entries {
		switch e := &p.entries[i]; e.kind {
		case requestArrived:
			state.Arrive(e.tenant, e.class, e.at)
		case requestAdmitted:
			state.Admit(e.tenant)
		case requestEnded:
			state.End(e.tenant, e.completed, e.at)
		case endedOfClass:
			state.EndOf(e.class, endings[0])
			endings = endings[1:]
		case requestSent:
			view.AddInFlight(int(e.instance), 1)
		case requestGone:
			view.AddInFlight(int(e.instance), -1)
		case slotSet:
			enter(view, int(e.instance), slots[0])
			slots = slots[1:]
		}
	}
	state.Arrived, state.Admitted, state.Rejected = p.arrived, p.admitted, p.rejected
	p.entries, p.endings, p.slots = p.entries[:0], p.endings[:0], p.slots[:0]
}

// enter enters the phase of instance i, which may be new. Nothing is on an instance
// that is gone.
func enter(view *policy.View, i int, s policy.Slot) {
	if i == view.Len() {
		view.Add(s)
		return
	}
	if s.Phase == policy.Gone {
		view.Set(i, s)
		view.ShowSignals(i, new(policy.InstanceState), ^policy.NoSignals)
		return
	}
	shown := view.Slot(i)
	shown.Routable, shown.Phase, shown.Total = s.Routable, s.Phase, s.Total
	view.Set(i, shown)
}

// lastScale is when the number of replicas wanted changed last, vtime.Never if it
// has not yet.
func (p *published) lastScale() vtime.Time {
	if !p.scaled {
		return vtime.Never
	}
	return p.last.At
}

// turned is how long ago the last change was if e, which comes next, is an
// oscillation; −1 if e is none, or no change.
func (p *published) turned(e ScaleEvent) vtime.Duration {
	if p.scaled && e.To != e.From && p.last.turns(e) {
		return e.At.Sub(p.last.At)
	}
	return -1
}
