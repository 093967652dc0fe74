package study

import "fmt"

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
	return list
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
