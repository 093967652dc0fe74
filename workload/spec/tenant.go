package spec

import (
	"cmp"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
	"blis/yamldoc"
)

// tenant is one of those that share the clients.
type tenant struct {
	place
	id       string
	weight   float64 // 0: it has a rate
	rate     given[float64]
	class    string
	behavior string
	prefix   prefix

	prompt   given[float64] // archetype: mean prompt tokens
	affinity given[float64] // share of requests with the tenant's prefix
	cv       given[float64] // burst propensity
	rounds   *distribution  // session length
}

// correlations are what the tenants' requests have in common.
type correlations struct {
	reuse  given[float64]
	size   given[float64] // burst_size: how far prompts go with bursts
	cv     given[float64] // burst_propensity, of tenants that say none
	growth given[string]
}

// What behaviours do to the traffic of a tenant; docs/workloads.md has the
// same table.
//
//	normal       nothing
//	bursty       gaps are gamma with a CV of at least 3
//	abusive      prompts 4 times as long, 4 times the rate, no prefix that the
//	             cache could have: each prompt is new to it and drives others out
//	adversarial  prompts 4 times as long, 32 at the same instant, the rate kept
const (
	burstyCV         = 3
	abusivePrompts   = 4
	abusiveRate      = 4
	adversarialBurst = 32
)

func (r *reader) tenants(o *object) {
	items, at := o.items("tenants", "tenants like {id: acme, weight: 1}")
	seen := map[string]int{}
	for i, v := range items {
		t := r.tenant(v, at.Item(i, v.Line))
		if line, again := seen[t.id]; again {
			r.fail(t.Within("id", t.Line), "%q is given twice, first on line %d, want unique names", yamldoc.Clip(t.id), line)
		}
		seen[t.id] = t.Line
		r.spec.tenants = append(r.spec.tenants, t)
		if !r.ok() {
			return
		}
	}
	if len(items) > 10_000 {
		r.fail(at, "%d tenants, want at most 10000", len(items))
	}
}

func (r *reader) tenant(v *yamldoc.Node, at place) tenant {
	o := r.object(v, at, []string{"id", "weight", "rate_fraction", "rate", "slo_class", "slo", "behavior", "prefix", "archetype"})
	id := o.text("id", "a name")
	if !id.set {
		r.fail(id.place, "not given, want a name")
	}
	t := tenant{place: at, id: id.value, class: r.class(&o, "slo_class")}
	weight, fraction := o.number("weight", positive, 1e9, "a weight above 0"), o.number("rate_fraction", positive, 1e9, "a share of the rate, above 0")
	switch {
	case weight.set && fraction.set:
		r.fail(fraction.place, "%v: given beside weight, which is the same; want one of them", fraction.value)
	case fraction.set:
		weight = fraction
	}
	t.rate = o.number("rate", positive, maxRate, "requests per second, above 0 up to 1e9")
	if weight.set && t.rate.set {
		r.fail(t.rate.place, "%v: given beside %s, want one of them", t.rate.value, lastOf(weight.Field))
	}
	if !t.rate.set {
		t.weight = weight.or(1)
	}
	t.behavior = o.choice("behavior", "normal", "bursty", "abusive", "adversarial").or("normal")
	t.prefix = readPrefix(&o)
	if v, at := o.get("archetype"); v != nil {
		in := r.object(v, at, []string{"prompt_tokens", "reuse_affinity", "burst_propensity", "session_length"})
		t.prompt = in.number("prompt_tokens", 1, maxTokens, "tokens from 1 to 10000000")
		t.affinity = in.number("reuse_affinity", 0, 1, "a share from 0 to 1")
		t.cv = in.number("burst_propensity", draw.MinCV, draw.MaxCV, "a CV of the gaps from 0.001 to 100")
		t.rounds = in.quantity("session_length", rounds)
		if t.cv.set && t.behavior == "adversarial" {
			r.fail(t.cv.place, "%v: given beside behavior adversarial, whose bursts are of 32 requests", t.cv.value)
		}
		if t.affinity.set && t.behavior == "abusive" {
			r.fail(t.affinity.place, "%v: given beside behavior abusive, which reuses nothing", t.affinity.value)
		}
	}
	r.tenantTargets(&o, &t)
	return t
}

