package traffic

import (
	"fmt"

	"blis/vtime"
	"blis/workload"
)

// userSlot is the slot of entries that are single requests of users.
const userSlot = -2

// faultSlot and those below are the slots of entries in place of what cannot be:
// that of faults[i] is faultSlot − i.
const faultSlot = -3

// seat lets every user of the client begin: after a first think time each sends
// a request, or begins a session. What that takes of the requests that the
// client may send is set aside here: users begin whatever happens in the run.
func (c *client) seat(s *Source) error {
	for u := uint64(0); u < uint64(c.Users) && c.left > 0; u++ {
		if err := s.sit(&s.open, c, u, 0, 0); err != nil {
			return err
		}
	}
	return nil
}

// sit lets a user think from a time on, at least so long, and then begin session
// (or single request) number n.
func (s *Source) sit(q *queue, c *client, n uint64, from vtime.Time, least vtime.Duration) error {
	pauses := c.pauses.of(c.seed, n)
	at := from.Add(max(least, c.Think.Sample(&pauses)))
	if c.left == 0 || s.past(at) {
		return nil
	}
	if at > workload.Latest {
		return c.late(n)
	}
	k := c.userKind(n)
	if k.Session == nil {
		c.spend(s, 1)
		q.push(entry{at, c.source, n << stepBits, userSlot})
		return nil
	}
	i, err := s.plan(c, k, n, c.left)
	if err != nil {
		return err
	}
	c.spend(s, s.sessions.at(i).planned())
	s.start(q, i, at)
	return nil
}

// userKind draws what a user's number n is.
func (c *client) userKind(n uint64) *Kind {
	switch len(c.Kinds) {
	case 0:
		return &single
	case 1:
		return &c.Kinds[0]
	}
	v := c.lengths.of(c.seed, n)
	return c.choose(v.Uniform())
}

// userRequest fills r with a single request of a user.
func (s *Source) userRequest(c *client, e entry, r *workload.Request) {
	n := e.index >> stepBits
	k := c.userKind(n)
	v := c.lengths.of(c.seed, n)
	if len(c.Kinds) > 1 {
		v.Uniform() // that of its kind
	}
	prefix, shared := c.prefix(&v)
	input := c.inputs(k.Input).Sample(&v)
	c.fill(r, e.at, input, c.outputs(k.Output).Sample(&v))
	r.Index, r.Awaited = e.index, true
	s.begin(r, prefix, shared)
}

// Ended implements workload.Loop.
func (s *Source) Ended(e *workload.End) {
	c := &s.clients[e.Source-workload.FirstSource]
	n, k := e.Index>>stepBits, int(e.Index&(maxSteps-1))
	if c.Users > 0 {
		s.counts.UserRequests++
		if !e.Completed {
			s.counts.UserRefused++
		}
	}
	slot, going := s.sessions.live[key(int(e.Source-workload.FirstSource), n)]
	if !going { // a single request of a user
		s.again(c, n, e.At, e.Completed)
		return
	}
	x := s.sessions.at(slot)
	x.waiting--
	x.until = max(x.until, e.At)
	switch {
	case !e.Completed && !x.kind.Persists:
		x.failed = true
		if x.filed > 0 {
			s.due.forget(slot, x.root)
			x.filed = 0
		}
	case x.kind.Graph != nil:
		s.reply(c, slot, k, e)
	default:
		if e.Completed {
			x.listen(c, k, e.Generated)
		}
		if k+1 < len(x.steps) {
			s.file(c, e.At.Add(max(1, x.steps[k+1].wait)), e.Index+1, slot)
			return
		}
	}
	if x.waiting == 0 && x.roots == 0 && (x.failed || x.sent == len(x.steps)) {
		s.close(c, slot)
	}
}

// past reports whether at is at or after the horizon.
func (s *Source) past(at vtime.Time) bool { return s.config.Horizon > 0 && at >= s.config.Horizon }

// file puts a request of a session into the order of those that are due. One
// past the horizon is never sent.
func (s *Source) file(c *client, at vtime.Time, index uint64, slot int32) {
	if s.past(at) {
		return
	}
	if at > workload.Latest {
		s.fault(c, at, index, c.late(index>>stepBits))
		return
	}
	s.sessions.at(slot).filed++
	s.due.push(entry{at, c.source, index, slot})
}

// fault files what cannot be: it is an error when its time comes, not when it is
// found, which can be before or after others are pulled.
func (s *Source) fault(c *client, at vtime.Time, index uint64, err error) {
	s.due.push(entry{min(at, vtime.Never-1), c.source, index, int32(faultSlot - len(s.faults))})
	s.faults = append(s.faults, err)
}

// late is the error of a session that would begin or go on beyond the end of
// virtual time, under no horizon.
func (c *client) late(n uint64) error {
	return fmt.Errorf("client %q: session %d would go on after the end of virtual time, 2⁶² µs; want shorter waits, fewer requests or a horizon", c.ID, n)
}

// close ends a session, after which a user goes on: when all answers are there,
// which need not be when the last request ended, as tokens take clients time.
func (s *Source) close(c *client, slot int32) {
	x := s.sessions.at(slot)
	if x.failed {
		s.counts.EndedEarly++
		s.counts.NotSent += int64(len(x.steps) - x.sent)
	} else {
		s.counts.Completed++
	}
	n, until, answered := x.number, x.until, !x.failed
	s.sessions.drop(slot)
	if c.Users > 0 {
		s.again(c, n, until, answered)
	}
}

// again lets the user of number n go on: to the next request or session, whatever
// became of this one. A user without an answer pauses before, and thinks
// meanwhile: it never asks sooner than one who has an answer.
func (s *Source) again(c *client, n uint64, at vtime.Time, answered bool) {
	n += uint64(c.Users)
	least := vtime.Duration(1) // an answer causes nothing in its own instant
	if !answered {
		draws := c.refusals.of(c.seed, n)
		least = c.pause.Sample(&draws)
	}
	if err := s.sit(&s.due, c, n, at, least); err != nil {
		s.fault(c, at.Add(1), n<<stepBits, err)
	}
}
