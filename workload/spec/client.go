package spec

import (
	"fmt"
	"math"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
	"blis/yamldoc"
)

// Limits of what a specification may ask for.
const (
	maxClients = 100_000 // clients of a specification, cohorts and tenants written out
	maxRate    = 1e9     // requests per second
	maxHint    = 1e15
)

// client is a client of a specification, or a cohort of equal ones.
type client struct {
	place
	id       given[string]
	members  int64 // of a cohort; 0: a client
	tenant   given[string]
	class    string
	model    string
	priority float64

	fraction, rate given[float64]
	users          given[int64]
	think, pause   *distribution
	requests       given[int64]
	arrival        arrival
	profile        *profile
	windows        []window
	stages         []draw.Stage // exact numbers of arrivals, of inference_perf

	input, output *distribution
	maxOutput     given[int64]
	prefix        prefix
	perMember     bool // of a cohort: each member has a prefix of its own
	timeout       given[vtime.Duration]
	target        given[vtime.Duration] // of TTFT, the public simulator's slo_target_us

	types   []requestType
	single  int64       // of one session alone: its rounds; 0: sessions without end
	pattern pattern     // of a cohort
	network given[bool] // whether it is anything but 0
	adapter given[string]
}

// prefix is how prompts begin.
type prefix struct {
	place
	group  given[string]
	length given[int64]
	share  given[float64]
	count  given[int64]
	skew   given[float64]
}

// pattern is how a cohort's rate varies over the day.
type pattern struct {
	waves       *waves // the highest rate is the rate of the cohort
	spike       *window
	drain       bool
	start, ramp vtime.Duration
}

// window is a time in which a client sends.
type window struct {
	place
	start, end    vtime.Time
	rate          given[float64] // trace_rate
	arrival       *arrival
	input, output *distribution
}

var sharedFields = []string{
	"id", "tenant_id", "slo_class", "model", "adapter", "priority", "rate_fraction", "rate", "num_requests",
	"arrival", "load_profile", "input_distribution", "output_distribution", "max_output",
	"prefix", "prefix_group", "prefix_length", "streaming", "network", "multimodal", "reasoning", "request_types",
	"timeout", "slo_target_us", "closed_loop",
}

var (
	clientFields = append([]string{"concurrency", "think_time_us", "refusal_pause", "lifecycle"}, sharedFields...)
	cohortFields = append([]string{"population", "prefix_sharing", "diurnal", "spike", "drain"}, sharedFields...)
)

func (r *reader) clients(o *object) {
	items, at := o.items("clients", "clients like {id: chat, rate_fraction: 1, …}")
	if len(items) > maxClients {
		r.fail(at, "%d clients, want at most %d", len(items), maxClients)
		return
	}
	for i, v := range items {
		in := r.object(v, at.Item(i, v.Line), clientFields)
		c := r.client(&in, fmt.Sprintf("client-%d", i))
		r.concurrency(&in, &c)
		c.windows = r.lifecycle(&in)
		if c.users.set && c.windows != nil {
			_, where := in.get("lifecycle")
			r.fail(where, "given beside concurrency, whose users send all the time; want a rate")
		}
		r.spec.clients = append(r.spec.clients, c)
		if !r.ok() {
			return
		}
	}
}

func (r *reader) client(o *object, id string) client {
	c := client{place: o.place, id: o.text("id", "a name"), tenant: o.text("tenant_id", "a name")}
	if !c.id.set {
		c.id.value = id
	}
	c.class = r.class(o, "slo_class")
	c.model = o.text("model", "the name of a model").value
	c.adapter = o.text("adapter", "the name of an adapter")
	c.priority = o.number("priority", -maxHint, maxHint, "a number, higher is more urgent").value
	c.fraction = o.number("rate_fraction", 0, 1e9, "a share of aggregate_rate, above 0")
	c.rate = o.number("rate", positive, maxRate, "requests per second, above 0 up to 1e9")
	c.requests = o.whole("num_requests", 1, math.MaxInt64, "at least 1 request")
	c.arrival, c.profile = o.arrival("arrival"), o.profile("load_profile")
	c.input, c.output = o.distribution("input_distribution", inputTokens), o.distribution("output_distribution", outputTokens)
	if m := r.media(o); m != nil {
		if c.input != nil {
			r.note(c.input.place, "has no effect beside multimodal, which says how long prompts are")
		}
		c.input = m
	}
	r.needLengths(o, &c)
	c.maxOutput = o.whole("max_output", 1, maxTokens, "tokens from 1 to 10000000")
	c.prefix = r.prefix(o)
	o.flag("streaming") // how an answer is sent changes no time
	c.network = r.network(o)
	c.timeout = o.duration("timeout")
	c.target = o.duration("slo_target_us")
	r.sessions(o, &c)
	r.checkRate(o, &c)
	return c
}

func (r *reader) needLengths(o *object, c *client) {
	if c.input == nil {
		_, at := o.get("input_distribution")
		r.fail(at, "not given, want a distribution like {type: gaussian, params: {mean: 512, std_dev: 128}}")
	}
	if c.output == nil {
		_, at := o.get("output_distribution")
		r.fail(at, "not given, want a distribution like {type: exponential, params: {mean: 256}}")
	}
}

