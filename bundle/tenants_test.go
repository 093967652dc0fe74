package bundle

import (
	"strings"
	"testing"
)

// TestTenantsStandBesideParams reads, writes and sets settings of tenants, one of
// whom is called like a parameter.
func TestTenantsStandBesideParams(t *testing.T) {
	const text = `admission: {type: tenant-quota, params: {max_active: 2}, tenants: {capacity: 5, max_active: 7, team.a: 1}}
priority: {type: tenant-priority, tenants: {default: -3}}
`
	b := mustParse(t, text)
	if got, err := b.MarshalText(); err != nil || string(got) != text {
		t.Errorf("written as\n%s(%v), want\n%s", got, err, text)
	}
	for path, want := range map[string]string{
		"admission.params.max_active": "2", "admission.tenants.max_active": "7", "admission.tenants.team.a": "1", "admission.tenants.b": "",
		"priority.tenants.default": "-3", "priority.params.default": "", "admission.params.tenants.capacity": "", "admission.max_active": "",
	} {
		if got := b.Get(path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	for _, s := range [][2]string{{"admission.tenants.b", "9"}, {"admission.tenants.capacity", "6"}, {"admission.params.max_active", "3"}} {
		if err := b.Set(s[0], s[1]); err != nil || b.Get(s[0]) != s[1] {
			t.Errorf("%s: %v", s[0], err)
		}
	}
	if err := b.Set("admission.type", "token-bucket"); err != nil || b.Get("admission.tenants.b") != "" {
		t.Errorf("another type keeps tenants (%v)", err)
	}
}

func TestTenantsWhereThereAreNone(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"admission: {type: token-bucket, tenants: {a: 5}}", "p.yaml:1: admission.tenants: token-bucket has no settings of tenants, tenant-quota has"},
		{"priority: {tenants: {a: 5}}", "p.yaml:1: priority.tenants: constant has no settings of tenants, tenant-priority has"},
		{"routing: {tenants: {a: 5}}", `p.yaml:1: routing.tenants: unknown field "tenants"`},
		{"admission: {type: tenant-quota, params: {a: 5}}", `p.yaml:1: admission.params.a: tenant-quota has no parameter "a" (there are: max_active, delay, max_delays); settings of tenants stand beside params: tenants: {a: …}`},
		{"admission: {type: tenant-quota, params: {tenants.a: 5}}", "p.yaml:1: admission.params.tenants.a: settings of tenants stand beside params: tenants: {NAME: …}"},
		{"admission: {type: tenant-quota, tenants: 5}", "p.yaml:1: admission.tenants: 5 is not allowed, want a mapping like {tenant: value}"},
		{"admission: {type: tenant-quota, tenants: {a: x}}", `p.yaml:1: admission.tenants.a: the string "x" is not allowed, want a whole number in [0, 1e+09]`},
		{"admission: {type: tenant-quota, tenants: {a: 1, a: 2}}", "p.yaml:1: admission.tenants.a: is given twice"},
	} {
		if _, err := Parse("p.yaml", []byte(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s:\n%v, want\n%s", c.text, err, c.want)
		}
	}
	for path, want := range map[string]string{
		"routing.tenants.a":          `unknown field "tenants.a"`,
		"admission.tenants.a":        "always-admit has no settings of tenants",
		"admission.tenants":          "is not a single field",
		"priority.params.tenants.a":  "want priority.tenants.a",
		"autoscale.tenants.max":      "unknown field",
		"observability.tenants.slow": "unknown field",
	} {
		if err := new(Bundle).Set(path, "1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}
