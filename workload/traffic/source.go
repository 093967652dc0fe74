package traffic

import (
	"fmt"
	"math"

	"blis/vtime"
	"blis/workload"
)

// Source yields the requests of a Config. It keeps the sessions in progress,
// and nothing that grows with the number of requests. It is a
// workload.ClosedLoop: sessions and users go on when answers come.
//
// Request number s of session number n of client c has the stamp source
// FirstSource + c and the index n·2¹⁶ + s, whatever happens in the run. A
// single request is a session of one request, without a session name.
type Source struct {
	config  Config
	clients []client
	labels  workload.Labels

	open     queue // requests that need no answer: clients' next arrivals, rounds of open sessions
	due      queue // requests that follow from answers
	sessions sessions
	shapes   map[*Session]followers // of graphs
	left     int64                  // requests that clients with arrivals may still begin
	spans    [2][]workload.Span     // of the last requests of Pull and of Pop; side says which
	side     int                    // index of the spans in use: 0 in Pull, 1 in Pop
	counts   workload.Sessions
	faults   []error // errors of entries in due; see fault
}

var _ workload.ClosedLoop = (*Source)(nil)

// New checks the configuration and returns its source. The error is one line
// that names the client and every bad field of it.
func New(c Config) (*Source, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	s := &Source{config: c, clients: make([]client, len(c.Clients)), shapes: followersOf(c.Clients), left: c.Requests}
	if c.Requests == 0 {
		s.left = math.MaxInt64
	}
	s.name()
	for i := range s.clients {
		if err := s.clients[i].begin(s, i); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// name numbers the names of the clients, in alphabetical order, as a trace of
// their requests has them.
func (s *Source) name() {
	for i := range s.config.Clients {
		c := &s.config.Clients[i]
		s.labels.Tenants.Label(c.Tenant)
		s.labels.Classes.Label(c.Class)
		s.labels.Models.Label(c.Model)
	}
	s.labels.NameUsual()
	s.labels.Sort()
}

// Labels implements workload.Source. Names are in alphabetical order.
func (s *Source) Labels() *workload.Labels { return &s.labels }

// Pull implements workload.Source.
func (s *Source) Pull(r *workload.Request) (bool, error) {
	s.side = 0
	for s.open.len() > 0 {
		e := s.open.first()
		if e.slot != noSlot { // a round of an open session, or one with which a session begins
			s.open.pop()
			s.send(e, r)
			return true, nil
		}
		given, err := s.arrival(e, r)
		if given || err != nil {
			return given, err
		}
	}
	return false, nil
}

// arrival carries out e, the next arrival of a client. It fills r with a
// request, or begins a session and schedules its first requests.
func (s *Source) arrival(e entry, r *workload.Request) (given bool, err error) {
	c := &s.clients[e.client()]
	limit := min(s.left, c.left)
	if limit == 0 { // other clients have used up Config.Requests
		s.open.pop()
		return false, nil
	}
	kind := c.kind()
	if c.config.BurstSize > 0 {
		c.noteArrival(e.at)
	}
	if kind.Session != nil {
		i, err := s.plan(c, kind, e.index>>stepBits, limit)
		if err != nil {
			return false, err
		}
		c.countBegun(s, s.sessions.at(i).planned())
		if err := s.next(c); err != nil {
			return false, err
		}
		s.start(&s.open, i, e.at)
		return false, nil
	}
	c.single(s, kind, e, r)
	c.countBegun(s, 1)
	return true, s.next(c)
}

// next replaces the first entry of the queue by the client's next arrival.
func (s *Source) next(c *client) error {
	at, more, err := s.nextOf(c)
	if err != nil {
		return err
	}
	if !more || c.left == 0 || s.left == 0 || s.past(at) {
		s.open.pop()
		return nil
	}
	c.begun++
	s.open.replaceFirst(entry{at, c.source, uint64(c.begun-1) << stepBits, noSlot})
	return nil
}

// nextOf returns the next arrival of a client. With a horizon there is none
// after the end of virtual time.
func (s *Source) nextOf(c *client) (at vtime.Time, more bool, err error) {
	at, more, err = c.next()
	switch {
	case err == nil:
		return at, more, nil
	case s.config.Horizon > 0:
		return 0, false, nil
	}
	return 0, false, fmt.Errorf("client %q: %w", c.config.ID, err)
}

// stepBits is the number of index bits that number the requests of a session.
const stepBits = 16

// maxSteps is the maximum number of requests of a session.
const maxSteps = 1 << stepBits

// Awaits implements workload.ClosedLoop.
func (s *Source) Awaits() bool {
	for i := range s.clients {
		if s.clients[i].awaits() {
			return true
		}
	}
	return false
}

// MinThink implements workload.ClosedLoop.
func (s *Source) MinThink(completed bool) vtime.Duration {
	least := workload.NoFollowUp
	for i := range s.clients {
		least = min(least, s.clients[i].minThink(completed))
	}
	if least == workload.NoFollowUp {
		return least
	}
	return max(least, 1)
}

// Sessions implements workload.ClosedLoop.
func (s *Source) Sessions() workload.Sessions { return s.counts }

// NotSent implements workload.ClosedLoop.
func (s *Source) NotSent() (list []workload.Unsent) {
	for i := range s.clients {
		if c := &s.clients[i]; c.notSent > 0 {
			list = append(list, workload.Unsent{Tags: c.tags, Requests: c.notSent})
		}
	}
	return list
}

// Peek implements workload.ClosedLoop.
func (s *Source) Peek() workload.Position {
	if s.due.len() == 0 {
		return workload.Position{Arrival: vtime.Never}
	}
	e := s.due.first()
	return workload.Position{Arrival: e.at, Source: e.source, Index: e.index}
}

// Pop implements workload.ClosedLoop.
func (s *Source) Pop(r *workload.Request) error {
	e := s.due.pop()
	if e.slot <= faultSlot {
		return s.faults[faultSlot-e.slot]
	}
	s.side = 1
	s.send(e, r)
	return nil
}
