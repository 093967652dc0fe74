package policy

import "strings"

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