// checkRate refuses more than one way to say how often a client sends.
func (r *reader) checkRate(o *object, c *client) {
	if c.fraction.set && c.fraction.value == 0 && !o.has("concurrency") {
		r.fail(c.fraction.place, "0: want a share of aggregate_rate, above 0")
	}
	if c.fraction.value > 0 && c.rate.set {
		r.fail(c.rate.place, "%v: given beside rate_fraction, want one of them", c.rate.value)
	}
	if c.arrival.process == traced {
		for _, g := range []given[float64]{c.rate, c.fraction} {
			if g.set {
				r.fail(g.place, "%v: want no rate with arrival trace, whose times are given", g.value)
			}
		}
	}
	if p := c.profile; p != nil && (c.arrival.shapesRate() || c.arrival.process == traced) {
		r.fail(p.place, "given beside arrival %s, which says itself how the rate varies", c.arrival.process)
	}
}

// concurrency reads the users of a closed loop.
func (r *reader) concurrency(o *object, c *client) {
	users := o.whole("concurrency", 0, 1<<20, "users from 0 to 1048576")
	c.think = o.quantity("think_time_us", delays)
	c.pause = o.quantity("refusal_pause", pauses)
	if users.value == 0 {
		if c.pause != nil {
			r.note(c.pause.place, "has no effect without concurrency")
		}
		if c.think != nil && len(c.think.params) > 0 && c.think.params[0] != 0 {
			r.note(c.think.place, "has no effect without concurrency")
		}
		return
	}
	c.users = users
	for _, g := range []given[float64]{c.rate, c.fraction} {
		if g.value > 0 {
			r.fail(g.place, "%v: given beside concurrency, want one of them", g.value)
		}
	}
	if c.profile != nil {
		r.fail(c.profile.place, "given beside concurrency, whose users have no rate")
	}
	if c.arrival.set {
		r.note(c.arrival.place, "has no effect with concurrency: users send when they have their answer")
	}
}

// class reads an SLO class; version 1 has other names for two of them.
func (r *reader) class(o *object, name string) string {
	g := o.text(name, "an SLO class")
	if g.set {
		return r.className(g.value, g.place)
	}
	return ""
}

var classes = workload.Classes()

// olderClasses are the names of version 1.
var olderClasses = []struct{ older, class string }{{"realtime", "critical"}, {"interactive", workload.DefaultClass}}

func (r *reader) className(name string, at place) string {
	for _, c := range classes {
		if c == name {
			return name
		}
	}
	for _, c := range olderClasses {
		if c.older != name {
			continue
		}
		r.note(at, "%s is called %s since version 2", c.older, c.class)
		return c.class
	}
	r.fail(at, "%s", yamldoc.Unknown("SLO class", name, classes))
	return name
}

// prefix reads prefix, or the public simulator's prefix_group and
// prefix_length.
func (r *reader) prefix(o *object) prefix {
	p := readPrefix(o)
	group, length := o.text("prefix_group", "a name"), o.whole("prefix_length", 0, maxTokens, "tokens from 0 to 10000000")
	switch {
	case p.Line > 0 && (group.set || length.set):
		r.fail(group.place, "given beside prefix, want one of them")
	case p.Line > 0:
		return p
	case !group.set && length.value > 0:
		r.note(length.place, "has no effect without prefix_group")
		return prefix{}
	case !group.set:
		return prefix{}
	}
	length.set = length.value > 0
	return prefix{place: group.place, group: group, length: length}
}

// readPrefix reads {group, length, share, count, skew}.
func readPrefix(o *object) prefix {
	v, at := o.get("prefix")
	if v == nil {
		return prefix{}
	}
	in := o.object(v, at, []string{"group", "length", "share", "count", "skew"})
	p := prefix{place: at, group: in.text("group", "a name")}
	p.length = in.whole("length", 1, maxTokens, "tokens from 1 to 10000000")
	p.share = in.number("share", 0, 1, "a share from 0 to 1")
	p.count = in.whole("count", 1, 1_000_000, "different prefixes from 1 to 1000000")
	p.skew = in.number("skew", 0, 20, "an exponent from 0 to 20")
	if p.skew.set && p.count.or(1) == 1 {
		o.fail(p.skew.place, "%v: want it with a count above 1 only", p.skew.value)
	}
	return p
}

// network reads what the public simulator models between client and server.
func (r *reader) network(o *object) given[bool] {
	v, at := o.get("network")
	if v == nil {
		return given[bool]{place: at}
	}
	in := o.object(v, at, []string{"rtt_ms", "bandwidth_mbps"})
	rtt := in.number("rtt_ms", 0, 1e12, "milliseconds from 0")
	bandwidth := in.number("bandwidth_mbps", 0, 1e12, "megabits per second from 0")
	return given[bool]{at, rtt.value != 0 || bandwidth.value != 0, true}
}

// fillPrefixLengths fills in the length of a group that is given above: all clients
// that name a group begin with the same content, and most give its length once.
func (s *Spec) fillPrefixLengths() {
	lengths := map[string]given[int64]{}
	for _, list := range [][]client{s.clients, s.cohorts} {
		for i := range list {
			p := &list[i].prefix
			if !p.group.set {
				continue
			}
			first, known := lengths[p.group.value]
			switch {
			case p.length.set && !known:
				lengths[p.group.value] = p.length
			case !p.length.set && known:
				p.length = first
			case known && p.length.value != first.value:
				s.note(p.length.place, "%d: group %q has %d at %s; their prompts share the first %d tokens", p.length.value, yamldoc.Clip(p.group.value), first.value, first.Field, min(p.length.value, first.value))
			}
		}
	}
}
