package spec

import (
	"fmt"
	"math"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
	"blis/workload/traffic"
	"blis/yamldoc"
)

// entry is a client or cohort of the specification with its rates.
type entry struct {
	*client
	base    float64   // requests per second of an entry without windows, of the whole cohort
	windows []window  // nil: always
	rates   []float64 // of each window
}

// entries are the clients and cohorts, also of inference_perf, written out.
func (b *builder) entries() []entry {
	s := b.spec
	var all []entry
	add := func(list []client) {
		for i := range list {
			all = append(all, entry{client: &list[i], windows: list[i].active()})
		}
	}
	add(s.clients)
	add(s.cohorts)
	if s.perf != nil {
		add(s.perf.clients())
	}
	return all
}

// entry adds the clients of an entry: one for each tenant it is split among,
// and each member.
func (b *builder) entry(e *entry) {
	c := e.client
	b.noteIgnored(c)
	tenants, shares := b.split(e)
	members := max(c.members, 1)
	if int64(len(b.config.Clients))+members*int64(len(shares)) > maxClients {
		b.fail(c.place, "more than %d clients, with cohorts and tenants written out; want less", maxClients)
		return
	}
	for i, t := range tenants {
		for _, proto := range b.prototypes(e, t, shares[i], members) {
			b.write(c, t, proto, members)
		}
	}
}

// write adds the members that are like proto, each with its id. The members of a
// cohort differ in their ids only, and in prefixes of their own.
func (b *builder) write(c *client, t *tenant, proto traffic.Client, members int64) {
	for m := range members {
		if !b.ok() {
			return
		}
		out := proto
		out.ID = c.id.value
		if c.members > 0 {
			out.ID = fmt.Sprintf("%s-%04d", out.ID, m+1)
		}
		if t != nil && !c.tenant.set {
			out.ID += "/" + t.id
		}
		if c.perMember && out.Prefix.Length > 0 {
			out.Prefix.Group += "/" + out.ID
		}
		out.ID += proto.ID
		if first, again := b.ids[out.ID]; again {
			b.fail(c.Within("id", c.Line), "%q: another client is called so, on line %d; want unique ids", yamldoc.Clip(out.ID), first.Line)
			return
		}
		b.ids[out.ID] = c.place
		b.config.Clients = append(b.config.Clients, out)
	}
}

// share is the part that a tenant has of a client.
type share struct {
	part     float64 // of the client's own rate
	rate     float64 // besides, per second
	users    int32
	requests int64
}

// split is the tenants of a client, and what each has of it: all of it the one
// that it names, else each by its weight.
func (b *builder) split(e *entry) ([]*tenant, []share) {
	s := b.spec
	whole := share{part: 1, users: int32(e.users.value), requests: e.requests.value}
	if len(s.tenants) == 0 {
		return []*tenant{nil}, []share{whole}
	}
	var list []*tenant
	var shares []share
	sum := 0.0
	for i := range s.tenants {
		t := &s.tenants[i]
		if e.tenant.set {
			if t.id == e.tenant.value {
				return []*tenant{t}, []share{whole}
			}
			continue
		}
		if t.weight == 0 && e.users.set {
			continue // users have no rate
		}
		list, shares = append(list, t), append(shares, share{part: t.weight, rate: t.rate.value})
		sum += t.weight
	}
	if sum == 0 && (e.base > 0 || e.users.set) {
		b.fail(e.place, "no tenant has a weight to share the client by, want one, or a tenant_id")
		return nil, nil
	}
	if sum > 0 {
		if e.base == 0 && !e.users.set {
			b.fail(e.place, "how often it sends is not given, want rate_fraction or rate, as tenants have weights")
		}
		for i := range shares {
			shares[i].part /= sum
		}
	}
	return b.allot(e, list, shares)
}

// allot shares whole users and requests out, so that they add up: each tenant
// gets what rounding the running sum gives it.
func (b *builder) allot(e *entry, list []*tenant, shares []share) ([]*tenant, []share) {
	var kept []*tenant
	var out []share
	users, requests, sum := int64(0), int64(0), 0.0
	upTo := func(n int64) int64 { return int64(math.Floor(float64(float64(n)*min(sum, 1)) + 0.5)) }
	for i, s := range shares {
		sum += s.part
		if i == len(shares)-1 {
			sum = 1
		}
		s.users, s.requests = int32(upTo(e.users.value)-users), upTo(e.requests.value)-requests
		users, requests = users+int64(s.users), requests+s.requests
		idle := e.users.set && s.users == 0 || e.requests.set && s.requests == 0 && s.rate == 0
		if !idle {
			kept, out = append(kept, list[i]), append(out, s)
		}
	}
	return kept, out
}

