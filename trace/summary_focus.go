package trace

import (
	"fmt"
	"slices"
	"strings"

	"blis/suggest"
)

// Area is something that a summary may be about, in place of what its strategy puts first.
type Area string

// Areas.
const (
	AdmissionArea Area = "admission"    // decisions, rejections among issues
	RoutingArea   Area = "routing"      // the work of instances, regret, the worst decisions
	PrefixArea    Area = "prefix-cache" // misses that another choice would have avoided, expected hits
	TenantsArea   Area = "tenants"      // traffic of classes and tenants, bursts and others meanwhile
	TailsArea     Area = "tails"        // what went wrong, and what requests that missed targets have in common
	TimeArea      Area = "time"         // bins of time, longest rows
	ScaleArea     Area = "scale"        // the autoscaler
)

// Areas are all of them, in the order of the documentation.
func Areas() []Area {
	return []Area{AdmissionArea, RoutingArea, PrefixArea, TenantsArea, TailsArea, TimeArea, ScaleArea}
}

// ParseAreas reads names of areas. The error names the one that is wrong, and lists all.
func ParseAreas(names []string) ([]Area, error) {
	var known []string
	for _, a := range Areas() {
		known = append(known, string(a))
	}
	var list []Area
	for _, name := range names {
		switch {
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("%q is no area of a summary%s: want %s", name, suggest.Hint(name, known), strings.Join(known, ", "))
		case slices.Contains(list, Area(name)):
			return nil, fmt.Errorf("%s is given twice", name)
		}
		list = append(list, Area(name))
	}
	return list, nil
}

// focused are the sections of the areas, in their order, after what every summary has.
func (r *Report) focused() []section {
	list := []section{r.about(), r.outcomesText()}
	for _, a := range r.Focus {
		switch a {
		case AdmissionArea:
			list = append(list, r.decisionsText(8), r.issuesText(6))
		case RoutingArea:
			list = append(list, r.instancesText(8), r.regretText(8), r.worstText(5))
		case PrefixArea:
			list = append(list, r.prefixText(8, true), r.hitsText())
		case TenantsArea:
			list = append(list, r.groupsText(12), r.burstsText(8, true))
		case TailsArea:
			list = append(list, r.issuesText(10), r.comparedText())
		case TimeArea:
			list = append(list, r.timeText(maxBins), r.streaksText())
		case ScaleArea:
			list = append(list, r.scaleText(8))
		}
	}
	var seen []string
	return slices.DeleteFunc(list, func(p section) bool { // an earlier area may have had it
		twice := slices.Contains(seen, p.name)
		seen = append(seen, p.name)
		return twice
	})
}

// hitsText compares expected prefix hits with those found.
func (r *Report) hitsText() section {
	p := section{name: "prefix hits", title: "PREFIX HITS, EXPECTED AND FOUND"}
	if h := r.Decisions.Hits; h != nil {
		p.add("%s", h.text())
	}
	return p
}
