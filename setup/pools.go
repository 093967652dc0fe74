package setup

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"blis/bundle"
	"blis/latency"
)

// A run has one pool whose settings are those of the configuration, or the two of a
// deployment with prefill/decode disaggregation. Each of the two is resolved as the one pool
// of a configuration of its own.

// resolvePools derives the pools of the run.
func resolvePools(p *resolver) error {
	if !p.Config.Disaggregates() {
		return resolvePool(p)
	}
	parts, err := resolveParts(p)
	if err != nil {
		return err
	}
	c, prefill, decode := &p.Config, parts[0], parts[1]
	if err := resolvePullBandwidth(c, prefill.server, decode.server); err != nil {
		return err
	}
	p.parts, p.pool, p.server = parts, decode.pool, decode.server
	p.Pools = []*Pool{prefill.pool, decode.pool}
	p.Deployments = []Deployment{{Serving: decode.pool, Prefill: prefill.pool, PD: newDisaggregation(c, prefill.server, decode.server, decode.Summary.MaxModelLen)}}
	summarizeParts(p)
	own, err := shareSettings(c, []*Config{&prefill.Config, &decode.Config})
	if err != nil {
		return err
	}
	c.Prefill, c.Decode, c.NumInstances = own[0], own[1], 0
	return nil
}

// resolvePool derives what makes a pool: its server, and how its number of instances changes.
func resolvePool(p *resolver) error {
	return inOrder(p.resolveCache, p.resolveLimits, func() error { return resolveKVTier(p) }, p.resolveLatency, func() error { return checkIdlePoll(&p.Config) },
		p.resolveScaling, p.leaveOutScaling, p.completePool)
}

// roles are those of the pools of a deployment with disaggregation, in their order.
var roles = [...]Role{PrefillRole, DecodeRole}

// overridesOf returns the settings of the pool of that role.
func (s *DisaggregationSettings) overridesOf(r Role) *Overrides {
	if r == PrefillRole {
		return &s.Prefill
	}
	return &s.Decode
}

// replicasOf returns the number of instances of the pool of that role.
func (s *DisaggregationSettings) replicasOf(r Role) int {
	if r == PrefillRole {
		return s.PrefillReplicas
	}
	return s.DecodeReplicas
}

// poolConfig returns the configuration of a run with the pool of that role alone. Its errors are
// not located.
func poolConfig(c *Config, r Role) (Config, error) {
	one := *c
	if err := ApplyEdits(&one.Policies, one.edits()); err != nil {
		return one, err
	}
	if err := one.UseBundle(one.Policies); err != nil {
		return one, err
	}
	err := c.overridesOf(r).apply(&one)
	one.Architecture, one.NumInstances, one.Prefill, one.Decode = defaults().FieldByName("Architecture").String(), c.replicasOf(r), Overrides{}, Overrides{}
	return one, err
}

// resolveParts resolves both pools.
func resolveParts(p *resolver) ([]*resolver, error) {
	var parts []*resolver
	var faults [len(roles)]error
	for i, r := range roles {
		one, err := poolConfig(&p.Config, r)
		q := newResolver(one)
		q.brief, q.role = p.brief, r
		if err == nil {
			err = resolvePart(q)
		}
		parts, faults[i] = append(parts, q), err
	}
	switch {
	case faults[0] != nil && faults[1] != nil && faults[0].Error() == faults[1].Error(): // of what they share
		return parts, faults[0]
	case faults[0] != nil:
		return parts, locate(&p.Config, PrefillRole, faults[0])
	case faults[1] != nil:
		return parts, locate(&p.Config, DecodeRole, faults[1])
	}
	return parts, nil
}

// resolvePart resolves a pool of two, whose workload is not its own.
func resolvePart(p *resolver) error {
	c := &p.Config
	return inOrder(p.resolvePolicies, func() error { return noteLists(p, unusedOfInstances(c), unusedOfScaling(c)) }, func() error { return checkNumbers(c) },
		func() error { return checkPoolOfTwo(c) }, func() error { return checkCoefficients(c) }, p.resolveModel, func() error { return resolvePool(p) })
}

var flagInText = regexp.MustCompile(`--[a-z][a-z0-9-]*`)

