package policy

import (
	"math"
	"math/bits"

	"blis/vtime"
)

var admissionTemplates = []template[Admission]{{
	Template: Template{Kind: AdmissionKind, Name: "always-admit", Help: "admits every request (default)"},
	build:    func(values, Env) (Admission, error) { return alwaysAdmit{}, nil },
}, {
	Template: Template{
		Kind: AdmissionKind, Name: "token-bucket",
		Help: "a request costs its input tokens; rejects it when the bucket holds fewer",
		Parameters: []Parameter{
			{Name: "capacity", Type: Number, Default: "10000", Min: 1, Max: math.MaxFloat64, Help: "tokens that the bucket holds; it starts full"},
			{Name: "refill_rate", Type: Number, Default: "1000", Min: 0, Max: math.MaxFloat64, Help: "tokens per second that flow in"},
			{Name: "per_tenant", Type: Flag, Default: "false", Help: "one such bucket for each tenant instead of one for all"},
		},
	},
	build: func(v values, _ Env) (Admission, error) {
		p := &tokenBucket{capacity: v.number("capacity"), rate: v.number("refill_rate")}
		p.buckets = buckets[bucket]{perTenant: v.flag("per_tenant"), full: bucket{tokens: p.capacity}}
		return p, nil
	},
}, rateLimitTemplate, tenantQuotaTemplate, saturationShedTemplate, {
	Template: Template{Kind: AdmissionKind, Name: "reject-all", Help: "rejects every request (pathological, for tests)"},
	build:    func(values, Env) (Admission, error) { return rejectAll{}, nil },
}}

type alwaysAdmit struct{}

func (alwaysAdmit) Observes() Signals { return NoSignals }

func (alwaysAdmit) Decide(*Request, *RouterState, vtime.Time) AdmissionDecision {
	return AdmissionDecision{Verdict: Admit}
}

type rejectAll struct{}

func (rejectAll) Observes() Signals { return NoSignals }

func (rejectAll) Decide(*Request, *RouterState, vtime.Time) AdmissionDecision {
	return AdmissionDecision{Verdict: Reject, Reason: RejectAll}
}

// buckets is one bucket for all requests, or one for each tenant.
type buckets[B any] struct {
	perTenant bool
	full      B   // a new bucket
	list      []B // one bucket, or one by tenant label
}

// of returns the bucket that pays for a request.
func (b *buckets[B]) of(req *Request) *B {
	number := 0
	if b.perTenant {
		number = int(req.Tenant)
	}
	for number >= len(b.list) {
		b.list = append(b.list, b.full)
	}
	return &b.list[number]
}

// tokenBucket admits by prompt tokens. At a decision the bucket holds
// min(capacity, tokens + elapsed·rate/10⁶). If that is enough for the prompt its
// tokens are taken and the request is admitted, else it is rejected and costs
// nothing.
type tokenBucket struct {
	capacity, rate float64 // tokens, tokens per second
	buckets        buckets[bucket]
}

type bucket struct {
	tokens float64
	filled vtime.Time // the inflow up to this time is in tokens
}

func (*tokenBucket) Observes() Signals { return NoSignals }

func (t *tokenBucket) Decide(req *Request, _ *RouterState, now vtime.Time) AdmissionDecision {
	b := t.buckets.of(req)
	inflow := float64(float64(now.Sub(b.filled))*t.rate) / 1e6
	b.tokens, b.filled = min(t.capacity, b.tokens+inflow), now
	cost := float64(req.Input)
	if b.tokens < cost {
		return AdmissionDecision{Verdict: Reject, Reason: InsufficientTokens}
	}
	b.tokens -= cost
	return AdmissionDecision{Verdict: Admit}
}

