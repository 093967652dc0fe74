package lookahead

import "math/bits"

// NoticeKind numbers the kinds of notices that leaves send, from 0 on. Each kind
// has promises of its own, and each control process is held back by the kinds
// that it receives alone. So a kind that can cause something within a microsecond
// costs no lookahead of the others.
type NoticeKind uint8

// NoticeKinds is the largest number of kinds.
const NoticeKinds = 8

// Notice is what the kernel knows of one kind of notice.
type Notice struct {
	// React returns the earliest effect of a notice that arrives at a Key: the
	// first Key at which it can cause a message to a leaf, or an observation
	// of live state, which leaves must not be past. A notice to any control
	// process counts, and what others do because that one tells them. It must
	// be monotone. Nil: notices of this kind cause neither.
	React func(Key) Key
	// Reply returns the earliest effect of a message to a leaf that takes
	// effect at a Key (see Outbox.BeginWithEffectAt): the first Key at which
	// the leaf can send a notice of this kind because of it. It must be
	// monotone. Nil: the next Key. Mail that waits at a leaf with a Notifier
	// lowers its promise of every kind to this Key, so a Reply that is too
	// early shortens windows even if the leaf promises never.
	Reply func(Key) Key
}

// notices is Config.Notices.
type notices [NoticeKinds]Notice

// effect returns React of a notice at k, NeverKey if it causes nothing.
func (n *notices) effect(kind NoticeKind, k Key) Key {
	if n[kind].React == nil || k.IsNever() {
		return NeverKey
	}
	return n[kind].React(k)
}

// reply returns the earliest notice of a kind that can follow from mail with Key
// k that takes effect at effectAt. Reply may say any Key, and most mail takes
// effect at k itself; but the mail is the cause of the notice, and a message is
// strictly later than its cause: the notice is not before k.Next().
func (n *notices) reply(kind NoticeKind, k, effectAt Key) Key {
	if n[kind].Reply != nil {
		effectAt = n[kind].Reply(latest(k, effectAt))
	}
	return latest(effectAt, k.Next())
}

// replies returns the earliest of the replies of the kinds in set.
func (n *notices) replies(set kindSet, k, effectAt Key) Key {
	first := NeverKey
	for ; set != 0; set = set.rest() {
		first = Earliest(first, n.reply(set.first(), k, effectAt))
	}
	return first
}

// unheard returns the Key of the earliest message to a leaf that can follow from
// a notice that leaves promise in l and that a receiver of the kinds in set does
// not get.
func (n *notices) unheard(l *summary, set kindSet) Key {
	message := NeverKey
	for other := l.kinds &^ set; other != 0; other = other.rest() {
		kind := other.first()
		if k := l.promise[kind]; !k.IsNever() {
			message = Earliest(message, latest(n.effect(kind, k), k.Next()))
		}
	}
	return message
}

// firstNotice returns the Key before which no notice can reach a receiver of the
// kinds in set. Such a notice is promised in l, or a leaf sends it because of a
// message that follows from a notice of another kind, directly or over further
// leaves and notices. Every notice of such a chain is later than the first message
// to a leaf in it, and Reply is monotone, so the reply to that message bounds
// them all. Other control processes need no bound here: one that may send to the
// receiver receives no kind that the receiver does not (see mayTell).
func (n *notices) firstNotice(l *summary, set kindSet) Key {
	first := l.earliest(set)
	if message := n.unheard(l, set); !message.IsNever() {
		first = Earliest(first, n.replies(set, message, message))
	}
	return first
}

// kindSet is a set of kinds of notices, one bit each. A loop over it:
//
//	for ; set != 0; set = set.rest() {
//		k := set.first()
//		…
//	}
type kindSet uint8

// kindsOf returns the set of kinds.
func kindsOf(list []NoticeKind) (set kindSet) {
	for _, k := range list {
		set |= 1 << k
	}
	return set
}

func (s kindSet) first() NoticeKind     { return NoticeKind(bits.TrailingZeros8(uint8(s))) }
func (s kindSet) rest() kindSet         { return s & (s - 1) }
func (s kindSet) has(k NoticeKind) bool { return k < NoticeKinds && s&(1<<k) != 0 }

// mayTell reports whether a control process that receives the kinds in s may send
// to one that receives those in other: that must be all of them. Otherwise a
// notice that only the sender waits for could reach the receiver, through the
// sender, in its past.
func (s kindSet) mayTell(other kindSet) bool { return s&^other == 0 }

// checkNotice traps a notice of a kind that its receiver does not receive, and
// one that comes before its promise. The fleet's promise covers the sender's
// turn: what waits in its mailbox has lowered it.
func (n *node) checkNotice(receiver *node, kind NoticeKind, at Key) {
	if !n.loop.view.control[receiver.slot].receives.has(kind) {
		n.trap(ruleKind, n.stamp(at), Stamp{Source: uint32(receiver.id)})
	}
	if promise := n.loop.fleet.promise[kind].key(n.slot); at.Less(promise) {
		n.trap(rulePromise, n.stamp(at), n.stamp(promise))
	}
}
