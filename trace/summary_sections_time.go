package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// timeText is the course of time, bin by bin; without rows, what stands out.
func (r *Report) timeText(rows int) section {
	p := section{name: "time", title: "OVER TIME"}
	bins := r.Patterns.Bins
	if len(bins) == 0 {
		return p
	}
	asked, bursts := int64(0), []string(nil)
	worst := -1
	for i := range bins {
		b := &bins[i]
		asked += b.Asked
		if b.Burst {
			bursts = append(bursts, fmt.Sprintf("%s (%s)", stretch(b.From, b.To), grouped(b.Asked)))
		}
		if missed := b.Judged - b.Met; missed > 0 && (worst < 0 || missed > bins[worst].Judged-bins[worst].Met) {
			worst = i
		}
	}
	width := strings.TrimPrefix(stretch(0, *r.Patterns.BinWidth), "0–")
	if asked > 0 {
		text := fmt.Sprintf("Requests per bin of %s: %s in the mean", width, number(float64(asked)/float64(len(bins))))
		if len(bursts) > 0 {
			text += "; more than twice that in " + listed(bursts, 5)
		}
		p.add("%s.", text)
	}
	if worst >= 0 {
		b := &bins[worst]
		p.add("Most targets were missed by requests that ended in %s: %s of %s.", stretch(b.From, b.To), grouped(b.Judged-b.Met), grouped(b.Judged))
	}
	for i := range min(rows, len(bins)) {
		if text := bins[i].text(); text != "" {
			p.add("%s: %s.", stretch(bins[i].From, bins[i].To), text)
		}
	}
	return p
}

// text is what happened in a bin; empty for nothing.
func (b *Bin) text() string {
	asked := some(b.Asked, "%s asked")
	if b.Burst {
		asked += " (burst)"
	}
	ended := some(b.Ended, "%s ended")
	if b.Judged > 0 {
		ended += fmt.Sprintf(" (%s met)", percent(b.Met, b.Judged))
	}
	regret := ""
	if b.Regret != nil && *b.Regret > 0 {
		regret = "mean regret " + number(*b.Regret)
	}
	return joined(asked, some(b.Rejected, "%s rejected"), some(b.Routed, "%s routed"), some(b.Redirected, "%s routed again"), ended,
		soMany(b.Preemptions, "preemption", "preemptions"), soMany(b.Anomalies, "anomaly", "anomalies"), some(b.ScaledUp, "%s up"), some(b.ScaledDown, "%s down"), regret)
}

// groupsText is the traffic of classes, then of tenants.
func (r *Report) groupsText(most int) section {
	p := section{name: "classes and tenants", title: "BY CLASS AND TENANT"}
	for _, of := range []struct {
		label   string
		list    []GroupFact
		leftOut int
	}{{"Class", r.Patterns.Classes, r.Patterns.ClassesLeftOut}, {"Tenant", r.Patterns.Tenants, r.Patterns.TenantsLeftOut}} {
		if len(of.list) == 1 && of.list[0].Name == "" {
			continue // no request has a name
		}
		for i := range of.list {
			if i == most {
				p.add("%d more.", len(of.list)-i+of.leftOut)
				break
			}
			p.add("%s %s", of.label, of.list[i].text())
		}
	}
	return p
}

func (g *GroupFact) text() string {
	parts := []string{fmt.Sprintf("%s: %s", named(g.Name), plural(g.Asked, "request"))}
	if k := g.Peak; k != nil {
		parts = append(parts, fmt.Sprintf("at most %s in %s (%s times the mean)", grouped(k.N), stretch(k.From, k.To), ratio(k.Ratio)))
	}
	parts = append(parts, some(g.Rejected, "%s rejected"))
	if g.Judged > 0 {
		parts = append(parts, percent(g.Met, g.Judged)+" met targets")
	}
	if g.TTFT != nil {
		parts = append(parts, "mean TTFT "+length(*g.TTFT))
	}
	return joined(parts...) + "."
}

func (r *Report) streaksText() section {
	p := section{name: "rows", title: "LONGEST ROWS"}
	for _, s := range r.Patterns.Streaks {
		switch {
		case s.Kind == "rejected":
			p.add("%s rejections in a row, %s to %s.", grouped(s.N), moment(s.From), moment(s.To))
		case r.Instances.N > 1:
			p.add("%s routings in a row to instance %d, %s to %s.", grouped(s.N), *s.Instance, moment(s.From), moment(s.To))
		}
	}
	return p
}

// largestShares are the bins with the most regret, the largest first.
func largestShares(list []WhereTime, most int) []WhereTime {
	sorted := slices.DeleteFunc(slices.Clone(list), func(w WhereTime) bool { return w.Share == 0 })
	slices.SortStableFunc(sorted, func(a, b WhereTime) int { return cmp.Compare(b.Share, a.Share) })
	return sorted[:min(most, len(sorted))]
}
