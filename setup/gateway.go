package setup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"blis/gateway"
	"blis/vtime"
)

// GatewaySettings is what a user sets of the queue before routing. The tags are as those of Config.
type GatewaySettings struct {
	FlowControl          bool           `json:"flow-control" negatable:"" group:"Gateway" help:"Requests wait at the gateway until the instances have room, and are routed then, as with flow control in llm-d. The flags of this group need it. See docs/gateway.md."`
	SaturationDetector   string         `json:"saturation-detector" default:"utilization" enum:"utilization,concurrency,total,never" group:"Gateway" help:"What says how full the instances are, 1 being full: utilization, the mean of queue depth and KV use against their thresholds; concurrency, requests in flight per instance; total, requests in flight in all; never: 0."`
	MaxConcurrency       int64          `json:"max-concurrency" default:"100" group:"Gateway" help:"Requests in flight with which the instances are full: per instance with concurrency, in all with total."`
	QueueDepthThreshold  float64        `json:"queue-depth-threshold" default:"5" group:"Gateway" help:"Waiting requests with which an instance is full, with utilization."`
	KVCacheUtilThreshold float64        `json:"kv-cache-util-threshold" name:"kv-cache-util-threshold" default:"0.8" group:"Gateway" help:"Share of KV blocks in use with which an instance is full, with utilization."`
	DispatchCredit       bool           `json:"dispatch-credit" negatable:"" group:"Gateway" help:"With concurrency or total: count requests from their dispatch on, not from their routing decision on, so that the limit holds with a routing latency too."`
	MaxGatewayQueueDepth int64          `json:"max-gateway-queue-depth" group:"Gateway" want:"0 (no limit) or more" help:"Requests that may wait at the gateway; 0: no limit."`
	PerBandCapacity      int64          `json:"per-band-capacity" group:"Gateway" want:"0 (no limit) or more" help:"Requests that may wait in each band of priority; 0: no limit."`
	QueueShedding        bool           `json:"queue-shedding" negatable:"" group:"Gateway" help:"Where the queue is full, a waiting request of a lower band below 0 makes room: batch, sheddable or background."`
	InFlightEviction     bool           `json:"in-flight-eviction" negatable:"" group:"Gateway" help:"Where the gate is closed to a request, requests in flight of lower bands below 0 are ended: the lowest band first, in it the last one dispatched."`
	FairnessPolicy       string         `json:"fairness-policy" default:"global-strict" enum:"global-strict,round-robin,vtc" group:"Gateway" help:"Which tenant of a band is served next: global-strict, the one whose request comes first; round-robin; vtc, the one that was given the fewest prompt tokens."`
	FairnessWeights      string         `json:"fairness-weights" placeholder:"gold=4,default=1" group:"Gateway" help:"With vtc: weights of tenants; default is that of all others."`
	DispatchOrder        string         `json:"dispatch-order" default:"fcfs" enum:"fcfs,priority,edf,slo-deadline,fifo" group:"Gateway" help:"Order of the requests of a tenant in a band: fcfs (also: priority), edf, slo-deadline (arrival + TTFT target); fifo: fcfs, with all classes in one band."`
	UsageLimitPolicy     string         `json:"usage-limit-policy" default:"priority-holdback" enum:"priority-holdback,priority-holdback-value,soft-reflective" group:"Gateway" help:"How saturation holds lower bands back: priority-holdback, ceilings in equal steps from 1 for the first band to usage-limit-threshold for the last; priority-holdback-value, in proportion to the priorities; soft-reflective, lower bands at ever fewer ticks."`
	UsageLimitThreshold  float64        `json:"usage-limit-threshold" default:"1" group:"Gateway" help:"Saturation from which the last band is held back; 1: as the first one."`
	RequestTTL           vtime.Duration `json:"request-ttl" name:"request-ttl" default:"0" group:"Gateway" help:"Time after which a request leaves the queue; 0: never."`
	DispatchTickInterval vtime.Duration `json:"dispatch-tick-interval" default:"1ms" group:"Gateway" help:"Interval at which the gateway looks at the queue, besides at each arrival; at least 1us."`
	DispatchPerCycle     int64          `json:"dispatch-per-cycle" default:"1" group:"Gateway" want:"0 (as many as there is room for) or more" help:"Requests that leave the queue at a tick or arrival, at most; 0: as many as there is room for."`
}

// gatewaySettings are the settings that need flow control.
var gatewaySettings = []string{"saturation-detector", "max-concurrency", "queue-depth-threshold", "kv-cache-util-threshold", "dispatch-credit", "max-gateway-queue-depth", "per-band-capacity",
	"queue-shedding", "in-flight-eviction", "fairness-policy", "fairness-weights", "dispatch-order", "usage-limit-policy", "usage-limit-threshold", "request-ttl", "dispatch-tick-interval", "dispatch-per-cycle"}

