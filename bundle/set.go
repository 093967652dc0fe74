package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"blis/policy"
)

// Set changes the field of that path, as in --set routing.params.queue-depth=3: a
// type, a parameter, or a single field like observability.refresh. The value is
// checked as in a file. A bad one is a *policy.Error, which Locate does not find in the
// file, and changes nothing. A new type drops the parameters of the old one. If no
// type is given parameters are for the default of the kind.
func (b *Bundle) Set(path, value string) error {
	name, rest, _ := strings.Cut(path, ".")
	s, problem := findSection(name)
	if s == nil {
		return &policy.Error{Field: path, Problem: problem}
	}
	parameter, isParameter := strings.CutPrefix(rest, "params.")
	if _, ok := policy.TenantOf(rest); ok && policy.HasTenants(policy.Kind(name)) {
		parameter, isParameter = rest, true
	} else if _, ok := policy.TenantOf(parameter); ok && isParameter {
		return &policy.Error{Field: path, Problem: "settings of tenants stand beside params: want " + name + "." + parameter}
	}
	switch {
	case s.name == metadata:
		return &policy.Error{Field: path, Problem: "metadata cannot be set, write it in the file"}
	case s.selection != nil && rest == "type":
		return b.setType(s, value)
	case s.selection != nil && isParameter:
		return b.setParameter(s, parameter, value)
	case rest == "" || s.selection != nil && (rest == "params" || rest == policy.TenantsKey && policy.HasTenants(policy.Kind(name))):
		return &policy.Error{Field: path, Problem: "is not a single field, want " + strings.Join(s.paths(), " or ")}
	}
	f, problem := s.find(rest)
	if f == nil {
		return &policy.Error{Field: path, Problem: problem}
	}
	if !f.Allows(value) {
		return &policy.Error{Field: path, Problem: fmt.Sprintf("%q is not allowed, want %s", value, f.Range())}
	}
	f.put(b, value)
	b.forget(func(field string) bool { return field == path })
	return nil
}

// Get returns the field of that path in the form that Set takes, empty when it was
// not given or does not exist.
func (b *Bundle) Get(path string) string {
	name, rest, _ := strings.Cut(path, ".")
	s, _ := findSection(name)
	if s == nil {
		return ""
	}
	if f := s.field(rest); f != nil {
		return f.get(b)
	}
	if s.selection == nil {
		return ""
	}
	c := s.selection(b)
	if rest == "type" {
		return c.Type
	}
	parameter, isParameter := strings.CutPrefix(rest, "params.")
	if _, tenant := policy.TenantOf(parameter); tenant == isParameter {
		return ""
	}
	for _, p := range c.Params {
		if p.Name == parameter {
			return p.Value
		}
	}
	return ""
}

// CheckPath reports a path that no bundle has, as a *policy.Error. A parameter is one of
// any policy of its kind.
func CheckPath(path string) error {
	name, rest, _ := strings.Cut(path, ".")
	s, problem := findSection(name)
	if s == nil {
		return &policy.Error{Field: path, Problem: problem}
	}
	kind := policy.Kind(name)
	if parameter, ok := strings.CutPrefix(rest, "params."); ok && s.selection != nil {
		var names []string
		for _, t := range policy.OfKind(kind) {
			if _, tenant := policy.TenantOf(parameter); !tenant && t.Parameter(canonicalName(kind, parameter)) != nil {
				return nil
			}
			for _, p := range t.Parameters {
				names = append(names, p.Name)
			}
		}
		slices.Sort(names)
		return &policy.Error{Field: path, Problem: unknownName("parameter", parameter, slices.Compact(names))}
	}
	_, tenant := policy.TenantOf(rest)
	if s.name != metadata && (s.field(rest) != nil || s.selection != nil && rest == "type" || tenant && policy.HasTenants(kind)) {
		return nil
	}
	return &policy.Error{Field: path, Problem: "is not a single field, want " + strings.Join(s.paths(), " or ")}
}

// paths lists the fields of the section that Set takes.
func (s *section) paths() []string {
	paths := s.names()
	for i, name := range paths {
		paths[i] = s.name + "." + name
		if name == "params" || name == policy.TenantsKey {
			paths[i] += ".NAME"
		}
	}
	return paths
}

func (b *Bundle) setType(s *section, name string) error {
	kind, c := policy.Kind(s.name), s.selection(b)
	name = canonicalType(kind, name)
	if _, err := policy.Find(kind, name); err != nil {
		return err
	}
	before, err := c.template(kind)
	other := err != nil || before.Name != name
	if other {
		c.Params = nil
	}
	c.Type = name
	b.forget(func(field string) bool {
		return field == s.name+".type" || other && (strings.HasPrefix(field, s.name+".params") || strings.HasPrefix(field, s.name+"."+policy.TenantsKey))
	})
	return nil
}

func (b *Bundle) setParameter(s *section, name, text string) error {
	kind, c := policy.Kind(s.name), s.selection(b)
	name, text = canonicalName(kind, name), canonicalValue(kind, name, text)
	t, err := c.template(kind)
	if err != nil {
		return err
	}
	if err := t.Check(policy.Setting{Name: name, Value: text}); err != nil {
		return err
	}
	changed := policy.Setting{Name: name, Value: plain(t.Parameter(name), text)}
	params := slices.Clone(c.Params) // which a copy of the bundle may share
	same := func(x policy.Setting) bool { return t.Canonical(x.Name) == t.Canonical(name) }
	if i := slices.IndexFunc(params, same); i >= 0 {
		params[i] = changed
	} else {
		params = append(params, changed)
	}
	if p := t.Parameter(name); p.Type == policy.Path { // the text is that of another file
		params = slices.DeleteFunc(params, func(x policy.Setting) bool { return t.Canonical(x.Name) == p.Content })
	}
	c.Params = params
	all := s.name + ".params" // an error about all parameters together no longer stands in the file
	b.forget(func(field string) bool {
		alias, found := strings.CutPrefix(field, all+".")
		return field == all || field == t.Path(name) || found && t.Canonical(alias) == t.Canonical(name)
	})
	return nil
}

// forget drops the lines of fields for which gone is true: they no longer stand in
// the file.
func (b *Bundle) forget(gone func(field string) bool) {
	b.lines = maps.Clone(b.lines) // which a copy of the bundle may share
	maps.DeleteFunc(b.lines, func(field string, _ int) bool { return gone(field) })
}

// Fields returns the paths of the single fields that are given, in their order: no types, no
// parameters.
func (b *Bundle) Fields() (paths []string) {
	for _, s := range sections() {
		for i := range s.fields {
			if s.fields[i].get(b) != "" {
				paths = append(paths, s.name+"."+s.fields[i].Name)
			}
		}
	}
	return paths
}
