package lookahead

// updateFromMail updates what is known of control processes that got mail.
func (co *coordinator) updateFromMail() {
	for c, n := range co.control {
		if n.mailbox.fresh.Load() > 0 {
			co.updateControl(c)
		}
	}
}

// updateControl reads the state of control process c.
func (co *coordinator) updateControl(c int) {
	n, t := co.control[c], &co.view.control[c]
	co.asked = n
	n.mailbox.absorb()
	mail := n.mailbox.head()
	t.periodic = NeverKey
	if n.optional.periodic != nil {
		t.periodic = n.optional.periodic.NextPeriodic()
	}
	own := Earliest(n.process.Next(), t.periodic)
	t.due = Earliest(own, mail)
	t.promise = latest(n.process.Promise(), own.Next())
	if n.controlMail > 0 { // Notice.React is about notices: this mail may cause anything
		t.promise = Earliest(t.promise, mail)
	} else {
		for set := t.receives; set != 0; set = set.rest() { // the mail is of any of these kinds
			t.promise = Earliest(t.promise, latest(co.view.notices.effect(set.first(), mail), mail))
		}
	}
	t.observed = Observation{At: NeverKey}
	if n.optional.observer != nil {
		t.observed = n.optional.observer.Observation()
	}
}

// sentByControl lowers the limit of the sender's turn to the earliest effect of
// its message on the sender itself: a reply, or a change of the state that the
// sender observes next. A reply is a notice that the sender receives; what
// follows from another notice, over a further message to a leaf, comes later than
// this message, and so does the reply to it (see firstNotice).
func (co *coordinator) sentByControl(sender, receiver *node, at, effectAt Key) {
	o, t := &sender.out, &co.view.control[sender.slot]
	switch receiver.channel {
	case toLeaf:
		o.toLeaves++
		o.lower(co.view.notices.replies(t.receives, at, effectAt))
		o.leavesChange(latest(at, effectAt))
	case toControl:
		if !t.receives.mayTell(co.view.control[receiver.slot].receives) {
			sender.trap(rulePeer, sender.stamp(at), Stamp{Source: uint32(receiver.id)})
		}
		o.firstTold = Earliest(o.firstTold, at)
		o.lower(peerHorizon(sender.slot, receiver.slot, at))
	}
}

// leafAdded lowers the limit of the turn in which a control process adds a leaf to
// the earliest effect of the leaf on it: a notice, or a change of the state that
// it observes next.
func (co *coordinator) leafAdded(by, leaf *node) {
	var l summary
	co.fleet.summarizeOne(leaf.slot, &l)
	receives := co.view.control[by.slot].receives
	by.out.lower(co.view.notices.firstNotice(&l, receives))
	by.out.leavesChange(Earliest(l.stableUntil, co.view.notices.unheard(&l, receives)))
}

// leavesChange notes that what leaves publish may change at k because of the turn.
// If that is part of the next observation, the turn stops before it.
func (o *Outbox) leavesChange(k Key) {
	o.firstEffect = Earliest(o.firstEffect, k)
	if next := &o.node.loop.view.control[o.node.slot].observed; o.cause.Less(next.At) && k.Less(next.StateBefore) {
		o.lower(next.At)
	}
}

// countFrame accounts for a frame that a control process is about to post.
func (co *coordinator) countFrame(sender, receiver *node, f *frame) {
	if sender.channel != toControl {
		return
	}
	switch receiver.channel {
	case toLeaf:
		co.fleet.noteMail(receiver.slot, f.first.Key(), f.effectAt)
	case toControl:
		receiver.controlMail += f.count
	}
}

// controlReceived lowers the limit of the turn in which a control process has
// just received a message. The message may have caused an observation before
// the end of the turn: the turn must stop there, unless the leaves have reached
// the state to be observed. It may have caused a periodic event: that is not
// part of this turn, because whether it happens is decided when everything
// before it has been executed.
func (co *coordinator) controlReceived(n *node, stamp Stamp) {
	if ProcessID(stamp.Source).channel() == toControl {
		n.controlMail--
	}
	if n.optional.periodic != nil {
		n.out.lower(latest(n.optional.periodic.NextPeriodic(), stamp.Key()))
	}
	if n.optional.observer == nil || co.config.Sequential {
		return
	}
	next := n.optional.observer.Observation()
	if stable := co.view.stableUntil(&co.view.control[n.slot]); Earliest(stable, n.out.firstEffect).Less(next.StateBefore) {
		n.out.lower(next.At)
	} else if !next.At.IsNever() {
		n.out.lower(next.Until)
	}
}