var rateLimitTemplate = template[Admission]{
	Template: Template{
		Kind: AdmissionKind, Name: "rate-limit",
		Help: "a maximum rate of requests, whatever their length; rejects the others",
		Parameters: []Parameter{
			{Name: "rate", Type: Number, Default: "10", Min: 1e-6, Max: 1e6, Help: "requests per second, in steps of a millionth"},
			{Name: "burst", Type: Number, Default: "10", Min: 1, Max: 1e6, Help: "requests at once after a pause long enough, and at the start"},
			{Name: "per_tenant", Type: Flag, Default: "false", Help: "the rate is for each tenant instead of for all"},
		},
	},
	build: func(v values, _ Env) (Admission, error) {
		p := &rateLimit{inflow: millionths(v.number("rate")), burst: millionths(v.number("burst")) * 1e6}
		p.allowances = buckets[allowance]{perTenant: v.flag("per_tenant"), full: allowance{level: p.burst}}
		return p, nil
	},
}

// millionths returns x in millionths, rounded to the nearest.
func millionths(x float64) uint64 { return uint64(math.Round(x * 1e6)) }

// rateLimit is a token bucket whose tokens are requests. A client that sends
// exactly at the rate is at the edge of rejection all the time, where rounding
// would decide: parts of a request that flow in as floats need not add up to one.
// So the level is an integer in units of 10⁻¹² requests. An inflow of a millionth
// of a request per second is one unit per µs.
type rateLimit struct {
	inflow     uint64 // per µs
	burst      uint64
	allowances buckets[allowance]
}

// oneRequest is the cost of a request, in the units of a level.
const oneRequest = 1e12

type allowance struct {
	level  uint64
	filled vtime.Time // the inflow up to this time is in level
}

func (*rateLimit) Observes() Signals { return NoSignals }

func (p *rateLimit) Decide(req *Request, _ *RouterState, now vtime.Time) AdmissionDecision {
	a := p.allowances.of(req)
	high, more := bits.Mul64(uint64(now.Sub(a.filled)), p.inflow)
	if room := p.burst - a.level; high > 0 || more > room {
		more = room
	}
	a.level, a.filled = a.level+more, now
	if a.level < oneRequest {
		return AdmissionDecision{Verdict: Reject, Reason: RateLimited}
	}
	a.level -= oneRequest
	return AdmissionDecision{Verdict: Admit}
}

// mostRequests is the largest count of requests that a parameter takes.
const mostRequests = 1e9

var tenantQuotaTemplate = template[Admission]{
	Template: Template{
		Kind: AdmissionKind, Name: "tenant-quota",
		Help: "a maximum number of active requests per tenant; delays the others, then rejects them",
		Parameters: []Parameter{
			{Name: "max_active", Type: Count, Default: "100", Max: mostRequests, Help: "active requests that a tenant may have"},
			{Name: "delay", Type: Duration, Default: "0s", Max: day, Help: "after which a request over quota is decided again; 0 rejects it at once"},
			{Name: "max_delays", Type: Count, Default: "3", Max: mostRequests, Help: "delays of one request, after which it is rejected; without delay there are none"},
		},
		Open: &Parameter{Name: TenantsKey, Type: Count, Max: mostRequests, Help: "max_active of single tenants"},
	},
	build: func(v values, env Env) (Admission, error) {
		p := &tenantQuota{
			quotas:    byLabel[int64]{names: env.tenants(), value: v.quota},
			delay:     v.duration("delay"),
			maxDelays: v.count("max_delays"),
		}
		if p.delay == 0 {
			p.maxDelays = 0
		}
		return p, nil
	},
}

// quota returns the quota of the tenant of that name.
func (v *values) quota(tenant string) int64 {
	if given, ok := v.open[tenant]; ok {
		return int64(given.number)
	}
	return v.count("max_active")
}

// tenantQuota counts a request against its tenant's quota from admission until the
// router knows that it ended. A delayed request does not count, and delayed requests
// have no order.
type tenantQuota struct {
	quotas    byLabel[int64]
	delay     vtime.Duration
	maxDelays int64
}

func (*tenantQuota) Observes() Signals { return Active }

func (p *tenantQuota) Decide(req *Request, st *RouterState, _ vtime.Time) AdmissionDecision {
	switch {
	case st.ActiveOf(req.Tenant) < p.quotas.of(req.Tenant):
		return AdmissionDecision{Verdict: Admit}
	case int64(req.Delays) < p.maxDelays:
		return AdmissionDecision{Verdict: Delay, Reason: OverQuota, Wait: p.delay}
	}
	return AdmissionDecision{Verdict: Reject, Reason: OverQuota}
}