// tenantWeight is the weight of a tenant, or with the name default of all others.
type tenantWeight struct {
	tenant string
	weight float64 // above 0
}

// parseWeights reads "gold=4,default=1".
func parseWeights(text string) (list []tenantWeight, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, number, found := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if !found || name == "" || err != nil || !(x >= leastWeight && x <= 1/leastWeight) {
			return nil, inputErrorf("--fairness-weights: %q: want tenant=weight, a number from %g to %g, like gold=4", part, leastWeight, 1/leastWeight)
		}
		if slices.ContainsFunc(list, func(t tenantWeight) bool { return t.tenant == name }) {
			return nil, inputErrorf("--fairness-weights: %q: tenant %s has a weight already", part, name)
		}
		list = append(list, tenantWeight{name, x})
	}
	return list, nil
}

// leastWeight is the least weight of a tenant; the largest is its inverse.
const leastWeight = 1e-6

// weightsOf returns the weight of each tenant: its own, that of default, else 1.
func weightsOf(list []tenantWeight) func(tenant string) float64 {
	usual := 1.0
	own := map[string]float64{}
	for _, t := range list {
		own[t.tenant] = t.weight
	}
	if x, ok := own["default"]; ok {
		usual = x
	}
	return func(tenant string) float64 {
		if x, ok := own[tenant]; ok {
			return x
		}
		return usual
	}
}

// Gateway is the queue before routing of a plan, one for each model that is served.
type Gateway struct {
	Rules    gateway.Rules
	OneBand  bool // all classes are in one band
	Detector Detector
	Tick     vtime.Duration // a cycle at each multiple, and at each entry
	Evict    bool           // requests in flight that may be shed end for those of higher bands that wait
	PerCycle int64          // requests that a cycle dispatches at most; 0: as many as there is room for
}

// Detector says how full instances are; 1 is full.
type Detector struct {
	Kind       string  // DetectUtilization, …
	Limit      int64   // of requests in flight
	Credit     bool    // which count from their dispatch on
	QueueDepth float64 // of an instance that is full
	KV         float64
}

// Kinds of detectors.
const (
	DetectUtilization = "utilization"
	DetectConcurrency = "concurrency"
	DetectTotal       = "total"
	DetectNever       = "never"
)

// InFlight reports whether the detector counts requests in flight.
func (d *Detector) InFlight() bool { return d.Kind == DetectConcurrency || d.Kind == DetectTotal }

// Evicts reports whether a gateway ends requests in flight; a nil one does not.
func (g *Gateway) Evicts() bool { return g != nil && g.Evict }

// newGateway returns the gateway of a run, nil without flow control.
func newGateway(c *GatewaySettings) (*Gateway, error) {
	if !c.FlowControl {
		return nil, nil
	}
	weights, err := parseWeights(c.FairnessWeights)
	if err != nil {
		return nil, err
	}
	g := &Gateway{
		Rules: gateway.Rules{
			Total: c.MaxGatewayQueueDepth, PerBand: c.PerBandCapacity, Shed: c.QueueShedding, TTL: c.RequestTTL,
			Ceilings: gateway.Ceilings{Min: c.UsageLimitThreshold, Max: 1},
		},
		OneBand:  c.DispatchOrder == "fifo",
		Detector: Detector{Kind: c.SaturationDetector, Limit: c.MaxConcurrency, Credit: c.DispatchCredit, QueueDepth: c.QueueDepthThreshold, KV: c.KVCacheUtilThreshold},
		Tick:     c.DispatchTickInterval, PerCycle: c.DispatchPerCycle, Evict: c.InFlightEviction,
	}
	switch c.DispatchOrder {
	case "edf":
		g.Rules.Order = gateway.EDF
	case "slo-deadline":
		g.Rules.Order = gateway.SLODeadline
	}
	switch c.FairnessPolicy {
	case "round-robin":
		g.Rules.Fairness = gateway.RoundRobin
	case "vtc":
		g.Rules.Fairness = gateway.VTC
		if len(weights) > 0 {
			g.Rules.Weight = weightsOf(weights)
		}
	}
	switch {
	case c.UsageLimitPolicy == "soft-reflective":
		g.Rules.Ceilings.Kind = gateway.SoftReflective
	case c.UsageLimitThreshold == 1:
		g.Rules.Ceilings.Kind = gateway.Static
	case c.UsageLimitPolicy == "priority-holdback":
		g.Rules.Ceilings.Kind = gateway.Holdback
	default:
		g.Rules.Ceilings.Kind = gateway.HoldbackValue
	}
	return g, nil
}

