package setup

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"blis/bundle"
	"blis/input"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
)

// resolvePolicies applies the settings to the bundle and completes it. From then on
// the bundle is what counts; the settings show it.
func (p *resolver) resolvePolicies() error {
	c := &p.Config
	if err := ApplyEdits(&c.Policies, c.edits()); err != nil {
		return err
	}
	if err := readPrograms(c); err != nil {
		return err
	}
	complete, err := c.Policies.Complete()
	if err != nil {
		return p.Locate(err)
	}
	for _, s := range bundleSettings {
		if complete.Get(s.path) == "" && !s.isParameter() {
			if err := complete.Set(s.path, s.byDefault); err != nil {
				return err
			}
		}
	}
	if err := c.UseBundle(complete); err != nil {
		return err
	}
	if c.SLOTargets != "" {
		if p.Targets, err = metrics.ParseTargets(c.SLOTargets); err != nil {
			return &InputError{"--slo-targets: " + err.Error()}
		}
	}
	if !p.brief {
		p.describePolicies()
	}
	return p.resolveFreshness()
}

// readPrograms puts the text of files that policies name in the place of these files, so
// that the bundle alone says what the policies do.
func readPrograms(c *Config) error {
	return c.Policies.Read(func(path string) ([]byte, error) { return readFile(c, path, input.Program) })
}

// leaveOutScaling leaves out of the bundle how to scale where nothing scales.
func (p *resolver) leaveOutScaling() error {
	leaveOutScaling(&p.Config.Policies)
	return nil
}

func leaveOutScaling(b *bundle.Bundle) {
	if a := &b.Autoscale; a.Type == "none" {
		*a = bundle.AutoscaleSelection{Selection: a.Selection}
	}
}

// describePolicies names the policies of the run.
func (p *resolver) describePolicies() {
	c := &p.Config
	b := &c.Policies
	routing := b.Routing.Type
	if routing == "weighted" {
		routing += " (" + strings.Join(weights(&b.Routing), ",") + ")"
	}
	routing += programOf(&b.Routing)
	if c.SnapshotRefreshInterval > 0 {
		routing += fmt.Sprintf(", signals every %v, in-flight %s", c.SnapshotRefreshInterval, c.InFlight)
	}
	if c.PrefixIndex == IndexEvents {
		routing += ", prefix index by events"
		if c.KVEventDelay > 0 {
			routing += fmt.Sprintf(" after %v", c.KVEventDelay)
		}
	}
	if c.FlowControl {
		routing += ", " + gatewayText(&c.GatewaySettings)
	}
	p.Summary.Policies = fmt.Sprintf("admission %s, priority %s, routing %s, scheduler %s, autoscale %s",
		b.Admission.Type+programOf(&b.Admission), b.Priority.Type+programOf(&b.Priority), routing, b.Scheduler.Type+programOf(&b.Scheduler), b.Autoscale.Type+programOf(&b.Autoscale.Selection))
}

// programOf names the file of a selection that is a program, in brackets; empty for others.
func programOf(s *bundle.Selection) string {
	for _, p := range s.Params {
		if p.Name == "file" && p.Value != "" {
			return " (" + p.Value + ")"
		}
	}
	return ""
}

// weights lists the scorers of a complete selection of weighted, and what a block of a lower
// tier counts if that was given.
func weights(s *bundle.Selection) []string {
	var list []string
	for _, p := range s.Params {
		if p.Name != "tie" {
			list = append(list, p.Name+":"+p.Value)
		}
	}
	return list
}

// resolveFreshness reads the cadences of single signals from the bundle.
func (p *resolver) resolveFreshness() error {
	if text := p.Config.Policies.Autoscale.Refresh; text != "" {
		d, err := vtime.ParseDuration(text)
		if err != nil {
			return inputErrorf("autoscale.refresh: %v", err)
		}
		if p.checkRefresh = d; !scales(&p.Config) {
			p.note("autoscale.refresh has no effect: autoscale-policy is none")
		}
	}
	fresh := map[policy.Signals]vtime.Duration{}
	p.pool.Observability.Fresh = fresh
	for _, row := range policy.SignalTable() {
		switch text := *p.Config.Policies.Observability.Fresh.Of(row.Bit); text {
		case "":
		case policy.Immediate:
			fresh[row.Bit] = Immediate
		case policy.OnDemand:
			fresh[row.Bit] = OnDemand
		default:
			d, err := vtime.ParseDuration(text)
			if err != nil {
				return inputErrorf("observability: %v", err)
			}
			fresh[row.Bit] = d
		}
	}
	return nil
}

// Ways to keep the router's prefix index.
const (
	IndexRouted = "routed" // by the prompts that it routed
	IndexEvents = "events" // by the changes that instances report
)

// indexedBlocks returns the number in prefix-index-blocks; for auto 0, and with a CPU tier
// what fits into both. The bundle has
// checked it.
func indexedBlocks(c *Config) int32 {
	if c.PrefixIndexBlocks == policy.Auto {
		if !c.HasCPUTier() {
			return 0
		}
		return int32(min(c.TotalKVBlocks+cpuTierBlocks(c), 1<<31-1))
	}
	n, _ := strconv.ParseFloat(c.PrefixIndexBlocks, 64) // 1e5 is a whole number too
	return int32(n)
}

// Locate returns an error in the choice of a policy, with its place in the bundle file.
func (p *Plan) Locate(err error) error {
	if fault := policy.Fault(nil); errors.As(err, &fault) {
		return Caused(fault)
	}
	return &InputError{p.Config.Policies.Locate(err).Error()}
}

// resolveForced reads the requests with their instances.
func resolveForced(p *Plan) (err error) {
	p.Forced, err = parseForced(p.Config.ForceRouting)
	return err
}

// parseForced reads requests with their instances, "17=3,40=0".
func parseForced(text string) (map[int64]int, error) {
	if text == "" {
		return nil, nil
	}
	forced := map[int64]int{}
	for i, entry := range strings.Split(text, ",") {
		left, right, found := strings.Cut(entry, "=")
		request, err := strconv.ParseInt(strings.TrimSpace(left), 10, 64)
		instance, err2 := strconv.ParseInt(strings.TrimSpace(right), 10, 32)
		if !found || err != nil || err2 != nil || request < 0 || instance < 0 {
			return nil, inputErrorf("--force-routing: entry %d is %q: want request=instance, two numbers from 0, like 17=3", i+1, strings.TrimSpace(entry))
		}
		if _, twice := forced[request]; twice {
			return nil, inputErrorf("--force-routing: request %d is given twice", request)
		}
		forced[request] = int(instance)
	}
	return forced, nil
}
