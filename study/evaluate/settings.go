package evaluate

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"blis/bundle"
	"blis/policy"
	"blis/setup"
	"blis/yamldoc"
)

// ofCluster are the fields of a bundle that say what the cluster can do, not what a policy
// decides: a candidate that changed them would win without serving better.
var ofCluster = []string{"autoscale.min", "autoscale.max", "autoscale.refresh", "autoscale.actuation."}

// belongsToCluster reports whether a field of a bundle is of the cluster.
func belongsToCluster(path string) bool {
	return strings.HasPrefix(path, "observability.") || slices.ContainsFunc(ofCluster, func(p string) bool { return path == p || strings.HasSuffix(p, ".") && strings.HasPrefix(path, p) })
}

// readSettings reads the settings of a scenario: those of the suite, then its own. They are
// the settings of a file of --config, without policies and without files.
func (d *document) readSettings(at yamldoc.Place, common, own *yamldoc.Node) (setup.Config, error) {
	c := setup.DefaultConfig()
	list := []setup.Assignment{{Name: setup.PoliciesSetting, Policies: &d.suite.Baseline}}
	for _, part := range []struct {
		at yamldoc.Place
		n  *yamldoc.Node
	}{{yamldoc.Place{}, common}, {at, own}} {
		if part.n == nil {
			continue
		}
		in := part.at.Within("settings", part.n.Line)
		if part.n.Kind != yamldoc.Mapping {
			return c, d.fault(in, "%s: want settings, like {num-instances: 4, hardware: H100}", part.n.Describe())
		}
		for i := range part.n.Members {
			if part.n.Members[i].Value.Kind == yamldoc.Null {
				continue // not given
			}
			a, err := d.assignment(in, &part.n.Members[i])
			if err != nil {
				return c, err
			}
			list = slices.DeleteFunc(list, func(o setup.Assignment) bool { return o.Name == a.Name })
			list = append(list, a)
		}
	}
	if err := c.Assign(list); err != nil {
		return c, d.fault(at, "%v", err)
	}
	return c, nil
}

// assignment reads one setting.
func (d *document) assignment(in yamldoc.Place, m *yamldoc.Member) (a setup.Assignment, err error) {
	at := in.Within(m.Name, m.Line)
	name, text, err := setup.ReadSection(d.file, m)
	if err != nil {
		return a, err
	}
	if name != "" {
		return setup.Assignment{Name: name, Text: text}, nil
	}
	if err := setup.CheckName(m.Name); err != nil {
		return a, d.fault(at, "%s", strings.TrimPrefix(err.Error(), m.Name+": "))
	}
	if err := d.allowed(at, m.Name); err != nil {
		return a, err
	}
	t := typeOf(m.Name)
	if m.Value.Kind == yamldoc.Mapping && t != nil && t.Kind() == reflect.Struct { // settings of a pool
		return setup.Assignment{Name: m.Name, Text: m.Value.At(1).Format()}, nil
	}
	if t == nil { // of a pool, or a field of the bundle
		t = reflect.TypeFor[string]()
		if m.Value.Kind == yamldoc.Number || m.Value.Kind == yamldoc.Bool {
			return setup.Assignment{Name: m.Name, Text: m.Value.Text}, nil
		}
	}
	text, want := setup.ValueText(m.Value, t)
	if want != "" {
		return a, d.fault(at, "%s: want %s", m.Value.Describe(), want)
	}
	return setup.Assignment{Name: m.Name, Text: text}, nil
}

// typeOf is the type of a setting, nil if none has the name.
func typeOf(name string) reflect.Type {
	c := setup.DefaultConfig()
	for s := range c.Settings() {
		if s.Name == name {
			return s.Value.Type()
		}
	}
	return nil
}

// allowed refuses settings that a scenario cannot have.
func (d *document) allowed(at yamldoc.Place, name string) error {
	const policies = "not a setting of a scenario: policies are those of the candidate and of the baseline"
	if strings.Contains(name, ".") && bundle.CheckPath(name) == nil && !belongsToCluster(name) {
		return d.fault(at, policies)
	}
	c := setup.DefaultConfig()
	for s := range c.Settings() {
		path, ofBundle := s.Tag.Lookup("bundle")
		switch {
		case s.Name != name:
		case s.Tag.Get("type") == "path":
			return d.fault(at, "names a file: a suite stands alone, want workload, trace or failures in the scenario, with what such a file has, or other settings")
		case name == "seed" || name == "workload-seed":
			return d.fault(at, "not a setting of a scenario: want seeds, like seeds: [1, 2]")
		case name == "measure-from" || name == "measure-to":
			return d.fault(at, "not a setting of a scenario: all requests count, or a policy wins by refusing the others")
		case name == "force-routing" || name == "fitness-weights":
			return d.fault(at, "not a setting of a scenario: want measures with weights, and policies that route")
		case name == setup.PoliciesSetting || ofBundle && !belongsToCluster(path):
			return d.fault(at, policies)
		}
	}
	return nil
}

// config is the configuration of the scenario with policies, without seeds. Whatever file it
// would open is refused.
func (c *Scenario) config(policies bundle.Bundle) (setup.Config, error) {
	cfg := c.settings
	if err := cfg.UseBundle(policies); err != nil {
		return cfg, err
	}
	for _, f := range []struct {
		inlineFile
		setting *string
	}{{c.workload, &cfg.WorkloadSpec}, {c.trace, &cfg.Trace}, {c.failures, &cfg.Failures}} {
		if f.text != nil {
			*f.setting = f.path
		}
	}
	cfg.Open = func(path string) (io.ReadCloser, error) {
		for _, f := range []inlineFile{c.workload, c.trace, c.failures} {
			if f.text != nil && path == f.path {
				return io.NopCloser(bytes.NewReader(f.text)), nil
			}
		}
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("a suite stands alone, it names no files")}
	}
	return cfg, nil
}

// seeded sets the seed of everything random.
func seeded(cfg setup.Config, seed uint64) setup.Config {
	cfg.Seed, cfg.SeedGiven = seed, true // the traffic of a specification follows it too
	return cfg
}

// noAutoscaler is the autoscaler of a fixed number of instances.
var noAutoscaler = policy.OfKind(policy.AutoscaleKind)[0].Name

// unused lists the notes of a plan about settings of a scenario without effect. Those about what
// policies observe, and about autoscalers, are left out: candidates have other policies.
func unused(notes []string) (list []string) {
	ofPolicies := map[string]bool{}
	c := setup.DefaultConfig()
	for s := range c.Settings() {
		if group := s.Tag.Get("group"); group == "Policies" || group == "Autoscaling" {
			ofPolicies[s.Name] = true
		}
	}
	for _, text := range notes {
		names, _, found := strings.Cut(text, " no effect: ")
		first, _, _ := strings.Cut(names, ",")
		first, _, _ = strings.Cut(first, " ")
		if found && !ofPolicies[first] && !belongsToCluster(first) {
			list = append(list, text)
		}
	}
	return list
}
