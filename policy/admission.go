package policy

import (
	"math"

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
