package study

import (
	"fmt"
	"strings"
)

// alike names bundles whose policies are the same in effect: to compare them is
// most likely a mistake.
func (p *Plan) alike() []string {
	var notes []string
	for i := range p.result.Bundles {
		for j := range i {
			a, b := p.result.Bundles[j].Config.Policies, p.result.Bundles[i].Config.Policies
			a.Metadata, b.Metadata = nil, nil
			if a.Equal(b) {
				notes = append(notes, fmt.Sprintf("%s and %s are the same policies in effect", p.result.Bundles[j].Name, p.result.Bundles[i].Name))
			}
		}
	}
	return notes
}

// warnings are what only the runs show.
func (r *Result) warnings() []string {
	var list []string
	if len(r.Replicates) > 1 && r.constant() {
		list = append(list, "seeds change nothing here: all runs of a bundle are alike. Differences are those of this one workload, without intervals; "+
			"a generated workload would say how far they hold for others")
	}
	if names := r.unmeasured(); len(names) > 0 {
		list = append(list, "ranks do not go by what no run has a value of: "+strings.Join(names, ", "))
	}
	return list
}

// unmeasured are the objectives that no replicate of any bundle has: nothing
// completed, no class of that name has targets, there is no price.
func (r *Result) unmeasured() []string {
	var names []string
	for i, m := range r.places(r.Objectives) {
		has := len(r.Replicates) == 0
		for b := range r.Bundles {
			e := &r.Bundles[b].Estimates[m]
			has = has || e.Missing < len(e.Values)
		}
		if !has {
			names = append(names, r.Objectives[i].Name)
		}
	}
	return names
}

// constant reports whether no measure of any bundle differs between replicates.
func (r *Result) constant() bool {
	for b := range r.Bundles {
		for _, e := range r.Bundles[b].Estimates {
			if e.Missing > 0 && e.Missing < len(e.Values) || e.Missing == 0 && !allEqual(e.samples()) {
				return false
			}
		}
	}
	return true
}
