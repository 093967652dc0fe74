package actors

import (
	"fmt"

	"blis/gateway"
	"blis/lookahead"
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// What a result says of gateways.

// Gateway is what the gateway of the deployments that serve one model did.
type Gateway struct {
	Deployment string // the first of them; empty: there is one deployment without a name
	*metrics.GatewayReport
}

// Gateways is what each gateway did; nil without flow control.
func (r *Result) Gateways() []Gateway { return r.rest.gateways }

// addGateways adds the gateways to the result of a run that has ended, after checking their books.
func (c *cluster) addGateways(r *Result) error {
	for _, s := range c.router.fleet.services {
		if s.flow == nil {
			continue
		}
		if err := s.flow.use.Check(r.End); err != nil {
			return fmt.Errorf("the books do not balance: %w", err)
		}
		g := s.flow.use.Report(r.End, func(l workload.Label) string { return nameIn(r.Names.Classes, l) }, func(l workload.Label) string { return flowName(nameIn(r.Names.Tenants, l)) })
		r.rest.gateways = append(r.rest.gateways, Gateway{s.deployments[0].plan.ID, g})
	}
	return nil
}

// nameIn is the name of a label, empty for one without.
func nameIn(names []string, l workload.Label) string {
	if int(l) >= len(names) {
		return ""
	}
	return names[l]
}

// GatewayRow is what a request did at a gateway.
type GatewayRow struct {
	Band int
	Flow string
	Wait vtime.Duration // until it was dispatched, or left otherwise; −1: it still waits, or never entered
	At   vtime.Time     // when it was dispatched; vtime.Never: it was not
}

// AtGateway returns what a request did at its gateway; ok is false for a run without flow control.
func AtGateway(r *Row) (g GatewayRow, ok bool) {
	plan := r.names.gateway
	if plan == nil {
		return g, false
	}
	g = GatewayRow{Flow: flowName(r.TenantName()), Wait: -1, At: r.dispatched}
	if !plan.OneBand {
		g.Band = gateway.BandOf(r.ClassName())
	}
	switch {
	case g.At != vtime.Never:
		g.Wait = g.At.Sub(r.Admitted)
	case r.State == metrics.Shed || r.State == metrics.Expired || r.Reason == metrics.AtGateway:
		g.Wait = r.Finished.Sub(r.Admitted)
	}
	return g, true
}

// sendDispatched tells the collector that a request leaves the queue of a gateway at now.
func sendDispatched(out *lookahead.Outbox, now vtime.Time, request int64) {
	k := lookahead.Key{At: now, Class: vtime.ClassRouting}
	if !out.Cause().Less(k) {
		k = out.Cause().Next()
	}
	out.Begin(collectorID, k, kindDispatched, 1)
	out.Int(request)
	out.End()
}

func readDispatched(m *lookahead.Message) (request int64) {
	request = m.Body.Int()
	mustDecode(&m.Body)
	return request
}