// locate returns a fault of a pool, with the flags that the pool has for itself.
func locate(c *Config, r Role, err error) error {
	own := c.overridesOf(r)
	text := flagInText.ReplaceAllStringFunc(err.Error(), func(flag string) string {
		name := strings.TrimPrefix(flag, "--")
		_, found := own.Get(name)
		switch {
		case name == "num-instances":
			return "--" + string(r) + "-replicas"
		case found:
			return "--" + string(r) + "-" + name
		}
		return flag
	})
	text = string(r) + " pool: " + text
	if fit := (*latency.DoesNotFit)(nil); errors.As(err, &fit) {
		return fmt.Errorf("%s pool: %w", r, err)
	}
	return &InputError{text}
}

// shareSettings makes the settings that pools have alike those of the configuration, and
// returns for each pool those that it has for itself.
func shareSettings(c *Config, pools []*Config) ([]Overrides, error) {
	own := make([]Overrides, len(pools))
	of := func(c *Config, s *Setting) reflect.Value { return reflect.ValueOf(c).Elem().FieldByIndex(s.Index) }
	for _, s := range ofPool.list() {
		if _, ofBundle := s.Tag.Lookup("bundle"); ofBundle || s.Name == PoliciesSetting {
			continue
		}
		shared := of(c, &s)
		has := func(x reflect.Value) func(*Config) bool {
			return func(pool *Config) bool { return reflect.DeepEqual(of(pool, &s).Interface(), x.Interface()) }
		}
		if first := of(pools[0], &s); !slices.ContainsFunc(pools, func(pool *Config) bool { return !has(first)(pool) }) {
			shared.Set(first)
			continue
		}
		if !slices.ContainsFunc(pools, has(shared)) {
			shared.Set(defaults().FieldByIndex(s.Index))
		}
		for i, pool := range pools {
			if !has(shared)(pool) {
				own[i].put(Assignment{Name: s.Name, Text: valueText(of(pool, &s))})
			}
		}
	}
	return own, shareSections(c, pools, own)
}

// shareSections is shareSettings for the sections of the policy bundle.
func shareSections(c *Config, pools []*Config, own []Overrides) error {
	shared := c.Policies
	leaveOutScaling(&shared)
	for _, name := range poolSections {
		same := func(a, b *bundle.Bundle) bool {
			var x, y bundle.Bundle
			overlaySection(&x, a, name)
			overlaySection(&y, b, name)
			return x.Equal(y)
		}
		first := &pools[0].Policies
		if !slices.ContainsFunc(pools, func(pool *Config) bool { return !same(first, &pool.Policies) }) {
			setSection(&shared, first, name)
		}
		for i, pool := range pools {
			if same(&shared, &pool.Policies) {
				continue
			}
			var b bundle.Bundle
			overlaySection(&b, &pool.Policies, name)
			if err := own[i].setPolicies(b); err != nil {
				return err
			}
		}
	}
	return c.UseBundle(shared)
}

// summarizeParts makes the summary of the run from those of its pools.
func summarizeParts(p *resolver) {
	s := &p.Summary
	var latencies, models, sets, policies []string
	for i, q := range p.parts {
		of := &q.Summary
		s.Pools = append(s.Pools, PoolSummary{
			Name: string(q.role), Instances: q.Config.NumInstances, Hardware: of.Hardware, TP: of.TP, KVBlocks: of.KVBlocks, MaxModelLen: of.MaxModelLen,
			MaxNumSeqs: q.Config.MaxNumSeqs, MaxNumBatchedTokens: q.Config.MaxNumBatchedTokens,
			Latency: of.Latency, Accuracy: of.Accuracy, LatencyModel: of.LatencyModel, CoefficientSet: of.CoefficientSet, Policies: of.Policies,
			Price: q.Config.CostPerReplicaHour + float64(q.Config.GPUHourPrice*float64(of.TP)), // one of them
		})
		latencies, models, sets, policies = append(latencies, of.Latency), append(models, of.LatencyModel), append(sets, of.CoefficientSet), append(policies, of.Policies)
		if i == 0 || !lessAccurate(s.Accuracy, of.Accuracy) {
			s.Accuracy = of.Accuracy
		}
	}
	last := &s.Pools[len(s.Pools)-1]
	s.Model, s.Hardware, s.TP, s.KVBlocks, s.MaxModelLen = p.parts[0].Summary.Model, last.Hardware, last.TP, last.KVBlocks, last.MaxModelLen
	s.Latency, s.LatencyModel, s.CoefficientSet, s.Policies = ofAll(p, latencies, true), ofAll(p, models, false), ofAll(p, sets, false), ofAll(p, policies, true)
	takeNotes(p)
}

