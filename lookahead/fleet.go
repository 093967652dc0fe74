package lookahead

// fleet is what the coordinator knows of the leaves: a few Keys of each, in
// trees of minima. A leaf that does not run and gets no mail costs nothing per
// window, whatever the number of leaves.
type fleet struct {
	nodes    []*node // by slot
	periodic bool    // some leaves have periodic events

	// By slot; each Key covers mail that waits in the leaf's mailbox.
	due         minTree              // the earliest event: local, periodic or mail
	promise     [NoticeKinds]minTree // the earliest notice of a kind that the leaf may send; empty for kinds not in use
	stableUntil minTree              // what the leaf publishes does not change before it

	kinds   kindSet // in use: some control process receives them
	notices notices // Config.Notices
}

// summary is the minimum over leaves of each of the Keys.
type summary struct {
	due, stableUntil Key
	kinds            kindSet          // in use
	promise          [NoticeKinds]Key // of the kinds in use; the others are not read
}

// earliest returns the earliest promise of the kinds in set.
func (l *summary) earliest(set kindSet) Key {
	first := NeverKey
	for ; set != 0; set = set.rest() {
		first = Earliest(first, l.promise[set.first()])
	}
	return first
}

// use adds kinds to those in use.
func (f *fleet) use(set kindSet) {
	for added := set &^ f.kinds; added != 0; added = added.rest() {
		for range f.nodes {
			f.promise[added.first()].add()
		}
	}
	f.kinds |= set
}

// add appends a leaf.
func (f *fleet) add(n *node) {
	n.slot = len(f.nodes)
	f.nodes = append(f.nodes, n)
	f.periodic = f.periodic || n.optional.periodic != nil
	f.due.add()
	for set := f.kinds; set != 0; set = set.rest() {
		f.promise[set.first()].add()
	}
	f.stableUntil.add()
	f.update(n)
	f.refresh(n.slot)
}

// update reads the Keys of a leaf after its turn. Workers call it for different
// leaves at the same time; refresh follows.
func (f *fleet) update(n *node) {
	next, mail, effectAt := n.process.Next(), n.mailbox.head(), n.mailbox.effectAt()
	due := Earliest(next, mail)
	if n.optional.periodic != nil && !n.horizon.IsNever() {
		due = Earliest(due, n.optional.periodic.NextPeriodic())
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
	for set := f.kinds; set != 0; set = set.rest() {
		kind := set.first()
		f.promise[kind].set(n.slot, f.promiseOf(n, kind, next, mail, effectAt))
	}
	f.stableUntil.set(n.slot, stableUntil)
}

// promiseOf returns the earliest notice of a kind that a leaf with its next event
// at next may send. The earliest mail in its mailbox is at mail and takes effect
// at effectAt.
func (f *fleet) promiseOf(n *node, kind NoticeKind, next, mail, effectAt Key) Key {
	var promise Key
	switch {
	case kind == 0:
		promise = n.process.Promise()
	case n.optional.notifier == nil:
		return NeverKey
	default:
		promise = n.optional.notifier.PromiseOf(kind)
	}
	promise = latest(promise, next.Next()) // nothing is sent before the next event
	if !mail.IsNever() {
		promise = Earliest(promise, f.notices.reply(kind, mail, effectAt))
	}
	return promise
}

// noteMail records mail for a leaf, the earliest message at k, which takes
// effect at effectAt.
func (f *fleet) noteMail(slot int, k, effectAt Key) {
	f.due.lower(slot, k)
	for set := f.kinds; set != 0; set = set.rest() {
		if kind := set.first(); kind == 0 || f.nodes[slot].optional.notifier != nil {
			f.promise[kind].lower(slot, f.notices.reply(kind, k, effectAt))
		}
	}
	f.stableUntil.lower(slot, latest(k, effectAt))
}

// refresh updates the minima over a leaf after update.
func (f *fleet) refresh(slot int) {
	f.due.refresh(slot)
	for set := f.kinds; set != 0; set = set.rest() {
		f.promise[set.first()].refresh(slot)
	}
	f.stableUntil.refresh(slot)
}

// refreshAll updates the minima over several leaves, slots in ascending order.
func (f *fleet) refreshAll(slots []int32) {
	if len(slots) > len(f.nodes)/2 {
		f.due.refreshAll()
		for set := f.kinds; set != 0; set = set.rest() {
			f.promise[set.first()].refreshAll()
		}
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

// summarize sets l to the minima over all leaves.
func (f *fleet) summarize(l *summary) {
	l.due, l.stableUntil, l.kinds = f.due.min(), f.stableUntil.min(), f.kinds
	for set := f.kinds; set != 0; set = set.rest() {
		kind := set.first()
		l.promise[kind] = f.promise[kind].min()
	}
}

// summarizeOne sets l to the Keys of one leaf.
func (f *fleet) summarizeOne(slot int, l *summary) {
	l.due, l.stableUntil, l.kinds = f.due.key(slot), f.stableUntil.key(slot), f.kinds
	for set := f.kinds; set != 0; set = set.rest() {
		kind := set.first()
		l.promise[kind] = f.promise[kind].key(slot)
	}
}

// selection is what selectLeaves looks for.
type selection struct {
	horizon, stateBefore, notifyBefore Key
	kinds                              kindSet // of the notices before notifyBefore
	all                                bool    // both stateBefore and notifyBefore are NeverKey
}

// selectLeaves appends, in ascending order, the slots of the leaves that have
// events before h and whose published state may change before stateBefore or
// which may send a notice of one of the kinds before notifyBefore. If both are
// NeverKey, it appends all leaves with events before h.
func (f *fleet) selectLeaves(list []int32, h, stateBefore, notifyBefore Key, kinds kindSet) []int32 {
	if len(f.nodes) == 0 {
		return list
	}
	q := selection{h, stateBefore, notifyBefore, kinds, stateBefore.IsNever() && notifyBefore.IsNever()}
	return f.selectBelow(list, &q, len(f.due.levels)-1, 0)
}

// selectBelow selects below the fanOut entries of a level that start at from.
func (f *fleet) selectBelow(list []int32, q *selection, level, from int) []int32 {
	due := f.due.levels[level]
	for i := from; i < min(from+fanOut, len(due)); i++ {
		switch {
		case !due[i].Less(q.horizon):
		case !q.all && !f.stableUntil.levels[level][i].Less(q.stateBefore) && !f.mayNotify(q, level, i):
		case level > 0:
			list = f.selectBelow(list, q, level-1, i*fanOut)
		default:
			list = append(list, int32(i))
		}
	}
	return list
}

// mayNotify reports whether a leaf below entry i of a level may send one of the
// notices that are looked for.
func (f *fleet) mayNotify(q *selection, level, i int) bool {
	for set := q.kinds; set != 0; set = set.rest() {
		if f.promise[set.first()].levels[level][i].Less(q.notifyBefore) {
			return true
		}
	}
	return false
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
