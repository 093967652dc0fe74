package policy

import "strings"

// TenantsPrefix begins the name of a Setting of a single tenant: tenants.red is the
// setting of the tenant red. In a bundle these stand under a key beside params,
//
//	admission: {type: tenant-quota, params: {max_active: 9}, tenants: {red: 5}}
//
// so that a tenant may be called like a parameter.
const TenantsPrefix = tenantsKey + "."

const tenantsKey = "tenants"

// tenantOf returns the tenant in the name of a setting; ok is false for a setting
// that is not of a tenant.
func tenantOf(name string) (tenant string, ok bool) { return strings.CutPrefix(name, TenantsPrefix) }

// path returns the path of a setting in a bundle.
func (t *Template) path(name string) string {
	if _, ok := tenantOf(name); ok {
		return string(t.Kind) + "." + name
	}
	return string(t.Kind) + ".params." + name
}

// noTenants returns the error text for settings of tenants that the template does
// not have.
func (t *Template) noTenants() string {
	var with []string
	for _, other := range ofKind(t.Kind) {
		if other.Open != nil {
			with = append(with, other.Name)
		}
	}
	return t.Name + " has no settings of tenants, " + strings.Join(with, " and ") + " has"
}

// haveTenants reports whether a policy of that kind has settings of tenants.
func haveTenants(kind Kind) bool {
	for _, t := range ofKind(kind) {
		if t.Open != nil {
			return true
		}
	}
	return false
}

// tenants reads the settings of tenants.
func (r *reader) tenants(kind Kind, c *Selection, p *member) *BundleError {
	path := string(kind) + "." + tenantsKey
	members, isMapping := p.value.([]member)
	if !isMapping {
		return &BundleError{Line: p.line, Field: path, Problem: describe(p.value) + " is not allowed, want a mapping like {tenant: value}"}
	}
	r.bundle.lines[path] = p.line
	t, err := c.template(kind)
	if err != nil {
		return located(err, p.line)
	}
	if t.Open == nil {
		return &BundleError{Line: p.line, Field: path, Problem: t.noTenants()}
	}
	for i := range members {
		q := &members[i]
		s, err := t.setting(TenantsPrefix+q.name, q.value)
		if err != nil {
			return located(err, q.line)
		}
		r.bundle.lines[path+"."+q.name] = q.line
		c.Params = append(c.Params, s)
	}
	return nil
}
