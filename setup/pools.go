package setup

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"blis/latency"
)

// A run has one pool whose settings are those of the configuration, or deployments of a pool
// or, with prefill/decode disaggregation, of two. Each pool of several is resolved as the one
// pool of a configuration of its own.

// SeveralPools reports whether a run of c has pools with configurations of their own: prefill and
// decode instances, or deployments.
func SeveralPools(c *Config) bool { return c.Disaggregates() || !c.Deployments.Empty() }

// HandsOver reports whether prefill instances of a run of c hand requests over to others. It reads a
// file of deployments; one that cannot be read has none.
func HandsOver(c *Config) bool {
	if c.Deployments.Empty() {
		return c.Disaggregates()
	}
	base := *c
	return OpenDeployments(&base) == nil && base.Deployments.disaggregates()
}

// resolvePools derives the pools of the run.
func resolvePools(p *resolver) error {
	c := &p.Config
	if !SeveralPools(c) {
		return resolvePool(p)
	}
	p.Pools, p.Deployments = nil, nil
	if c.PDRatio.given() {
		c.PrefillReplicas, c.DecodeReplicas = c.PDRatio.Share(c.NumInstances)
		c.PDRatio = PDRatio{}
	}
	p.sharedGPUs = sharedGPUs(c)
	if c.Deployments.Empty() {
		if err := resolveDeployment(p, "", c); err != nil {
			return err
		}
	} else if err := resolveDeployments(p); err != nil {
		return err
	}
	c.NumInstances = 0
	last := p.parts[len(p.parts)-1]
	p.pool, p.server = last.pool, last.server
	summarizeParts(p)
	return nil
}

// resolvePool derives what makes a pool: its server, and how its number of instances changes.
func resolvePool(p *resolver) error {
	return inOrder(p.resolveCache, p.resolveLimits, func() error { return resolveKVTier(p) }, p.resolveLatency, func() error { return checkIdlePoll(&p.Config, p.role) },
		p.resolveScaling, p.leaveOutScaling, p.completePool)
}

// resolveDeployments resolves the deployments of a list.
func resolveDeployments(p *resolver) error {
	c := &p.Config
	list := c.Deployments.list
	configs := make([]*Config, len(list))
	for i := range list {
		d := &list[i]
		one, err := d.config(c)
		if err == nil {
			err = inOrder(func() error { return checkNumbers(&one) }, func() error { return resolveDeployment(p, d.id, &one) })
		}
		if err != nil {
			return within("deployment "+d.id+": ", err)
		}
		configs[i] = &one
	}
	total := 0
	for _, pool := range p.Pools {
		total += pool.Instances * pool.Ranks.Ranks
	}
	if total > MostInstances {
		return inputErrorf("--deployments: %d instances: want at most %d, counted by their data-parallel ranks", total, MostInstances)
	}
	own, err := shareSettings(c, configs, &ofDeployment)
	if err != nil {
		return err
	}
	effective := make([]deploymentSetting, len(list))
	for i := range list {
		effective[i] = deploymentSetting{list[i].id, keepOwn(list[i].own, own[i], configs[i]), configs[i].Prefill, configs[i].Decode}
	}
	c.Deployments = DeploymentList{list: effective}
	c.Model = ""
	return nil
}

// resolveDeployment adds the pools of the deployment that c describes, and gives c what was
// derived of them.
func resolveDeployment(p *resolver, id string, c *Config) error {
	d := Deployment{ID: id}
	if !c.Disaggregates() {
		q, err := resolveAlone(p, id, *c)
		if err != nil {
			return err
		}
		*c, d.Serving = q.Config, q.pool
		addDeployment(p, d, q)
		return nil
	}
	parts, err := resolveParts(p, id, c)
	if err != nil {
		return err
	}
	prefill, decode := parts[0], parts[1]
	if err := resolvePullBandwidth(c, prefill.server, decode.server); err != nil {
		return err
	}
	d.Prefill, d.Serving, d.PD = prefill.pool, decode.pool, newDisaggregation(c, prefill.server, decode.server, decode.Summary.MaxModelLen)
	d.PD.PrefillPasses, d.PD.DecodePasses = passes(&prefill.Config), passes(&decode.Config)
	own, err := shareSettings(c, []*Config{&prefill.Config, &decode.Config}, &ofPool)
	if err != nil {
		return err
	}
	c.Prefill, c.Decode = own[0], own[1]
	addDeployment(p, d, parts...)
	return nil
}

// addDeployment adds a deployment with its pools.
func addDeployment(p *resolver, d Deployment, parts ...*resolver) {
	p.parts, p.Pools, p.Deployments = append(p.parts, parts...), append(p.Pools, d.Pools()...), append(p.Deployments, d)
}

