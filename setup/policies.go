package setup

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"blis/bundle"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
)

// resolvePolicies makes settings and bundle agree. A setting that is not at its
// default changes the bundle; a setting at its default takes the bundle's value.
func (p *resolver) resolvePolicies() error {
	c := &p.Config
	usual := reflect.ValueOf(DefaultConfig())
	err := eachShortcut(reflect.ValueOf(c).Elem(), func(s shortcut, f reflect.Value) error {
		if text := Text(f.Interface()); text != Text(usual.FieldByIndex(s.index).Interface()) {
			return c.SetPolicy(s.flag, text)
		}
		if given := c.Policies.Get(s.path); given != "" {
			return setText(f, given)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.Policies, err = c.Policies.Complete(); err != nil {
		return p.Locate(err)
	}
	if c.SLOTargets != "" {
		if p.Targets, err = metrics.ParseTargets(c.SLOTargets); err != nil {
			return &InputError{"--slo-targets: " + err.Error()}
		}
	}
	p.describePolicies()
	return p.resolveFreshness()
}

// completeBundle enters derived values and defaults into the bundle. Without an
// autoscaler it leaves actuation out.
func (p *resolver) completeBundle() error {
	c := &p.Config
	if a := &c.Policies.Autoscale; a.Type == "none" {
		*a = bundle.AutoscaleSelection{Selection: a.Selection}
	}
	return eachShortcut(reflect.ValueOf(c).Elem(), func(s shortcut, f reflect.Value) error {
		switch {
		case s.isType():
			f.SetString(c.Policies.Get(s.path))
			return nil
		case s.isParameter(), s.isScaling() && c.AutoscalePolicy == "none":
			return nil
		}
		return c.Policies.Set(s.path, Text(f.Interface()))
	})
}

// SetPolicy changes the bundle as the flag of that name and text does: another
// type drops the parameters of the one before. Flags that change no policy are
// an error of the caller's; others of the user's are an *InputError.
func (c *Config) SetPolicy(flag, text string) error {
	path, ok := PolicyPath(flag)
	if !ok {
		return fmt.Errorf("setup: no policy depends on --%s", flag)
	}
	var err error
	switch {
	case path == scorers && text == "":
	case path == scorers:
		err = c.setScorers(text)
	case path == "scheduler.type" && text == "priority": // vLLM's name for it
		err = c.Policies.Set(path, "priority-fcfs")
	default:
		err = c.Policies.Set(path, text)
	}
	if err != nil {
		return inputErrorf("--%s: %v", flag, err)
	}
	return nil
}

// setScorers makes the scorers of weighted those of the text, in that order.
func (c *Config) setScorers(text string) error {
	settings, err := policy.ParseScorers(text)
	if err != nil {
		return err
	}
	kept := c.Policies.Routing.Params
	c.Policies.Routing.Params = nil
	for _, s := range kept {
		if s.Name == "tie" {
			c.Policies.Routing.Params = append(c.Policies.Routing.Params, s)
		}
	}
	for i, s := range settings {
		for _, earlier := range settings[:i] {
			if earlier.Name == s.Name {
				return fmt.Errorf("%s is given twice", s.Name)
			}
		}
		if err := c.Policies.Set("routing.params."+s.Name, s.Value); err != nil {
			return err
		}
	}
	return nil
}

// describePolicies names the policies of the run.
func (p *resolver) describePolicies() {
	c := &p.Config
	b := &c.Policies
	routing := b.Routing.Type
	if routing == "weighted" {
		routing += " (" + strings.Join(weights(&b.Routing), ",") + ")"
	}
	if c.SnapshotRefreshInterval > 0 {
		routing += fmt.Sprintf(", signals every %v, in-flight %s", c.SnapshotRefreshInterval, c.InFlight)
	}
	if c.PrefixIndex == IndexEvents {
		routing += ", prefix index by events"
		if c.KVEventDelay > 0 {
			routing += fmt.Sprintf(" after %v", c.KVEventDelay)
		}
	}
	p.Summary.Policies = fmt.Sprintf("admission %s, priority %s, routing %s, scheduler %s, autoscale %s",
		b.Admission.Type, b.Priority.Type, routing, b.Scheduler.Type, b.Autoscale.Type)
}

// weights lists the scorers of a complete selection of weighted.
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
		p.CheckRefresh = d
	}
	p.Freshness = map[policy.Signals]vtime.Duration{}
	for _, row := range policy.SignalTable() {
		switch text := *p.Config.Policies.Observability.Fresh.Of(row.Bit); text {
		case "":
		case policy.Immediate:
			p.Freshness[row.Bit] = Immediate
		case policy.OnDemand:
			p.Freshness[row.Bit] = OnDemand
		default:
			d, err := vtime.ParseDuration(text)
			if err != nil {
				return inputErrorf("observability: %v", err)
			}
			p.Freshness[row.Bit] = d
		}
	}
	return nil
}

// Text is the value of a setting as its flag reads it.
func Text(value any) string {
	switch x := value.(type) {
	case fmt.Stringer:
		return x.String()
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return fmt.Sprint(value)
}

// Ways to keep the router's prefix index.
const (
	IndexRouted = "routed" // by the prompts that it routed
	IndexEvents = "events" // by the changes that instances report
)

// IndexedBlocks is the number in prefix-index-blocks, 0 for auto. The bundle has
// checked it.
func (c *Config) IndexedBlocks() int32 {
	if c.PrefixIndexBlocks == policy.Auto {
		return 0
	}
	n, _ := strconv.ParseFloat(c.PrefixIndexBlocks, 64) // 1e5 is a whole number too
	return int32(n)
}

// Locate is an error in the choice of a policy, with its place in the bundle file.
func (p *Plan) Locate(err error) error { return &InputError{p.Config.Policies.Locate(err).Error()} }
