package lookahead

// fleet is what the coordinator knows of the leaves: three Keys of each, in
// trees of minima. A leaf that does not run and gets no mail costs nothing per
// window, whatever the number of leaves.
type fleet struct {
	nodes    []*node // by slot
	periodic bool    // some leaves have periodic events

	// By slot; each Key covers mail that waits in the leaf's mailbox.
	due         minTree // the earliest event: local, periodic or mail
	promise     minTree // the earliest notice that the leaf may send
	stableUntil minTree // what the leaf publishes does not change before it

	reply func(Key) Key // Config.Reply
}

// summary is the minimum over leaves of each of the three Keys.
type summary struct{ due, promise, stableUntil Key }

// add appends a leaf.
func (f *fleet) add(n *node) {
	n.slot = len(f.nodes)
	f.nodes = append(f.nodes, n)
	f.periodic = f.periodic || n.optional.periodic != nil
	f.due.add()
	f.promise.add()
	f.stableUntil.add()
	f.update(n)
	f.refresh(n.slot)
}

// update reads the Keys of a leaf after its turn. Workers call it for different
// leaves at the same time; refresh follows.
func (f *fleet) update(n *node) {
	next, mail, effectAt := n.process.Next(), n.mailbox.head(), n.mailbox.effectAt()
	promise := latest(n.process.Promise(), next.Next()) // nothing is sent before the next event
	due := Earliest(next, mail)
	if n.optional.periodic != nil && !n.horizon.IsNever() {
		due = Earliest(due, n.optional.periodic.NextPeriodic())
	}
	if !mail.IsNever() {
		promise = Earliest(promise, f.replyTo(mail, effectAt))
	}
	stableUntil := next // without mail
	if n.optional.publisher != nil {
		stableUntil = n.optional.publisher.StableUntil()
	} else if n.optional.periodic != nil {
		stableUntil = due
	}
	// Nothing changes before the next event; mail changes nothing before it takes
	// effect.
	stableUntil = latest(due, Earliest(stableUntil, effectAt))
	f.due.set(n.slot, due)
	f.promise.set(n.slot, promise)
	f.stableUntil.set(n.slot, stableUntil)
}

// replyTo returns the earliest notice that can follow from mail with Key k that
// takes effect at effectAt. Config.Reply may say any Key, and most mail takes
// effect at k itself; but the mail is the cause of the notice, and a message is
// strictly later than its cause: the notice is not before k.Next().
func (f *fleet) replyTo(k, effectAt Key) Key {
	if f.reply != nil {
		effectAt = f.reply(latest(k, effectAt))
	}
	return latest(effectAt, k.Next())
}

// noteMail records mail for a leaf, the earliest message at k, which takes
// effect at effectAt.
func (f *fleet) noteMail(slot int, k, effectAt Key) {
	f.due.lower(slot, k)
	f.promise.lower(slot, f.replyTo(k, effectAt))
	f.stableUntil.lower(slot, latest(k, effectAt))
}

// refresh updates the minima over a leaf after update.
func (f *fleet) refresh(slot int) {
	f.due.refresh(slot)
	f.promise.refresh(slot)
	f.stableUntil.refresh(slot)
}

// refreshAll updates the minima over several leaves, slots in ascending order.
func (f *fleet) refreshAll(slots []int32) {
	if len(slots) > len(f.nodes)/2 {
		f.due.refreshAll()
		f.promise.refreshAll()
		f.stableUntil.refreshAll()
		return
	}
	group := -1
	for _, slot := range slots {
		if g := int(slot) / fanOut; g != group {
			group = g
			f.refresh(int(slot))
		}
	}
}

// summary returns the minima over all leaves.
func (f *fleet) summary() summary {
	return summary{f.due.min(), f.promise.min(), f.stableUntil.min()}
}

// selection is what selectLeaves looks for.
type selection struct {
	horizon, stateBefore, notifyBefore Key
	all                                bool // both stateBefore and notifyBefore are NeverKey
}

// selectLeaves appends, in ascending order, the slots of the leaves that have
// events before h and whose published state may change before stateBefore or
// which may send a notice before notifyBefore. If both are NeverKey, it appends
// all leaves with events before h.
func (f *fleet) selectLeaves(list []int32, h, stateBefore, notifyBefore Key) []int32 {
	if len(f.nodes) == 0 {
		return list
	}
	q := selection{h, stateBefore, notifyBefore, stateBefore.IsNever() && notifyBefore.IsNever()}
	return f.selectBelow(list, &q, len(f.due.levels)-1, 0)
}

// selectBelow selects below the fanOut entries of a level that start at from.
func (f *fleet) selectBelow(list []int32, q *selection, level, from int) []int32 {
	due := f.due.levels[level]
	for i := from; i < min(from+fanOut, len(due)); i++ {
		switch {
		case !due[i].Less(q.horizon):
		case !q.all && !f.stableUntil.levels[level][i].Less(q.stateBefore) && !f.promise.levels[level][i].Less(q.notifyBefore):
		case level > 0:
			list = f.selectBelow(list, q, level-1, i*fanOut)
		default:
			list = append(list, int32(i))
		}
	}
	return list
}

// first returns the leaf with the earliest event and that event's Key: of
// several leaves the lowest slot, nil if no leaf has an event.
func (f *fleet) first() (*node, Key) {
	due := f.due.min()
	if due.IsNever() {
		return nil, NeverKey
	}
	return f.nodes[f.due.indexOfMin()], due
}
