package policy

import (
	"maps"
	"slices"
	"strings"
)

// byKind are the templates of each kind: a study resolves a configuration per run,
// which asks for them hundreds of times.
var byKind = listByKind()

func listByKind() map[Kind][]Template {
	all := map[Kind][]Template{}
	for _, t := range Templates() {
		all[t.Kind] = append(all[t.Kind], t)
	}
	return all
}

// OfKind lists the templates of a kind, its default first. The list is shared and must
// not be changed.
func OfKind(kind Kind) []Template { return slices.Clip(byKind[kind]) }

// Find returns the template of that name, which is shared and must not be changed, or
// an *Error that says which there are.
func Find(kind Kind, name string) (*Template, error) {
	all := OfKind(kind)
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
	}
	list := make([]template[struct{}], len(all))
	for i := range all {
		list[i].Template = all[i]
	}
	_, err := create(kind, list, name, nil, Env{}) // the error says that there is none of that name
	return nil, err
}

// Parameter returns the parameter of that name or alias: Open for a setting of a
// tenant, nil if the template has none.
func (t *Template) Parameter(name string) *Parameter {
	if _, ok := TenantOf(name); ok {
		return t.Open
	}
	v := values{parameters: t.Parameters}
	if i := v.find(name); i >= 0 {
		return &t.Parameters[i]
	}
	return nil
}

// Canonical returns the name of the parameter of that name or alias.
func (t *Template) Canonical(alias string) string {
	if p := t.Parameter(alias); p != nil && p != t.Open {
		return p.Name
	}
	return alias
}

// Check returns the *Error about one setting alone, nil if it is allowed.
func (t *Template) Check(s Setting) error {
	v := values{parameters: t.Parameters, list: make([]value, len(t.Parameters))}
	return v.set(t, s)
}

// Complete returns the value of every parameter, by its name and in the order of the
// template; settings of tenants follow, by name. Weights are an exception: if one is
// given only the given ones count, in the order given, else the defaults that are not
// 0. Quiet parameters that are not given are left out. A bad setting is an *Error, or
// what Verify returns.
func (t *Template) Complete(settings []Setting) ([]Setting, error) {
	v, err := t.resolve(settings)
	if err == nil && t.Verify != nil {
		err = t.Verify(Values{v})
	}
	if err != nil {
		return nil, err
	}
	return effective(&v), nil
}

// Draws reports whether the policy of these settings draws. A bad setting is an
// *Error.
func (t *Template) Draws(settings []Setting) (bool, error) {
	v, err := t.resolve(settings)
	if err != nil {
		return false, err
	}
	return t.Seeded || v.find(tie.Name) >= 0 && v.choice(tie.Name) == "random" || t.DrawsIf != nil && t.DrawsIf(Values{v}), nil
}

// Unread returns the first Path of the settings whose file has not become the Text
// beside it. ok is false if there is none.
func (t *Template) Unread(settings []Setting) (path *Parameter, name string, ok bool) {
	given := func(name string) int {
		return slices.IndexFunc(settings, func(s Setting) bool { return s.Name == name })
	}
	for i := range t.Parameters {
		p := &t.Parameters[i]
		if p.Type != Path {
			continue
		}
		if at := given(p.Name); at >= 0 && settings[at].Value != "" && given(p.Content) < 0 {
			return p, settings[at].Value, true
		}
	}
	return nil, "", false
}

// effective lists the parameters of a policy with their values.
func effective(v *values) []Setting {
	var params []Setting
	add := func(i int) {
		params = append(params, Setting{v.parameters[i].Name, v.list[i].text})
	}
	given := func(i int) bool { return slices.Contains(v.given, i) }
	for _, i := range chosen(*v) { // all of them given, or none
		if given(i) || v.list[i].number != 0 {
			add(i)
		}
	}
	for i := range v.parameters {
		if p := &v.parameters[i]; p.Type != Weight && (!p.Quiet || given(i)) {
			add(i)
		}
	}
	names := slices.Sorted(maps.Keys(v.open)) // any order: they are sorted
	for _, name := range names {
		params = append(params, Setting{TenantsPrefix + name, v.open[name].text})
	}
	return params
}

// TenantsPrefix begins the name of a Setting of a single tenant: tenants.red is the
// setting of the tenant red. In a bundle these stand under a key beside params,
//
//	admission: {type: tenant-quota, params: {max_active: 9}, tenants: {red: 5}}
//
// so that a tenant may be called like a parameter.
const TenantsPrefix = TenantsKey + "."

// TenantsKey is the name of these settings in the section of a policy.
const TenantsKey = "tenants"

// TenantOf returns the tenant in the name of a setting; ok is false for a setting
// that is not of a tenant.
func TenantOf(name string) (tenant string, ok bool) { return strings.CutPrefix(name, TenantsPrefix) }

// Path returns the path of a setting in a bundle.
func (t *Template) Path(name string) string {
	if _, ok := TenantOf(name); ok {
		return string(t.Kind) + "." + name
	}
	return string(t.Kind) + ".params." + name
}

// NoTenants returns the error text for settings of tenants that the template does
// not have.
func (t *Template) NoTenants() string {
	var with []string
	for _, other := range OfKind(t.Kind) {
		if other.Open != nil {
			with = append(with, other.Name)
		}
	}
	return t.Name + " has no settings of tenants, " + strings.Join(with, " and ") + " has"
}

// HasTenants reports whether a policy of that kind has settings of tenants.
func HasTenants(kind Kind) bool {
	for _, t := range OfKind(kind) {
		if t.Open != nil {
			return true
		}
	}
	return false
}
