package traffic

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
)

// client is a Client with its state.
type client struct {
	config *Client
	source uint32
	hash   uint64 // of its name; names its content
	seed   uint64
	tags   workload.Tags
	groups []workload.ContentID // of its prefixes

	arrivals draw.Arrivals
	scatter  draw.Scatter // of Stages
	bursts   burstSize
	times    int   // of Times given out
	begun    int64 // sessions and single requests, including the next arrival
	left     int64 // requests that the client may still begin
	notSent  int64 // of its sessions that ended early

	kinds, prefixes, input, output draw.Variates
	lengths, pauses, refusals      sessionStream
	pause                          draw.Delay // after a refusal
}

// begin sets up client number i of a source and schedules its first request.
func (c *client) begin(s *Source, i int) error {
	c.config = &s.config.Clients[i]
	c.source = workload.FirstSource + uint32(i)
	c.hash, c.seed = xxhash.Sum64String(c.config.ID), s.config.Seed
	c.tags = workload.Tags{Tenant: s.labels.Tenants.Label(c.config.Tenant), Class: s.labels.Classes.Label(c.config.Class), Model: s.labels.Models.Label(c.config.Model)}
	stream := func(purpose string) *vtime.Stream {
		return vtime.NewStream(c.seed, "workload/"+c.config.ID+"/"+purpose)
	}
	c.kinds, c.prefixes = draw.NewVariates(stream("kind")), draw.NewVariates(stream("prefix"))
	c.input, c.output = draw.NewVariates(stream("input")), draw.NewVariates(stream("output"))
	c.lengths, c.pauses = newSessionStream(c.config.ID, "session"), newSessionStream(c.config.ID, "think")
	c.refusals, c.pause = newSessionStream(c.config.ID, "pause"), c.config.Pause
	if c.pause.Max == 0 {
		c.pause = draw.Always(DefaultPause)
	}
	c.nameGroups()
	c.left = c.config.Requests
	if c.left == 0 {
		c.left = math.MaxInt64
	}
	if c.config.Users > 0 {
		return c.startUsers(s)
	}
	switch {
	case c.config.Stages != nil:
		c.scatter = draw.NewScatter(c.config.Stages, stream("arrivals"))
	case c.config.Times == nil:
		c.arrivals = draw.NewArrivals(c.config.Process, &c.config.Rate, stream("arrivals"))
		if c.config.BurstSize > 0 {
			c.bursts = burstSize{bursts: draw.NewBursts(c.config.Process, &c.config.Rate), before: vtime.Never}
		}
	}
	at, more, err := s.nextOf(c)
	if err != nil || !more || s.past(at) {
		return err
	}
	c.begun = 1
	s.open.push(entry{at, c.source, 0, noSlot})
	return nil
}

// number is the number of the client in its source.
func (c *client) number() int { return int(c.source - workload.FirstSource) }

// nameGroups computes the contents of the client's prefixes.
func (c *client) nameGroups() {
	p := &c.config.Prefix
	if p.Length == 0 {
		return
	}
	first := workload.NamedContent(p.Group)
	c.groups = append(c.groups, first)
	for i := int32(1); i < p.Count; i++ {
		c.groups = append(c.groups, content(uint64(first), uint64(i), 0))
	}
}

// next returns the client's next arrival.
func (c *client) next() (at vtime.Time, more bool, err error) {
	switch {
	case c.config.Stages != nil:
		at, more = c.scatter.Next()
		return at, more, nil
	case c.config.Times == nil:
		return c.arrivals.Next()
	}
	if c.times == len(c.config.Times) {
		return 0, false, nil
	}
	c.times++
	return c.config.Times[c.times-1], true, nil
}

// countBegun counts n requests as begun.
func (c *client) countBegun(s *Source, n int64) {
	c.left -= n
	if c.config.Users == 0 {
		s.left -= n
	}
}

// kind draws the kind of an arrival.
func (c *client) kind() *Kind {
	switch len(c.config.Kinds) {
	case 0:
		return &single
	case 1:
		return &c.config.Kinds[0]
	}
	return c.choose(c.kinds.Uniform())
}

// choose returns the kind for a uniform draw u.
func (c *client) choose(u float64) *Kind {
	for i := range c.config.Kinds {
		if u < c.config.Kinds[i].Share {
			return &c.config.Kinds[i]
		}
		u -= c.config.Kinds[i].Share
	}
	i := len(c.config.Kinds) - 1 // shares may add up to a little less than 1
	for i > 0 && c.config.Kinds[i].Share == 0 {
		i--
	}
	return &c.config.Kinds[i]
}

// single is the kind of a client without kinds: single requests.
var single = Kind{Share: 1}

