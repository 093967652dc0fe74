package actors

import "blis/workload"

// Which requests a source may yield: legal ones, whose names were in its table
// before the run. Names that came with a request would be there earlier or later
// as the intake is ahead or not, and other processes read the table meanwhile.

// named is how many names of each kind a workload has.
type named struct{ tenants, classes, models int }

func namesOf(l *workload.Labels) named {
	return named{l.Tenants.Len(), l.Classes.Len(), l.Models.Len()}
}

// check reports why r cannot be in a run with so many names, or nil.
func (n named) check(r *workload.Request) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if int(r.Tenant) < n.tenants && int(r.Class) < n.classes && int(r.Model) < n.models {
		return nil
	}
	var bad workload.Faults
	for _, l := range []struct {
		name  string
		label workload.Label
		names int
	}{{"tenant", r.Tenant, n.tenants}, {"class", r.Class, n.classes}, {"model", r.Model, n.models}} {
		if int(l.label) >= l.names {
			bad.Add(l.name, l.label, "want a label below %d, of a name that Labels has before the first request", l.names)
		}
	}
	return bad.Err("")
}