// gatewayText says how requests wait before routing.
func gatewayText(c *GatewaySettings) string {
	full := ""
	switch c.SaturationDetector {
	case DetectConcurrency:
		full = fmt.Sprintf(" of %d per instance", c.MaxConcurrency)
	case DetectTotal:
		full = fmt.Sprintf(" of %d", c.MaxConcurrency)
	case DetectUtilization:
		full = fmt.Sprintf(" of queue depth %g, KV use %g", c.QueueDepthThreshold, c.KVCacheUtilThreshold)
	}
	return fmt.Sprintf("flow control by %s%s (%s, %s, every %v)", c.SaturationDetector, full, c.DispatchOrder, c.FairnessPolicy, c.DispatchTickInterval)
}

// resolveGateway makes the gateway of a plan.
func resolveGateway(p *Plan) (err error) {
	if p.Gateway, err = newGateway(&p.Config.GatewaySettings); err != nil {
		return err
	}
	for i := range p.Deployments {
		if p.Gateway.Evicts() && p.Deployments[i].PD != nil {
			return inputErrorf("--in-flight-eviction: requests of prefill and decode instances are not evicted: want instances that do both, or none of it")
		}
	}
	return nil
}

// checkGateway checks the settings of the queue before routing.
func checkGateway(c *Config, check func(ok bool, name string, value any, want string)) {
	if !c.FlowControl {
		for s := range c.Settings() {
			if slices.Contains(gatewaySettings, s.Name) && !s.isDefault() {
				check(false, s.Name, s.Value.Interface(), "--flow-control with it")
			}
		}
		return
	}
	check(c.MaxConcurrency >= 1 && c.MaxConcurrency <= 1<<40, "max-concurrency", c.MaxConcurrency, "1 to 2^40")
	check(c.QueueDepthThreshold > 0 && c.QueueDepthThreshold <= 1e9, "queue-depth-threshold", c.QueueDepthThreshold, "a number above 0, at most 1e9")
	check(c.KVCacheUtilThreshold > 0 && c.KVCacheUtilThreshold <= 1, "kv-cache-util-threshold", c.KVCacheUtilThreshold, "a share of the KV blocks, above 0 and at most 1")
	check(c.UsageLimitThreshold > 0 && c.UsageLimitThreshold <= 1, "usage-limit-threshold", c.UsageLimitThreshold, "a saturation above 0 and at most 1")
	check(c.UsageLimitThreshold == 1 || c.UsageLimitPolicy != "soft-reflective", "usage-limit-threshold", c.UsageLimitThreshold, "none with --usage-limit-policy soft-reflective")
	check(c.RequestTTL >= 0, "request-ttl", c.RequestTTL, "0 or more")
	check(c.DispatchTickInterval >= 1 && c.DispatchTickInterval <= vtime.Hour, "dispatch-tick-interval", c.DispatchTickInterval, "1us to an hour")
	check(!c.DispatchCredit || c.SaturationDetector == DetectConcurrency || c.SaturationDetector == DetectTotal, "dispatch-credit", c.DispatchCredit, "--saturation-detector concurrency or total with it")
	check(c.FairnessWeights == "" || c.FairnessPolicy == "vtc", "fairness-weights", c.FairnessWeights, "--fairness-policy vtc with it")
	check(!c.QueueShedding || c.MaxGatewayQueueDepth > 0, "queue-shedding", c.QueueShedding, "a --max-gateway-queue-depth above 0 with it")
}

// unusedOfGateway are settings of the gateway without effect.
func unusedOfGateway(c *Config) []unused {
	if !c.FlowControl {
		return nil
	}
	d := c.SaturationDetector
	return []unused{
		{d != DetectConcurrency && d != DetectTotal, []string{"max-concurrency"}, "saturation-detector is " + d},
		{d == DetectNever, []string{"in-flight-eviction"}, "saturation-detector is never"},
		{c.DispatchOrder == "fifo", []string{"in-flight-eviction"}, "with dispatch-order fifo there is one band"},
		{d != DetectUtilization, []string{"queue-depth-threshold", "kv-cache-util-threshold"}, "saturation-detector is " + d},
		{c.DispatchOrder == "fifo", []string{"usage-limit-threshold", "usage-limit-policy"}, "with dispatch-order fifo there is one band"},
		{c.UsageLimitThreshold == 1 && c.UsageLimitPolicy == "priority-holdback-value", []string{"usage-limit-policy"}, "usage-limit-threshold is 1"},
		{c.DispatchOrder == "slo-deadline" && c.SLOTargets == "", []string{"dispatch-order"}, "there are no slo-targets"},
	}
}
