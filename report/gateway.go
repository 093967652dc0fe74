package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"blis/actors"
	"blis/metrics"
	"blis/report/plaintext"
)

// gateways is what the gateways of a run did: an object of the only one, or from the name of its first
// deployment to each.
type gateways []actors.Gateway

// newGateways returns nil for a run without gateways.
func newGateways(r *actors.Result) *gateways {
	list := r.Gateways()
	if list == nil {
		return nil
	}
	g := gateways(list)
	return &g
}

// MarshalJSON implements json.Marshaler.
func (g gateways) MarshalJSON() ([]byte, error) {
	if len(g) == 1 {
		return json.Marshal(g[0].GatewayReport)
	}
	names := make([]string, len(g))
	for i := range g {
		names[i] = g[i].Deployment
	}
	return metrics.Object(names, func(i int) any { return g[i].GatewayReport })
}

// gatewayPart is the sum over gateways of one count, under the name that the public simulator has for it; nil
// without any.
func gatewayPart(r *actors.Result, of func(*metrics.GatewayCounts) int64) *int64 {
	list := r.Gateways()
	if list == nil {
		return nil
	}
	n := int64(0)
	for i := range list {
		n += of(&list[i].GatewayCounts)
	}
	return &n
}

// gateways says what the gateways did.
func (t *runText) gateways(r *actors.Result) {
	list := r.Gateways()
	for i := range list {
		g := &list[i]
		name := "gateway"
		if len(list) > 1 {
			name += " " + g.Deployment
		}
		text := fmt.Sprintf("%s entered, %s dispatched", plaintext.Grouped(g.Entered), plaintext.Grouped(g.Dispatched))
		if g.Wait != nil {
			mean, p99 := g.Wait.Mean/1000, g.Wait.P99/1000
			text += fmt.Sprintf(" after %s ms on average, p99 %s ms", plaintext.Decimal(&mean, 1), plaintext.Decimal(&p99, 1))
		}
		for _, part := range []struct {
			n    int64
			what string
		}{{g.Rejected, "refused for want of room"}, {g.Shed, "shed"}, {g.Expired, "expired"}, {g.TimedOut, "timed out there"}, {g.Waiting, "still there"}, {g.Evicted, "evicted from their instances"}} {
			if part.n > 0 {
				text += fmt.Sprintf(", %s %s", plaintext.Grouped(part.n), part.what)
			}
		}
		t.Line(name, text)
		t.Line("queue", fmt.Sprintf("%s on average, at most %s; at a closed gate for %s of the time; saturation %s on average, at most %s",
			plaintext.Decimal(g.LengthMean, 1), plaintext.Grouped(g.LengthPeak), plaintext.Percent(g.ClosedShare), plaintext.Decimal(g.Saturation, 2), plaintext.Decimal(&g.Most, 2)))
		if len(g.Bands) < 2 {
			continue
		}
		var parts []string
		for k := range g.Bands {
			b := &g.Bands[k]
			parts = append(parts, fmt.Sprintf("%s: %s of %s dispatched%s", b.Name, plaintext.Grouped(b.Dispatched), plaintext.Grouped(b.Entered+b.Rejected), waitText(b.Wait)))
		}
		t.Line("bands", strings.Join(parts, "; "))
	}
}

// waitText is a mean wait, empty without one.
func waitText(s *metrics.Summary) string {
	if s == nil {
		return ""
	}
	mean := s.Mean / 1000
	return " after " + plaintext.Decimal(&mean, 1) + " ms"
}