// ofAll returns a text that all pools have, else those of each in its turn, with its name if named.
func ofAll(p *resolver, texts []string, named bool) string {
	if all := slices.Compact(slices.Clone(texts)); len(all) == 1 {
		return all[0]
	}
	if !named {
		return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), " and ")
	}
	for i := range texts {
		texts[i] = string(p.parts[i].role) + ": " + texts[i]
	}
	return strings.Join(texts, "; ")
}

// takeNotes takes the notes and warnings of the pools, those that all have once.
func takeNotes(p *resolver) {
	for _, list := range []func(*Summary) *[]string{func(s *Summary) *[]string { return &s.Notes }, func(s *Summary) *[]string { return &s.Warnings }} {
		into := list(&p.Summary)
		*into = slices.Clip(*into)
		for i, q := range p.parts {
			for _, text := range *list(&q.Summary) {
				everywhere := !slices.ContainsFunc(p.parts, func(other *resolver) bool { return !slices.Contains(*list(&other.Summary), text) })
				if !everywhere {
					text = string(q.role) + ": " + text
				}
				if !everywhere || i == 0 {
					*into = append(*into, text)
				}
			}
		}
	}
}

// lessAccurate reports whether less is known of a, or its stated error is larger.
func lessAccurate(a, b *latency.Accuracy) bool {
	stated := func(x *latency.Accuracy) float64 {
		if x == nil || x.Stated == nil {
			return math.Inf(1)
		}
		_, d := x.Stated.Ranked()
		return d.Expected
	}
	return stated(a) >= stated(b)
}

// Instances returns the number of instances that a run of c begins with.
func Instances(c *Config) int {
	if c.Disaggregates() {
		return c.PrefillReplicas + c.DecodeReplicas
	}
	return c.NumInstances
}

// GPUs returns the number of GPUs that a run of c begins with.
func GPUs(c *Config) int {
	n := 0
	for _, s := range sizes(c) {
		n += s.instances * s.tp
	}
	return n
}

// HourlyPrice returns the price per hour of all instances that a run of c begins with; 0: none is
// given.
func HourlyPrice(c *Config) float64 {
	sum := 0.0
	for _, s := range sizes(c) {
		sum += float64(s.replicaPrice*float64(s.instances)) + float64(s.gpuPrice*float64(s.instances*s.tp))
	}
	return sum
}

// Scales reports whether the number of instances changes in a run of c.
func Scales(c *Config) bool {
	if !c.Disaggregates() {
		return c.AutoscalePolicy != "none" && c.AutoscalePolicy != ""
	}
	for _, r := range roles {
		if one, err := poolConfig(c, r); err == nil && one.AutoscalePolicy != "none" && one.AutoscalePolicy != "" {
			return true
		}
	}
	return false
}

// size is what a pool begins with, and its prices per hour.
type size struct {
	instances, tp          int
	replicaPrice, gpuPrice float64
}

// sizes returns those of the pools.
func sizes(c *Config) []size {
	whole := size{c.NumInstances, c.TP, c.CostPerReplicaHour, c.GPUHourPrice}
	if !c.Disaggregates() {
		return []size{whole}
	}
	var list []size
	for _, r := range roles {
		s, own := whole, c.overridesOf(r)
		s.instances = c.replicasOf(r)
		if text, found := own.Get("tp"); found {
			s.tp, _ = strconv.Atoi(text) // Set has read it
		}
		for name, price := range map[string]*float64{"cost-per-replica-hour": &s.replicaPrice, "gpu-hour-price": &s.gpuPrice} {
			if text, found := own.Get(name); found {
				*price, _ = strconv.ParseFloat(text, 64)
			}
		}
		list = append(list, s)
	}
	return list
}
