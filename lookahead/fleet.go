package lookahead

// fleet is what the coordinator keeps of the leaves: three keys of each, and
// their minima. A leaf that does not run and gets no mail costs nothing per
// window, whatever the number of leaves.
type fleet struct {
	nodes    []*node
	periodic bool // some have periodic events

	due     minima // earliest event: local, periodic or mail
	promise minima // earliest message to control, whatever waits in the mailbox included
	steady  minima // until when what it publishes stays as it is

	reply func(Key) Key
}

// summary is three minima over leaves.
type summary struct{ due, promise, steady Key }

// add appends a leaf.
func (f *fleet) add(n *node) {
	n.slot = len(f.nodes)
	f.nodes = append(f.nodes, n)
	f.periodic = f.periodic || n.periodic != nil
	f.due.grow()
	f.promise.grow()
	f.steady.grow()
	f.set(n)
	f.refresh(n.slot)
}

// set takes over the state of a leaf after its turn. Workers call it for
// different leaves at the same time; refresh follows.
func (f *fleet) set(n *node) {
	next, mail, quiet := n.process.Next(), n.mailbox.head(), n.mailbox.quiet()
	promise := latest(n.process.Promise(), next.Next())
	due := earliest(next, mail)
	if n.periodic != nil && !n.horizon.IsNever() {
		due = earliest(due, n.periodic.NextPeriodic())
	}
	if !mail.IsNever() {
		promise = earliest(promise, f.replyTo(mail, quiet))
	}
	steady := next // mail aside
	if n.publisher != nil {
		steady = n.publisher.StableUntil()
	} else if n.periodic != nil {
		steady = due
	}
	steady = latest(due, earliest(steady, quiet))
	f.due.put(n.slot, due)
	f.promise.put(n.slot, promise)
	f.steady.put(n.slot, steady)
}

// replyTo is the earliest message that can follow from mail that is delivered
// at k and quiet until another Key.
func (f *fleet) replyTo(k, quiet Key) Key {
	if f.reply != nil {
		quiet = f.reply(latest(k, quiet))
	}
	return latest(quiet, k.Next())
}

// note records that mail for a leaf waits, the earliest at k, and that it is
// quiet until another Key.
func (f *fleet) note(slot int, k, quiet Key) {
	f.due.lower(slot, k)
	f.promise.lower(slot, f.replyTo(k, quiet))
	f.steady.lower(slot, latest(k, quiet))
}

// refresh brings the minima up to date after set.
func (f *fleet) refresh(slot int) {
	f.due.refresh(slot)
	f.promise.refresh(slot)
	f.steady.refresh(slot)
}

// refreshAll does so for slots in ascending order.
func (f *fleet) refreshAll(slots []int32) {
	if len(slots) > len(f.nodes)/2 {
		f.due.refreshEvery()
		f.promise.refreshEvery()
		f.steady.refreshEvery()
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

// minima is the summary over all leaves.
func (f *fleet) minima() summary {
	return summary{f.due.least(), f.promise.least(), f.steady.least()}
}

// query is what behind looks for.
type query struct {
	horizon, need, told Key
	all                 bool
}

// behind appends the slots of the leaves that have something to do before h,
// of those only the ones whose published state may change before need or which
// may send before told; both NeverKey: all. In ascending order.
func (f *fleet) behind(list []int32, h, need, told Key) []int32 {
	if len(f.nodes) == 0 {
		return list
	}
	q := query{h, need, told, need.IsNever() && told.IsNever()}
	return f.collect(list, &q, len(f.due.levels)-1, 0)
}

// collect descends to the leaves below a group of entries of a level.
func (f *fleet) collect(list []int32, q *query, level, from int) []int32 {
	due := f.due.levels[level]
	for i := from; i < min(from+fanOut, len(due)); i++ {
		switch {
		case !due[i].Less(q.horizon):
		case !q.all && !f.steady.levels[level][i].Less(q.need) && !f.promise.levels[level][i].Less(q.told):
		case level > 0:
			list = f.collect(list, q, level-1, i*fanOut)
		default:
			list = append(list, int32(i))
		}
	}
	return list
}

// first returns the leaf with the earliest event, of several the one created
// first; nil if there is none.
func (f *fleet) first() (*node, Key) {
	due := f.due.least()
	if due.IsNever() {
		return nil, NeverKey
	}
	return f.nodes[f.due.first()], due
}
