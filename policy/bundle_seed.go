package policy

import "strings"

// Seeded reports whether a run with these policies depends on its seed by them,
// and not only by its traffic: instances are drawn where several are equally
// good, pairs of instances are drawn, or times to provision a machine or load a model
// are. Replicates
// of such a run of a trace differ, but by no more than chance in the cluster.
// A bundle that cannot run is none.
func (b *Bundle) Seeded() bool {
	t, err := b.Routing.template(RoutingKind)
	if err != nil {
		return false
	}
	v, err := t.resolve(b.Routing.Params)
	if err != nil {
		return false
	}
	if v.find(tie.Name) >= 0 && v.choice(tie.Name) == "random" || t.Name == powerOfTwoName {
		return true
	}
	scales := b.Autoscale.Type != "" && b.Autoscale.Type != ofKind(AutoscaleKind)[0].Name
	return scales && (strings.Contains(b.Autoscale.Provisioning, ",") || strings.Contains(b.Autoscale.ModelLoad, ","))
}