// resolveAlone resolves the pool of a configuration, one of several pools of the run p.
func resolveAlone(p *resolver, label string, c Config) (*resolver, error) {
	q := newResolver(c)
	q.brief, q.sharedGPUs, q.label = p.brief, p.sharedGPUs, label
	return q, resolvePart(q)
}

// resolvePart resolves a pool of several, whose workload is not its own.
func resolvePart(p *resolver) error {
	c := &p.Config
	return inOrder(p.resolvePolicies, func() error {
		return noteLists(p, unusedOfInstances(c), unusedOfRanks(c), unusedOfPasses(c, p.role), unusedOfScaling(c))
	}, func() error { return checkNumbers(c) },
		func() error { return checkPoolOfSeveral(c, p.role) }, func() error { return checkCoefficients(c) }, p.resolveModel, func() error { return resolvePool(p) })
}

// resolveParts resolves both pools of the deployment that c describes.
func resolveParts(p *resolver, id string, c *Config) ([]*resolver, error) {
	var parts []*resolver
	var faults [len(roles)]error
	for i, r := range roles {
		one, err := poolConfig(c, r)
		q := newResolver(one)
		q.brief, q.sharedGPUs, q.role, q.label = p.brief, p.sharedGPUs, r, strings.TrimPrefix(id+"/"+string(r), "/")
		if err == nil {
			err = resolvePart(q)
		}
		parts, faults[i] = append(parts, q), err
	}
	switch {
	case faults[0] != nil && faults[1] != nil && faults[0].Error() == faults[1].Error(): // of what they share
		return parts, faults[0]
	case faults[0] != nil:
		return parts, locate(c, PrefillRole, faults[0])
	case faults[1] != nil:
		return parts, locate(c, DecodeRole, faults[1])
	}
	return parts, nil
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
func replicasOf(c *Config, r Role) int {
	prefill, decode := c.PrefillReplicas, c.DecodeReplicas
	if c.PDRatio.given() {
		prefill, decode = c.PDRatio.Share(c.NumInstances)
	}
	if r == PrefillRole {
		return prefill
	}
	return decode
}

// poolConfig returns the configuration of a run with the pool of that role alone. Its errors are
// not located.
func poolConfig(c *Config, r Role) (Config, error) {
	one := *c
	if err := settlePolicies(&one); err != nil {
		return one, err
	}
	err := c.overridesOf(r).apply(&one)
	one.Architecture, one.NumInstances, one.Prefill, one.Decode = Monolith, replicasOf(c, r), Overrides{}, Overrides{}
	return one, err
}

// settlePolicies makes the policy bundle of c say what all settings say.
func settlePolicies(c *Config) error {
	if err := ApplyEdits(&c.Policies, c.edits()); err != nil {
		return err
	}
	return c.UseBundle(c.Policies)
}

var flagInText = regexp.MustCompile(`--[a-z][a-z0-9-]*`)

// locate returns a fault of a pool of two, with the flags that the pool has for itself.
func locate(c *Config, r Role, err error) error {
	if fit := (*latency.DoesNotFit)(nil); errors.As(err, &fit) {
		return within(string(r)+" pool: ", err)
	}
	own, text := c.overridesOf(r), err.Error()
	if name, _, _ := strings.Cut(text, ":"); settingOf(name) != nil { // errors of policies begin so
		text = "--" + text
	}
	text = flagInText.ReplaceAllStringFunc(text, func(flag string) string {
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
	return &InputError{string(r) + " pool: " + text}
}

// within returns an error that says first where it is.
func within(place string, err error) error {
	if fit := (*latency.DoesNotFit)(nil); errors.As(err, &fit) {
		return fmt.Errorf("%s%w", place, err)
	}
	return &InputError{place + err.Error()}
}

// kvBlocksOfLast is KVBlocks of the last of several pools.
func kvBlocksOfLast(p *resolver) (int64, error) {
	c := p.Config
	if err := OpenDeployments(&c); err != nil {
		return 0, err
	}
	place := func(err error) error { return locate(&c, DecodeRole, err) }
	var one Config
	var err error
	if list := c.Deployments.list; len(list) > 0 {
		last := &list[len(list)-1]
		place = func(err error) error { return within("deployment "+last.id+": ", err) }
		one, err = last.config(&c)
	} else {
		one, err = poolConfig(&c, DecodeRole)
	}
	if err != nil {
		return 0, place(err)
	}
	n, err := KVBlocks(one)
	if err != nil {
		return 0, place(err)
	}
	return n, nil
}
