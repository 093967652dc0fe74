package setup

import (
	"reflect"
	"slices"

	"blis/bundle"
)

// shareSettings makes the settings in the scope that pools, or deployments, have alike those of
// the configuration, and returns for each the others. What is always said of a deployment it
// leaves out.
func shareSettings(c *Config, pools []*Config, scope *settingScope) ([]Overrides, error) {
	own := make([]Overrides, len(pools))
	of := func(c *Config, s *Setting) reflect.Value { return reflect.ValueOf(c).Elem().FieldByIndex(s.Index) }
	for _, s := range scope.list() {
		if _, ofBundle := s.Tag.Lookup("bundle"); ofBundle || s.Name == PoliciesSetting || isIdentity(s.Name) {
			continue
		}
		shared := of(c, &s)
		has := func(x reflect.Value) func(*Config) bool {
			return func(pool *Config) bool { return reflect.DeepEqual(of(pool, &s).Interface(), x.Interface()) }
		}
		switch first := of(pools[0], &s); {
		case !slices.ContainsFunc(pools, func(pool *Config) bool { return !has(first)(pool) }):
			shared.Set(first)
		case !slices.ContainsFunc(pools, has(shared)): // it would have no effect
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

// isIdentity reports whether a setting says what a deployment is: it always stands there.
func isIdentity(name string) bool {
	return name == "model" || name == "num-instances" || name == "architecture" || slices.Contains(handOffSettings, name)
}

// keepOwn returns what a deployment is, as it was given, with what was derived for it: own.
func keepOwn(given, own Overrides, effective *Config) (all Overrides) {
	for _, a := range given.list {
		if !isIdentity(a.Name) {
			continue
		}
		if a.Name == "pd-transfer-bandwidth" {
			a.Text = effective.PDTransferBandwidth.String() // a link with a name has a rate now
		}
		all.put(a)
	}
	return own.Over(all)
}
