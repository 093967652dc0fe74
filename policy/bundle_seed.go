package policy

import "strings"

// Seeded reports whether these policies make a run depend on its seed, beside its
// traffic: they draw among equally good instances, draw pairs of instances, or draw
// times to provision a machine or load a model. Replicates of such a run of a trace
// differ only by chance in the cluster. It is false for a bundle that cannot run.
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
