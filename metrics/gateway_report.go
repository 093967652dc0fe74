package metrics

import (
	"slices"
	"strconv"

	"blis/vtime"
	"blis/workload"
)

// GatewayReport is what a gateway did in a run.
type GatewayReport struct {
	GatewayScope
	LengthMean  *float64      `json:"queue_length_mean"` // time-weighted, from 0 to the end of the run; null in a run that took no time
	LengthPeak  int64         `json:"queue_length_peak"`
	ClosedShare *float64      `json:"closed_share"`    // of that time in which requests waited at a closed gate
	Saturation  *float64      `json:"saturation_mean"` // time-weighted, from the first cycle to the last; null without two at different times
	Most        float64       `json:"saturation_peak"`
	Bands       GatewayScopes `json:"per_band"`
	Classes     GatewayScopes `json:"per_class"`
	Flows       GatewayScopes `json:"per_flow"` // by tenant
}

// GatewayScope is the requests of a gateway, or a part of them.
type GatewayScope struct {
	GatewayCounts
	Wait *Summary `json:"wait_us"` // of requests that were dispatched; null: none was
}

// NamedGatewayScope is a GatewayScope with the name of a band, class or flow.
type NamedGatewayScope struct {
	Name string
	GatewayScope
}

// GatewayScopes are distinct by name.
type GatewayScopes []NamedGatewayScope

// MarshalJSON prints an object from name to scope that keeps the order.
func (s GatewayScopes) MarshalJSON() ([]byte, error) {
	names := make([]string, len(s))
	for i := range s {
		names[i] = s[i].Name
	}
	return Object(names, func(i int) any { return &s[i].GatewayScope })
}

// Report reports on a run that ended at end; bands from the highest, classes and flows in the order of their
// labels. class and flow name labels.
func (u *GatewayUse) Report(end vtime.Time, class, flow func(workload.Label) string) *GatewayReport {
	r := &GatewayReport{GatewayScope: scopeOf(&u.Overall), LengthPeak: u.peak, Most: u.most}
	if end > 0 {
		mean, closed := float64(u.length)/float64(end), float64(u.closed)/float64(end)
		r.LengthMean, r.ClosedShare = &mean, &closed
	}
	if span := u.since.Sub(u.first); span > 0 {
		mean := u.weighted / float64(span)
		r.Saturation = &mean
	}
	bands := slices.Clone(u.bands)
	slices.SortFunc(bands, func(a, b bandCounts) int { return b.priority - a.priority })
	for _, b := range bands {
		r.Bands = append(r.Bands, NamedGatewayScope{strconv.Itoa(b.priority), scopeOf(b.counts)})
	}
	r.Classes, r.Flows = scopesOf(u.classes, class), scopesOf(u.tenants, flow)
	return r
}

// scopesOf are those of the labels with requests, in their order.
func scopesOf(list []*GatewayCounts, name func(workload.Label) string) (scopes GatewayScopes) {
	for k, c := range list {
		if c != nil {
			scopes = append(scopes, NamedGatewayScope{name(workload.Label(k)), scopeOf(c)})
		}
	}
	return scopes
}

func scopeOf(c *GatewayCounts) GatewayScope {
	s := GatewayScope{GatewayCounts: *c}
	if c.Dispatched > 0 {
		c.wait.AddN(0, c.atOnce)
		c.atOnce = 0
		wait := c.wait.Summary()
		s.Wait = &wait
	}
	return s
}
