package policy

import "blis/vtime"

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