// prefix draws the shared content of a session or single request, if it has
// any.
func (c *client) prefix(v *draw.Variates) (workload.Span, bool) {
	p := &c.config.Prefix
	if len(c.groups) == 0 || p.Share < 1 && v.Uniform() >= p.Share {
		return workload.Span{}, false
	}
	group := c.groups[0]
	if len(c.groups) > 1 {
		group = c.groups[min(max(p.Pick.Sample(v), 0), p.Count-1)]
	}
	return workload.Span{Content: group, Length: p.Length}, true
}

// inputs and outputs are the distributions of a request's lengths at its
// arrival: of its kind, of the window, of the client.
func (c *client) inputs(own *draw.Length) *draw.Length {
	if own != nil {
		return own
	}
	if i := c.arrivals.Window(); i >= 0 && i < len(c.config.Changes) && c.config.Changes[i].Input != nil {
		return c.config.Changes[i].Input
	}
	return &c.config.Input
}

func (c *client) outputs(own *draw.Length) *draw.Length {
	if own != nil {
		return own
	}
	if i := c.arrivals.Window(); i >= 0 && i < len(c.config.Changes) && c.config.Changes[i].Output != nil {
		return c.config.Changes[i].Output
	}
	return &c.config.Output
}

// single fills r with a single request, which is not part of a session.
func (c *client) single(s *Source, k *Kind, e entry, r *workload.Request) {
	prefix, shared := c.prefix(&c.prefixes)
	input := c.prompt(c.inputs(k.Input), &c.input)
	output := c.outputs(k.Output).Sample(&c.output)
	c.fill(r, e.at, input, output)
	r.Index = e.index
	s.begin(r, prefix, shared)
}

// begin puts a prefix in front of a prompt.
func (s *Source) begin(r *workload.Request, prefix workload.Span, shared bool) {
	if shared {
		s.spans[s.side] = append(s.spans[s.side][:0], prefix)
		r.Spans = s.spans[s.side]
		r.Input += prefix.Length
	}
}

// fill sets the fields that are alike in all requests of the client.
func (c *client) fill(r *workload.Request, at vtime.Time, input, output int32) {
	*r = workload.NewRequest(at, input, output)
	r.Source = c.source
	r.Tags = c.tags
	r.Hint = c.config.Hint
	if c.config.MaxOutput > 0 {
		r.MaxOutput = c.config.MaxOutput
		r.Output = min(r.Output, c.config.MaxOutput)
	}
	if c.config.Timeout > 0 {
		r.Deadline = at.Add(c.config.Timeout)
	}
}

// waits reports whether the client awaits answers.
func (c *client) awaits() bool {
	for i := range c.config.Kinds {
		if k := c.config.Kinds[i].Session; k != nil && !k.Open {
			return true
		}
	}
	return c.config.Users > 0
}

// reaction is the least time between an answer to the client, or a refusal, and
// what it sends because of it.
func (c *client) minThink(completed bool) vtime.Duration {
	least := workload.NoFollowUp
	switch {
	case c.config.Users > 0 && completed:
		least = c.config.Think.Least()
	case c.config.Users > 0:
		least = max(c.config.Think.Least(), c.pause.Least())
	}
	for i := range c.config.Kinds {
		if k := c.config.Kinds[i].Session; k != nil && !k.Open && (completed || k.Persists) {
			least = min(least, k.minThink())
		}
	}
	return least
}

// content names content number i, j of what hash names. Its top bit is set, as
// by workload.NamedContent.
func content(hash, i, j uint64) workload.ContentID {
	var words [24]byte
	binary.LittleEndian.PutUint64(words[:], hash)
	binary.LittleEndian.PutUint64(words[8:], i)
	binary.LittleEndian.PutUint64(words[16:], j)
	return workload.ContentID(xxhash.Sum64(words[:]) | 1<<63)
}

// burstSize is the state for BurstSize, which makes prompts in a burst longer.
type burstSize struct {
	bursts draw.Bursts
	before vtime.Time // the last arrival; vtime.Never: there was none
	in     bool       // the present arrival is in a burst
	share  float64    // of all arrivals that are in a burst
}

// noteArrival takes note of the client's next arrival.
func (c *client) noteArrival(at vtime.Time) {
	b := &c.bursts
	if b.before != vtime.Never { // the first is neither in a burst nor outside
		b.in, b.share = b.bursts.In(c.arrivals.Window(), b.before, at)
	}
	b.before = at
}

// prompt draws the input of the first request of an arrival. With BurstSize there are
// two draws. With some probability the request gets the longer one in a burst, and
// the shorter one outside. As many requests get longer as get shorter, so all lengths
// together have the distribution of single draws.
func (c *client) prompt(l *draw.Length, v *draw.Variates) int32 {
	n := l.Sample(v)
	if c.config.BurstSize == 0 {
		return n
	}
	other, u := l.Sample(v), v.Uniform()
	share := c.bursts.share
	switch {
	case c.bursts.in && u*share < c.config.BurstSize*min(share, 1-share):
		return max(n, other)
	case !c.bursts.in && u*(1-share) < c.config.BurstSize*min(share, 1-share):
		return min(n, other)
	}
	return n
}
