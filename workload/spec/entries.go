package spec

import (
	"fmt"
	"math"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
	"blis/workload/traffic"
)

// entry is a client or cohort of the specification with its rates.
type entry struct {
	*client
	base    float64   // requests per second of an entry without windows, of the whole cohort
	windows []window  // nil: always
	rates   []float64 // of each window
}

// entries are the clients and cohorts, those of inference_perf written out.
func (b *builder) entries() []entry {
	s := b.spec
	var all []entry
	add := func(list []client) {
		for i := range list {
			e := entry{client: &list[i], windows: list[i].windows}
			if spike := e.pattern.spike; spike != nil && e.pattern.waves == nil && !e.pattern.drain {
				e.windows = []window{*spike}
			}
			all = append(all, e)
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
		tune := b.tune(t, c)
		for m := range members {
			id := c.id.value
			if c.members > 0 {
				id = fmt.Sprintf("%s-%04d", id, m+1)
			}
			if t != nil && !c.tenant.set {
				id += "/" + t.id
			}
			b.add(e, id, t, tune, shares[i], members)
			if !b.ok() {
				return
			}
		}
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

// add adds one client, and another for the spike of its cohort, if that comes
// on top of a rate that varies.
func (b *builder) add(e *entry, id string, t *tenant, tune *tuning, s share, members int64) {
	c := e.client
	if first, again := b.ids[id]; again {
		b.fail(c.within("id", c.line), "%q: another client is called so, on line %d; want unique ids", clip(id), first.line)
		return
	}
	b.ids[id] = c.place
	out := b.client(c, id, t, tune)
	if s.requests > 0 && c.single == 0 {
		out.Requests = s.requests
	}
	switch {
	case c.users.set:
		out.Users, out.Think = s.users, b.delay(c.think)
	case c.arrival.process == traced:
		out.Times = b.arrivals(&c.arrival)
	default:
		b.rate(e, &out, tune, s, members)
		return
	}
	b.config.Clients = append(b.config.Clients, out)
}

// rate gives a client its law and curve.
func (b *builder) rate(e *entry, out *traffic.Client, tune *tuning, s share, members int64) {
	c := e.client
	scale := func(rate float64) float64 {
		return float64((float64(rate*s.part) + s.rate) * tune.rate / float64(members))
	}
	own := scale(e.base)
	spike := c.pattern.spike
	if e.windows == nil {
		out.Law = b.law(&c.arrival, tune, own)
		out.Rate = c.curve(b.spec.profile, own)
		if spike != nil {
			b.spike(e, *out, scale(e.rates[0]))
			out.Rate.Windows = around(*spike)
		}
		b.keep(c, *out)
		return
	}
	out.Law = b.law(&c.arrival, tune, scale(e.rates[0]))
	out.Rate = c.curve(b.spec.profile, 1)
	changes := false
	for i, w := range e.windows {
		window := draw.Window{Start: w.start, End: w.end, Factor: scale(e.rates[i])}
		if w.arrival != nil {
			law := b.law(w.arrival, tune, window.Factor)
			window.Law = &law
		}
		change := traffic.Change{Output: b.lengthOf(w.output)}
		if w.input != nil {
			change.Input = b.lengthOf(w.input.times(tune.prompts))
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
	b.keep(c, *out)
}

// keep adds a client whose rate is right.
func (b *builder) keep(c *client, out traffic.Client) {
	var bad workload.Faults
	if out.Rate.Check(&bad, ""); bad.Err("") != nil {
		b.fail(c.place, "its rate over time: %v", bad.Err(""))
	}
	b.config.Clients = append(b.config.Clients, out)
}

// spike adds the client that sends at the rate given during the spike of a
// cohort whose rate varies else.
func (b *builder) spike(e *entry, out traffic.Client, rate float64) {
	out.ID += "/spike"
	if first, again := b.ids[out.ID]; again {
		b.fail(e.place, "%q: another client is called so, on line %d; want unique ids", clip(out.ID), first.line)
	}
	b.ids[out.ID] = e.place
	out.Rate = draw.Flat(1)
	out.Rate.Windows = []draw.Window{{Start: e.pattern.spike.start, End: e.pattern.spike.end, Factor: rate}}
	b.keep(e.client, out)
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
		b.note(a.scale.place, "%v: has no effect, as the rate says how long gaps are", a.scale.value)
	}
}