// tenantTargets reads targets of a tenant, which become targets of its class: two
// tenants of a class cannot have different ones.
func (r *reader) tenantTargets(o *object, t *tenant) {
	v, at := o.get("slo")
	if v == nil {
		return
	}
	in := r.object(v, at, []string{"ttft", "tpot", "e2e"})
	class := cmp.Or(t.class, workload.DefaultClass)
	of := r.spec.targets.of(class, at)
	for _, x := range []struct {
		name string
		d    *vtime.Duration
	}{{"ttft", &of.ttft}, {"tpot", &of.tpot}, {"e2e", &of.e2e}} {
		d := in.longDuration(x.name)
		if d.set && *x.d != 0 && *x.d != d.value {
			r.fail(d.place, "%v: class %s has the target %v already, want tenants of a class to agree", d.value, class, *x.d)
		}
		if d.set {
			*x.d = d.value
		}
	}
}

func (r *reader) correlations(o *object) {
	v, at := o.get("correlations")
	if v == nil {
		return
	}
	in := r.object(v, at, []string{"prefix_reuse", "burst_size", "burst_propensity", "session_growth"})
	c := &r.spec.correlations
	c.reuse = in.number("prefix_reuse", 0, 1, "a share from 0 to 1")
	c.size = in.number("burst_size", 0, 1, "how far prompts go with bursts, from 0 to 1 (the CV of the gaps is burst_propensity)")
	c.cv = in.number("burst_propensity", draw.MinCV, draw.MaxCV, "a CV of the gaps from 0.001 to 100")
	c.growth = in.choice("session_growth", growths...)
	for _, g := range []given[float64]{c.reuse, c.size, c.cv} {
		if g.set && len(r.spec.tenants) == 0 {
			r.fail(g.place, "%v: want it with tenants only", g.value)
		}
	}
}

// checkTenants holds clients to the tenants there are.
func (s *Spec) checkTenants(f *faults) {
	if len(s.tenants) == 0 {
		return
	}
	var ids []string
	known := map[string]bool{}
	for i := range s.tenants {
		ids = append(ids, s.tenants[i].id)
		known[s.tenants[i].id] = true
	}
	for _, list := range [][]client{s.clients, s.cohorts} {
		for i := range list {
			c := &list[i]
			switch {
			case c.tenant.set && !known[c.tenant.value]:
				f.fail(c.tenant.place, "%s", yamldoc.Unknown("tenant", c.tenant.value, ids[:min(len(ids), 20)]))
			case !c.tenant.set && c.arrival.process == traced:
				f.fail(c.tenant.place, "not given, want a tenant: times that are given are not split among tenants")
			}
		}
	}
}

// className is the class of a client, of its tenant where it gives none.
func (c *client) className(ofTenant string) string {
	return cmp.Or(c.class, ofTenant, workload.DefaultClass)
}

// tuning is what a tenant changes of a client.
type tuning struct {
	prompts  float64 // factor of prompt lengths
	rate     float64 // factor of the rate
	cv       float64 // of gaps; 0: as the client says
	burst    int32   // requests at one instant; 0: as the client says
	noPrefix bool
	rounds   *distribution // of sessions; nil: as the client says
}

// tune is what tenant t changes of client c; nil: none.
func (b *builder) tune(t *tenant, c *client) *tuning {
	tune := &tuning{prompts: 1, rate: 1}
	if t == nil {
		return tune
	}
	if t.prompt.set {
		mean := b.draws.mean(c.input)
		if !(mean > 0 && mean <= maxTokens) {
			b.fail(t.prompt.place, "%v: the prompts of client %q have the mean %v, want one above 0 up to %d to scale them by", t.prompt.value, yamldoc.Clip(c.id.value), mean, maxTokens)
			mean = 1
		}
		tune.prompts = t.prompt.value / mean
	}
	tune.rounds = t.rounds
	tune.cv = t.cv.or(b.spec.correlations.cv.value)
	switch t.behavior {
	case "bursty":
		tune.cv = max(tune.cv, burstyCV)
	case "abusive":
		tune.prompts, tune.rate, tune.noPrefix = float64(tune.prompts*abusivePrompts), abusiveRate, true
	case "adversarial":
		tune.prompts, tune.cv, tune.burst = float64(tune.prompts*abusivePrompts), 0, adversarialBurst
	}
	return tune
}
