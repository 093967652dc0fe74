package engine

import (
	"blis/vtime"
)

// RanksConfig says how the data-parallel ranks of one instance work together (vLLM's
// --data-parallel-size).
type RanksConfig struct {
	Ranks int // from 1

	// LockStep lets all ranks begin and end their steps together, as the ranks of an MoE model do,
	// which share the experts. Ranks of dense models, and a single rank, step on their own.
	LockStep bool

	// Local is the number of consecutive ranks behind one endpoint, a divisor of Ranks: all of them
	// (vLLM's internal load balancing), 1 (external), or some (hybrid).
	Local int

	FrontEnds int // API processes of each endpoint, which choose the rank of a request; from 1
}

// Ranks is the data-parallel ranks of one instance. Each rank is an Engine of its own: wait queue,
// seats, KV cache, tiers. They are driven together:
//
//	dense     the events of all ranks in the order of time; at one instant the first rank first
//	MoE       lockStep
//
// A request is delivered to an Endpoint, which chooses the rank when the request is queued.
//
// Like an Engine it is not safe for concurrent use. What reaches one rank alone, such as the answer
// of a storage tier, is given to Rank.
type Ranks struct {
	Endpoints []Endpoint

	cfg   RanksConfig
	list  []*Engine
	group *lockStep // nil: each rank steps on its own
	now   vtime.Time
}

// NewRanks returns an idle instance. engine gives the index, as New takes it, and the configuration
// of each rank.
func NewRanks(c RanksConfig, engine func(rank int) (index int, c Config)) *Ranks {
	if c.Ranks < 1 || c.Local < 1 || c.Ranks%c.Local != 0 || c.FrontEnds < 1 {
		panic("engine: data-parallel ranks that cannot be split evenly over endpoints, or an endpoint without a front end")
	}
	c.LockStep = c.LockStep && c.Ranks > 1
	r := &Ranks{cfg: c}
	for i := range c.Ranks {
		r.list = append(r.list, New(engine(i)))
	}
	r.begin()
	return r
}

// begin makes the front ends and the group of the ranks, which are idle.
func (r *Ranks) begin() {
	r.Endpoints = r.Endpoints[:0]
	for first := 0; first < len(r.list); first += r.cfg.Local {
		list := r.list[first : first+r.cfg.Local]
		r.Endpoints = append(r.Endpoints, Endpoint{of: r, list: list, fronts: newFrontEnds(r.cfg.FrontEnds, list, r.cfg.LockStep)})
	}
	if r.cfg.LockStep {
		r.group = newLockStep(r)
	}
}

// Rank returns rank i as it is just before an event of a class at now, for what reaches it alone. It is
// given no requests, and is not advanced.
func (r *Ranks) Rank(i int, now vtime.Time, class uint8) *Engine {
	r.catchUp(now, class)
	return r.list[i]
}

// Len returns the number of ranks.
func (r *Ranks) Len() int { return len(r.list) }

// catchUp executes what is no event and comes before (now, class).
func (r *Ranks) catchUp(now vtime.Time, class uint8) {
	if r.group != nil {
		r.group.catchUp(now, class)
	}
}

// next returns the earliest event: its time, vtime.Never if there is none, its kind, and its rank.
// An event of the group is one of the first rank.
func (r *Ranks) next() (at vtime.Time, kind event, rank int) {
	r.renew()
	at, kind = vtime.Never, events
	for i, e := range r.list {
		if t, k := e.agenda.at.next(); t < at || t == at && k < kind && t != vtime.Never {
			at, kind, rank = t, k, i
		}
	}
	return at, kind, rank
}

// Next returns the time and class of the earliest event, vtime.Never if there is none.
func (r *Ranks) Next() (vtime.Time, uint8) {
	at, kind, _ := r.next()
	if at == vtime.Never {
		return at, classOf[eventStep]
	}
	return at, classOf[kind]
}

// Advance executes every event before (until, class), in order.
func (r *Ranks) Advance(until vtime.Time, class uint8) {
	for {
		at, next := r.Next()
		if at > until || at == until && next >= class || at == vtime.Never {
			return
		}
		r.Act(until, class)
	}
}

// Act executes the event that Next names, which is before (until, class), and the steps of a decode
// run that follow it before then.
func (r *Ranks) Act(until vtime.Time, class uint8) {
	at, kind, i := r.next()
	r.catchUp(at, classOf[kind])
	e := r.list[i]
	r.now = max(r.now, at)
	switch {
	case kind == eventQueued:
		e.now = at
		r.endpoint(i).queued(at)
	case kind == eventStep && r.group != nil:
		r.group.act(at)
		r.group.run(until, class)
	case r.group != nil:
		e.now = at
		e.timeout(at)
	default:
		e.Act(r.endpoint(i).before(until, class))
	}
}

// endpoint returns the endpoint of rank i.
func (r *Ranks) endpoint(i int) *Endpoint { return &r.Endpoints[i/r.cfg.Local] }
