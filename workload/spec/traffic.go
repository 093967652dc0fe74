package spec

import (
	"math"
	"slices"

	"blis/vtime"
	"blis/workload/draw"
	"blis/workload/traffic"
	"blis/yamldoc"
)

// Defaults are what a specification leaves to its caller.
type Defaults struct {
	Seed     uint64         // where the specification gives none
	Requests int64          // where it gives neither num_requests nor horizon and a client has no end; 0: none
	Timeout  vtime.Duration // of requests of clients that give none; 0: none
	Pause    vtime.Duration // of users after a refusal, where a client gives none; 0: traffic.DefaultPause

	// Rate replaces aggregate_rate or utilization, Limit num_requests. 0: the
	// specification's own stands. A specification with neither of the two shares
	// no rate; Rate changes nothing then, see Spec.SharesRate.
	Rate  float64
	Limit int64

	// Capacity is how many requests per second the cluster completes at most,
	// whose prompts and outputs have the mean numbers of tokens given. nil: not
	// known; then utilization is an error.
	Capacity func(input, output float64) float64

	// ServeGen reads the clients of a folder of ServeGen data. nil: servegen_data
	// is an error.
	ServeGen func(path string) ([]traffic.Client, error)
}

// builder makes traffic of a specification.
type builder struct {
	*faults
	spec     *Spec
	defaults Defaults
	notes    noteList
	config   traffic.Config
	ids      map[string]place
	draws    *draws
	told     map[string]bool // tenants whose session length has found no session
}

func (b *builder) note(at place, format string, args ...any) {
	b.notes.add(b.spec.name, at, format, args...)
}

// Traffic is the configuration that the specification describes, with notes
// about how it was understood. Files that it names are read now. Errors are of
// type *Error.
//
// Each client of the result depends on its own part of the specification, on
// its tenant, and through rate_fraction on the sum of all fractions: a client
// or tenant with a rate of its own changes no other. Members of a cohort share
// slices, which are not to be changed.
func (s *Spec) Traffic(d Defaults) (traffic.Config, Notes, error) {
	s = s.with(d)
	f := &faults{file: s.name}
	b := &builder{faults: f, spec: s, defaults: d, ids: map[string]place{}, draws: newDraws(f, s), told: map[string]bool{}}
	b.notes = s.notes.copy()
	b.config = traffic.Config{Seed: d.Seed, Requests: s.requests.value, Horizon: s.end()}
	if s.seed.set {
		b.config.Seed = uint64(s.seed.value)
	}
	b.build()
	b.finish()
	if err := b.err(); err != nil {
		return traffic.Config{}, nil, err
	}
	return b.config, b.notes.lines(), nil
}

// with is the specification with what replaces fields of it.
func (s *Spec) with(d Defaults) *Spec {
	changed := *s
	if d.Limit > 0 {
		changed.requests.value, changed.requests.set = d.Limit, true
	}
	if d.Rate > 0 && s.SharesRate() {
		changed.rate.value, changed.rate.set = d.Rate, true
		changed.share = given[float64]{}
	}
	return &changed
}

// SharesRate reports whether clients share a rate that the specification gives
// for all of them: aggregate_rate or utilization.
func (s *Spec) SharesRate() bool {
	weighs := func(c client) bool { return c.weighs(c.active()) }
	return (s.rate.value > 0 || s.share.set) && (slices.ContainsFunc(s.clients, weighs) || slices.ContainsFunc(s.cohorts, weighs))
}

// Horizon is when the specification ends a run; 0: it does not.
func (s *Spec) Horizon() vtime.Duration { return s.horizon.value }

func (b *builder) build() {
	if g := b.spec.servegen; g != nil {
		b.servegenClients(g)
		return
	}
	entries := b.entries()
	(&rater{b: b, entries: entries}).rate()
	for i := range entries {
		if !b.ok() {
			return
		}
		b.entry(&entries[i])
	}
}

// finish bounds traffic that has no end, and checks what is about all clients.
func (b *builder) finish() {
	s := b.spec
	if !s.requests.set && !s.horizon.set && b.goesOn() {
		b.config.Requests = b.defaults.Requests
	}
	b.limitUsers()
	tenants, models := map[string]bool{}, map[string]bool{}
	for i := range b.config.Clients {
		c := &b.config.Clients[i]
		tenants[c.Tenant], models[c.Model] = true, true
		if b.config.Requests == 0 && b.config.Horizon == 0 && endless(c) {
			b.fail(place{Field: "num_requests"}, "not given, want num_requests or horizon, as client %q has no end", yamldoc.Clip(c.ID))
		}
	}
	for _, names := range []struct {
		what  string
		count int
	}{{"tenants", len(tenants)}, {"models", len(models)}} {
		if names.count > math.MaxUint16 {
			b.fail(place{}, "%d different %s, want at most %d", names.count, names.what, math.MaxUint16)
		}
	}
}

// goesOn reports whether traffic has no end, or an end that was not asked for:
// ServeGen's data are hundreds of millions of requests.
func (b *builder) goesOn() bool {
	if g := b.spec.servegen; g != nil && !g.end.set {
		return true
	}
	return slices.ContainsFunc(b.config.Clients, func(c traffic.Client) bool { return endless(&c) })
}