// prototypes are what a member of an entry sends for one tenant: one client,
// and another for the spike of a cohort if that comes on top of a rate that
// varies. Their ids follow the id of the member.
func (b *builder) prototypes(e *entry, t *tenant, s share, members int64) []traffic.Client {
	c := e.client
	tune := b.tune(t, c)
	out := b.client(c, t, tune)
	if !b.ok() {
		return nil
	}
	if s.requests > 0 && c.single == 0 {
		out.Requests = s.requests
	}
	switch {
	case c.users.set:
		b.noteSize(c, "whose users ask when they have an answer")
		out.Users, out.Think, out.Pause = s.users, b.draws.delay(c.think), draw.Always(b.defaults.Pause)
		if c.pause != nil {
			out.Pause = b.draws.delay(c.pause)
		}
		return []traffic.Client{out}
	case c.stages != nil:
		out.Stages = c.stages
		return []traffic.Client{out}
	case c.arrival.process == traced:
		b.noteSize(c, "whose arrivals are given")
		out.Times = b.draws.arrivals(&c.arrival)
		return []traffic.Client{out}
	}
	if out.BurstSize = b.spec.correlations.size.value; out.Input.Min == out.Input.Max {
		b.noteSize(c, "whose prompts are all of one length")
	}
	scale := func(rate float64) float64 {
		return float64((float64(rate*s.part) + s.rate) * tune.rate / float64(members))
	}
	list := b.rate(e, out, tune, scale)
	for i := range list {
		var bad workload.Faults
		if list[i].Rate.Check(&bad, ""); bad.Err("") != nil {
			b.fail(c.place, "its rate over time: %v", bad.Err(""))
		}
	}
	return list
}

// noteSize says that correlations.burst_size does nothing for a client.
func (b *builder) noteSize(c *client, because string) {
	if g := b.spec.correlations.size; g.value > 0 {
		b.note(g.place, "has no effect on client %q, %s", yamldoc.Clip(c.id.value), because)
	}
}

// rate gives a client its arrival process and rate curve; scale is the client's part of the
// rate of its entry.
func (b *builder) rate(e *entry, out traffic.Client, tune *tuning, scale func(float64) float64) []traffic.Client {
	c := e.client
	if e.windows != nil {
		b.windows(e, &out, tune, scale)
		return []traffic.Client{out}
	}
	own := scale(e.base)
	out.Process = b.process(&c.arrival, tune, own)
	out.Rate = c.curve(b.spec.profile, own)
	spike := c.pattern.spike
	if spike == nil {
		return []traffic.Client{out}
	}
	out.Rate.Windows = around(*spike)
	extra := out
	extra.ID, extra.Rate = "/spike", draw.Flat(1)
	extra.Rate.Windows = []draw.Window{{Start: spike.start, End: spike.end, Factor: scale(e.rates[0])}}
	return []traffic.Client{out, extra}
}

// windows gives a client the rate of each of its windows, and what else is
// different there.
func (b *builder) windows(e *entry, out *traffic.Client, tune *tuning, scale func(float64) float64) {
	c := e.client
	out.Process = b.process(&c.arrival, tune, scale(e.rates[0]))
	out.Rate = c.curve(b.spec.profile, 1)
	changes := false
	for i, w := range e.windows {
		window := draw.Window{Start: w.start, End: w.end, Factor: scale(e.rates[i])}
		if w.arrival != nil {
			process := b.process(w.arrival, tune, window.Factor)
			window.Process = &process
		}
		change := traffic.Change{Output: b.draws.lengthOf(w.output)}
		if w.input != nil {
			change.Input = b.draws.lengthOf(b.draws.times(w.input, tune.prompts))
		}
		if c.maxOutput.set {
			b.clampOutput(change.Output, c)
		}
		changes = changes || change != (traffic.Change{})
		out.Rate.Windows, out.Changes = append(out.Rate.Windows, window), append(out.Changes, change)
	}
	if !changes {
		out.Changes = nil
	}
	if !c.arrival.size.set && c.arrival.process == adversarial && len(e.windows) > 1 && tune.burst == 0 {
		b.fail(c.arrival.place, "adversarial: want size with windows, in which the rate differs")
	}
}

// around are the windows before and after w.
func around(w window) []draw.Window {
	var out []draw.Window
	if w.start > 0 {
		out = append(out, draw.Window{Start: 0, End: w.start, Factor: 1})
	}
	return append(out, draw.Window{Start: w.end, End: vtime.Never, Factor: 1})
}

// noteIgnored says what of a client is accepted and does nothing.
func (b *builder) noteIgnored(c *client) {
	if c.adapter.set {
		b.note(c.adapter.place, "%q: adapters are not modelled, requests are served by the model alone", c.adapter.value)
	}
	if c.network.value {
		b.note(c.network.place, "the network between client and server is not modelled, latencies are those of the server")
	}
	if a := &c.arrival; a.scale.set && (c.fraction.value > 0 || c.rate.set || !a.shape.set) {
		b.note(a.scale.place, "has no effect, as the rate says how long gaps are")
	}
	b.noteCV(&c.arrival)
	for i := range c.windows {
		if a := c.windows[i].arrival; a != nil {
			b.noteCV(a)
		}
	}
}

// noteCV says that a CV is not used. In the public simulator too shape comes
// before it, where scale is given as well.
func (b *builder) noteCV(a *arrival) {
	if a.cv.set && a.shape.set {
		b.note(a.cv.place, "has no effect beside shape and scale: shape says how gaps vary")
	}
}
