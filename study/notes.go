package study

import (
	"fmt"
	"strings"

	"blis/bundle"
)

// findAlike finds bundles whose policies are the same in effect. Their runs
// would be the same, so the first one's count for all.
func (p *Plan) findAlike() {
	p.first = make([]int, len(p.result.Bundles))
	effective := func(b int) *bundle.Bundle {
		policies := p.result.Bundles[b].Config.Policies
		policies.Metadata = nil
		return &policies
	}
	for i := range p.result.Bundles {
		p.first[i] = i
		for j := 0; j < i && p.first[i] == i; j++ {
			if p.first[j] == j && p.result.Bundles[i].Err == nil && p.result.Bundles[j].Err == nil && effective(i).Equal(*effective(j)) {
				p.first[i] = j
				p.result.Bundles[i].Same = p.result.Bundles[j].Name
			}
		}
	}
}

// alike names bundles that are the same: to compare them is most likely a
// mistake.
func (p *Plan) alike() []string {
	var notes []string
	for i := range p.first {
		var names []string
		for j := i; j < len(p.first); j++ {
			if p.first[j] == i {
				names = append(names, p.result.Bundles[j].Name)
			}
		}
		if n := len(names); n > 1 {
			notes = append(notes, fmt.Sprintf("%s and %s are the same policies in effect: they are run once", strings.Join(names[:n-1], ", "), names[n-1]))
		}
	}
	return notes
}

// intervalNotes are the notes on the intervals of a trace.
func (p *Plan) intervalNotes() []string {
	if p.comparison.Source != nil || p.result.Bundles[0].Setup.Chance.Traffic {
		return nil
	}
	switch p.result.Intervals.Method {
	case Exact:
		return []string{"seeds change nothing here, neither the trace nor a decision: each bundle runs once. Differences are exact for this trace and say nothing of others; --intervals bootstrap resamples its windows of time"}
	case FromSeeds:
		return []string{"the trace is the same for every seed: intervals say how much the draws of the policies matter (ties, power-of-two), not how far differences hold for other traffic; --intervals bootstrap does"}
	}
	return nil
}

// warnings are the notes that only the runs make known.
func (r *Result) warnings() []string {
	var list []string
	switch i := &r.Intervals; {
	case len(r.Replicates) == 0:
	case i.Method == FromSeeds && len(r.Replicates) > 1 && r.constant():
		list = append(list, "seeds change nothing here: all runs of a bundle are alike. Differences are those of this one workload, without intervals; "+
			"a generated workload would say how far they hold for others")
	case i.Method == Exact && r.short:
		list = append(list, fmt.Sprintf("too few requests for intervals by resampling, which take %d: differences are exact for this trace and say nothing of others", fewestWindows*windowRequests))
	case i.Trending():
		list = append(list, fmt.Sprintf("windows of the run depend on each other over %d windows or more (load that rises, or a day), and blocks of %d are as long as they may be: intervals are too narrow", i.Needed, i.Block))
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
	for i, m := range r.measureIndices(r.Objectives) {
		has := len(r.Replicates) == 0
		for b := range r.Bundles {
			if r.Bundles[b].Err == nil {
				e := &r.Bundles[b].Estimates[m]
				has = has || e.Missing < len(e.Values)
			}
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