// limitUsers shares num_requests out among clients with users, which send until
// they have sent what is theirs: each gets a part as large as its part of the
// users. Beside clients with rates, whose requests num_requests counts, it says
// nothing about them.
func (b *builder) limitUsers() {
	users, others := int64(0), false
	for i := range b.config.Clients {
		if c := &b.config.Clients[i]; c.Users == 0 {
			others = true
		} else if c.Requests == 0 {
			users += int64(c.Users)
		}
	}
	if users == 0 || b.config.Horizon > 0 && (b.config.Requests == 0 || others) {
		return
	}
	seen, given := int64(0), int64(0)
	for i := range b.config.Clients {
		c := &b.config.Clients[i]
		if c.Users == 0 || c.Requests > 0 {
			continue
		}
		if others {
			b.fail(place{Field: "num_requests"}, "client %q has concurrency beside clients with rates, want num_requests of its own or a horizon", yamldoc.Clip(c.ID))
			return
		}
		seen += int64(c.Users)
		upTo := int64(float64(b.config.Requests) * (float64(seen) / float64(users)))
		if c.Requests = upTo - given; c.Requests < 1 {
			b.fail(place{Field: "num_requests"}, "%d: want at least one for each client with concurrency, as for %q", b.config.Requests, yamldoc.Clip(c.ID))
			return
		}
		given = upTo
	}
}

// endless reports whether a client sends for ever.
func endless(c *traffic.Client) bool {
	if c.Requests > 0 || c.Stages != nil || c.Times != nil {
		return false
	}
	return c.Users > 0 || !c.Rate.Ends()
}

// client is everything of a client but its id and when it sends.
func (b *builder) client(c *client, t *tenant, tune *tuning) traffic.Client {
	out := traffic.Client{Tenant: c.tenant.value, Class: c.className(""), Model: c.model, Hint: c.priority, Timeout: c.timeout.or(b.defaults.Timeout)}
	if t != nil {
		out.Tenant, out.Class = t.id, c.className(t.class)
	}
	out.Input = b.draws.length(b.draws.times(c.input, tune.prompts))
	out.Output = b.draws.length(c.output)
	out.Prefix = b.prefix(c, t, tune)
	out.Requests = c.requests.value
	b.kinds(&out, c, tune)
	b.limitOutput(&out, c)
	if t != nil && t.rounds != nil && !hasSession(&out) && !b.told[t.id] {
		b.told[t.id] = true
		b.note(t.place, "archetype.session_length has no effect on client %q, which has no sessions", yamldoc.Clip(c.id.value))
	}
	return out
}

func hasSession(c *traffic.Client) bool {
	for i := range c.Kinds {
		if s := c.Kinds[i].Session; s != nil && s.Graph == nil {
			return true
		}
	}
	return false
}

// kinds are what the arrivals of a client begin.
func (b *builder) kinds(out *traffic.Client, c *client, tune *tuning) {
	if c.single > 0 { // one session, and so all requests
		out.Requests = c.single
	}
	named := map[string]int{}
	for i := range c.types {
		t := &c.types[i]
		k := traffic.Kind{Name: t.kind, Share: t.share, Output: b.draws.lengthOf(t.output)}
		if named[t.kind]++; named[t.kind] > 1 {
			k.Name += "-" + itoa(named[t.kind])
		}
		if t.input != nil {
			k.Input = b.draws.lengthOf(b.draws.times(t.input, tune.prompts))
		}
		if t.session != nil {
			k.Session = b.session(t.session, tune)
		}
		out.Kinds = append(out.Kinds, k)
	}
}

// limitOutput holds outputs to max_output, at which a server ends them.
func (b *builder) limitOutput(out *traffic.Client, c *client) {
	if !c.maxOutput.set {
		return
	}
	out.MaxOutput = int32(c.maxOutput.value)
	b.clampOutput(&out.Output, c)
	for i := range out.Kinds {
		k := &out.Kinds[i]
		b.clampOutput(k.Output, c)
		if k.Session == nil {
			continue
		}
		if k.Session.Reasoning != nil {
			b.fail(c.maxOutput.place, "%d: want it without reasoning, whose steps are output too", c.maxOutput.value)
		}
		for j := range k.Session.Graph {
			b.clampOutput(k.Session.Graph[j].Output, c)
		}
	}
}

func (b *builder) clampOutput(l *draw.Length, c *client) {
	if l == nil {
		return
	}
	most := int32(c.maxOutput.value)
	if l.Min > most {
		b.fail(c.maxOutput.place, "%d: want at least the %d tokens that outputs have", most, l.Min)
	}
	l.Max = min(l.Max, most)
}

const defaultPrefix = 50 // tokens of a group whose length is not given

// prefix is the prefix of a tenant, else of the client.
func (b *builder) prefix(c *client, t *tenant, tune *tuning) traffic.Prefix {
	p, group, share := c.prefix, c.prefix.group.or(c.id.value), given[float64]{}
	if t != nil {
		share = b.spec.correlations.reuse
		if t.affinity.set {
			share = t.affinity
		}
		if t.prefix.Line > 0 || p.Line == 0 && share.set {
			p, group = t.prefix, t.prefix.group.or("tenant/"+t.id)
			p.place = place{Line: t.Line, Field: t.Field}
		}
	}
	if tune.noPrefix || p.Line == 0 {
		return traffic.Prefix{}
	}
	out := traffic.Prefix{Group: group, Length: int32(p.length.or(defaultPrefix)), Share: p.share.or(share.or(1)), Count: int32(p.count.or(1))}
	if out.Count > 1 {
		out.Pick = b.draws.pick(p.place, p.skew.value, int64(out.Count))
	}
	return out
}
