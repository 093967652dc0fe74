package policy

import (
	"math"
	"math/bits"

	"blis/vtime"
)

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
