package lookahead

// fleet is what the coordinator keeps of the leaves: three keys of each, in
// contiguous arrays, and their minima per block of leaves. A leaf that does
// not run and gets no mail costs a share of one comparison per window.
type fleet struct {
	nodes []*node

	due     []Key // earliest event: local, periodic or mail
	promise []Key // earliest message to control, whatever waits in the mailbox included
	steady  []Key // until when what it publishes stays as it is

	blocks  []summary
	reply   func(Key) Key
	settled func(Key) Key

	publishes bool // some leaf is a Publisher, or mail settles; without, steady is due
}

// summary holds the minima over one block of leaves.
type summary struct{ due, promise, steady Key }

const blockSize = 16

// never is the summary of nothing.
var never = summary{NeverKey, NeverKey, NeverKey}

func (s *summary) include(o summary) {
	s.due = earliest(s.due, o.due)
	s.promise = earliest(s.promise, o.promise)
	s.steady = earliest(s.steady, o.steady)
}

// add appends a leaf.
func (f *fleet) add(n *node) {
	n.slot = len(f.nodes)
	f.nodes = append(f.nodes, n)
	f.due = append(f.due, NeverKey)
	f.promise = append(f.promise, NeverKey)
	f.steady = append(f.steady, NeverKey)
	if n.slot%blockSize == 0 {
		f.blocks = append(f.blocks, never)
	}
	f.publishes = f.publishes || n.publisher != nil
	f.set(n)
	f.refresh(n.slot / blockSize)
}

// set takes over the state of a leaf after its turn. Workers call it for
// different leaves at the same time; the block is refreshed afterwards.
func (f *fleet) set(n *node) {
	next, mail := n.process.Next(), n.mailbox.head()
	promise := latest(n.process.Promise(), next.Next())
	due := earliest(next, mail)
	if n.periodic != nil && !n.horizon.IsNever() {
		due = earliest(due, n.periodic.NextPeriodic())
	}
	if !mail.IsNever() {
		promise = earliest(promise, f.replyTo(mail))
	}
	steady := next // mail aside
	if n.publisher != nil {
		steady = n.publisher.Steady()
	} else if n.periodic != nil {
		steady = due
	}
	steady = latest(due, earliest(steady, f.settledAt(mail)))
	f.due[n.slot], f.promise[n.slot], f.steady[n.slot] = due, promise, steady
}

// replyTo is the earliest message that a delivery at k can cause.
func (f *fleet) replyTo(k Key) Key {
	if f.reply == nil {
		return k.Next()
	}
	return latest(f.reply(k), k.Next())
}

// settledAt is the Key until which mail at k changes nothing published.
func (f *fleet) settledAt(k Key) Key {
	if f.settled == nil || k.IsNever() {
		return k
	}
	return latest(k, f.settled(k))
}

// note records that mail for a leaf waits, the earliest at k.
func (f *fleet) note(slot int, k Key) {
	got := summary{k, f.replyTo(k), f.settledAt(k)}
	f.due[slot] = earliest(f.due[slot], got.due)
	f.promise[slot] = earliest(f.promise[slot], got.promise)
	f.steady[slot] = earliest(f.steady[slot], got.steady)
	f.blocks[slot/blockSize].include(got)
}

// refresh computes the minima of a block anew.
func (f *fleet) refresh(block int) {
	from := block * blockSize
	to := min(from+blockSize, len(f.due))
	s := &f.blocks[block]
	s.due, s.promise = least(f.due[from:to]), least(f.promise[from:to])
	s.steady = s.due
	if f.publishes {
		s.steady = least(f.steady[from:to])
	}
}

// least returns the earliest of some keys.
func least(keys []Key) Key {
	m := NeverKey
	for _, k := range keys {
		if k.At < m.At || k.At == m.At && k.Class < m.Class {
			m = k
		}
	}
	return m
}

// minima is the summary over all leaves.
func (f *fleet) minima() summary {
	s := never
	for i := range f.blocks {
		s.include(f.blocks[i])
	}
	return s
}

// behind appends the leaves that have something to do before h, of those only
// the ones whose published state may change before need or which may send
// before told; both NeverKey: all.
func (f *fleet) behind(list []*node, h, need, told Key) []*node {
	all := need.IsNever() && told.IsNever()
	for b := range f.blocks {
		if !f.blocks[b].due.Less(h) {
			continue
		}
		from := b * blockSize
		for i, due := range f.due[from:min(from+blockSize, len(f.due))] {
			if due.Less(h) && (all || f.steady[from+i].Less(need) || f.promise[from+i].Less(told)) {
				list = append(list, f.nodes[from+i])
			}
		}
	}
	return list
}

// first returns the leaf with the earliest event, of several the one created
// first; nil if there is none.
func (f *fleet) first() (*node, Key) {
	all := f.minima()
	if all.due.IsNever() {
		return nil, NeverKey
	}
	for b := range f.blocks {
		if f.blocks[b].due != all.due {
			continue
		}
		for i := b * blockSize; ; i++ {
			if f.due[i] == all.due {
				return f.nodes[i], all.due
			}
		}
	}
	return nil, NeverKey
}
