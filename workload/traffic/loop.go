package traffic

import (
	"fmt"

	"blis/vtime"
	"blis/workload"
)

// userSlot is the slot of entries that are single requests of users.
const userSlot = -2

// faultSlot and the slots below it are slots of entries that are errors:
// faultSlot − i is the slot of faults[i].
const faultSlot = -3

// startUsers schedules the first request, or session, of every user of the
// client, after a first think time. The requests that this takes of the
// client's total are counted here: users begin whatever happens in the run.
func (c *client) startUsers(s *Source) error {
	for u := uint64(0); u < uint64(c.config.Users) && c.left > 0; u++ {
		if err := s.scheduleUser(&s.open, c, u, 0, 0); err != nil {
			return err
		}
	}
	return nil
}

// scheduleUser schedules session (or single request) number n of a user: from a
// time on, after a think time of at least least.
func (s *Source) scheduleUser(q *queue, c *client, n uint64, from vtime.Time, least vtime.Duration) error {
	pauses := c.pauses.of(c.seed, n)
	at := from.Add(max(least, c.config.Think.Sample(&pauses)))
	if c.left == 0 || s.past(at) {
		return nil
	}
	if at > workload.Latest {
		return c.late(n)
	}
	k := c.userKind(n)
	if k.Session == nil {
		c.countBegun(s, 1)
		q.push(entry{at, c.source, n << stepBits, userSlot})
		return nil
	}
	i, err := s.plan(c, k, n, c.left)
	if err != nil {
		return err
	}
	c.countBegun(s, s.sessions.at(i).planned())
	s.start(q, i, at)
	return nil
}

// userKind draws the kind of session (or single request) number n of a user.
func (c *client) userKind(n uint64) *Kind {
	switch len(c.config.Kinds) {
	case 0:
		return &single
	case 1:
		return &c.config.Kinds[0]
	}
	v := c.lengths.of(c.seed, n)
	return c.choose(v.Uniform())
}

// userRequest fills r with a single request of a user.
func (s *Source) userRequest(c *client, e entry, r *workload.Request) {
	n := e.index >> stepBits
	k := c.userKind(n)
	v := c.lengths.of(c.seed, n)
	if len(c.config.Kinds) > 1 {
		v.Uniform() // the draw of its kind
	}
	prefix, shared := c.prefix(&v)
	input := c.inputs(k.Input).Sample(&v)
	c.fill(r, e.at, input, c.outputs(k.Output).Sample(&v))
	r.Index, r.Awaited = e.index, true
	s.begin(r, prefix, shared)
}

// Ended implements workload.ClosedLoop.
func (s *Source) Ended(e *workload.End) {
	c := &s.clients[e.Source-workload.FirstSource]
	n, k := e.Index>>stepBits, int(e.Index&(maxSteps-1))
	if c.config.Users > 0 {
		s.counts.UserRequests++
		if !e.Completed {
			s.counts.UserRefused++
		}
	}
	slot, going := s.sessions.live[key(int(e.Source-workload.FirstSource), n)]
	if !going { // a single request of a user
		s.nextOfUser(c, n, e.At, e.Completed)
		return
	}
	x := s.sessions.at(slot)
	x.waiting--
	x.until = max(x.until, e.At)
	switch {
	case !e.Completed && !x.kind.Persists:
		x.failed = true
		if x.scheduled > 0 {
			s.due.forget(slot, x.root)
			x.scheduled = 0
		}
	case x.kind.Graph != nil:
		s.appendNodeAnswer(c, slot, k, e)
	default:
		if e.Completed {
			x.appendRound(c, k, e.Generated)
		}
		if k+1 < len(x.steps) {
			s.schedule(c, e.At.Add(max(1, x.steps[k+1].wait)), e.Index+1, slot)
			return
		}
	}
	if x.waiting == 0 && x.roots == 0 && (x.failed || x.sent == len(x.steps)) {
		s.close(c, slot, e.Completed)
	}
}

// past reports whether at is at or after the horizon.
func (s *Source) past(at vtime.Time) bool { return s.config.Horizon > 0 && at >= s.config.Horizon }

// schedule adds a request of a session to those that follow from ends. A
// request past the horizon is never sent.
func (s *Source) schedule(c *client, at vtime.Time, index uint64, slot int32) {
	if s.past(at) {
		return
	}
	if at > workload.Latest {
		s.fault(c, at, index, c.late(index>>stepBits))
		return
	}
	s.sessions.at(slot).scheduled++
	s.due.push(entry{at, c.source, index, slot})
}

// fault adds an entry that is an error. It is returned when its time comes, not
// when it is found, because the latter depends on how far others are pulled
// ahead.
func (s *Source) fault(c *client, at vtime.Time, index uint64, err error) {
	s.due.push(entry{min(at, vtime.Never-1), c.source, index, int32(faultSlot - len(s.faults))})
	s.faults = append(s.faults, err)
}

// late is the error of a session that would begin or go on after the end of
// virtual time, without a horizon.
func (c *client) late(n uint64) error {
	return fmt.Errorf("client %q: session %d would go on after the end of virtual time, 2⁶² µs; want shorter waits, fewer requests or a horizon", c.config.ID, n)
}

// close ends a session. A user goes on when all its answers are there: that can
// be later than the end of the last request, because clients take time per
// token.
//
// Its user was answered if neither the session nor its last request failed: a session that persists
// goes on after a refusal, but what its user sends next comes after a pause, as after any refusal.
func (s *Source) close(c *client, slot int32, answered bool) {
	x := s.sessions.at(slot)
	if x.failed {
		s.counts.EndedEarly++
		unsent := int64(len(x.steps) - x.sent)
		s.counts.NotSent += unsent
		c.notSent += unsent
	} else {
		s.counts.Completed++
	}
	n, until := x.number, x.until
	answered = answered && !x.failed
	s.sessions.drop(slot)
	if c.config.Users > 0 {
		s.nextOfUser(c, n, until, answered)
	}
}

// nextOfUser schedules what a user sends after number n, whatever became of n.
// Without an answer the user pauses first, and thinks during the pause: so it
// never sends earlier than with an answer.
func (s *Source) nextOfUser(c *client, n uint64, at vtime.Time, answered bool) {
	n += uint64(c.config.Users)
	least := vtime.Duration(1) // an answer causes nothing in its own instant
	if !answered {
		draws := c.refusals.of(c.seed, n)
		least = c.pause.Sample(&draws)
	}
	if err := s.scheduleUser(&s.due, c, n, at, least); err != nil {
		s.fault(c, at.Add(max(least, c.config.Think.Least())), n<<stepBits, err) // no earlier than MinThink says
	}
}
