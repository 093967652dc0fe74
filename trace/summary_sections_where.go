package trace

import (
	"fmt"
	"strings"
)

func (r *Report) decisionsText(most int) section {
	p := section{name: "decisions", title: "DECISIONS"}
	d := &r.Decisions
	rows := func(label string, list []Count, total int64, bare bool) {
		var parts []string
		for _, c := range list {
			what := because(c.What, c.Reason)
			if bare {
				what = orNone(c.Reason)
			}
			parts = append(parts, fmt.Sprintf("%s %s (%s)", what, grouped(c.N), percent(c.N, total)))
		}
		if len(parts) > 0 {
			p.add("%s: %s.", label, listed(parts, most))
		}
	}
	rows(plural(r.Records.Admission, "admission decision"), d.Admission, r.Records.Admission, false)
	if d.MeanDelay != nil {
		p.add("Delays: %s, %s each on average.", grouped(d.Delays), length(*d.MeanDelay))
	}
	rows(plural(r.Records.Routing, "routing decision")+" by reason", d.Routing, r.Records.Routing, true)
	if text := joined(some(d.Forced, "%s forced"), some(d.Unroutable, "%s without a routable instance"), some(d.Redirects, "%s of requests that had been routed before")); text != "" {
		p.add("Of the routings: %s.", text)
	}
	p.priorities(d.Priority, most)
	if h := d.Hits; h != nil {
		p.add("Prefix hits: %s", h.text())
	}
	if x := d.Preemption; x.Preemptions > 0 {
		p.add("%s of %s; %s preempted more than once.", plural(x.Preemptions, "preemption"), plural(x.Requests, "request"), plural(x.Repeatedly, "request"))
	}
	if x := d.Steps; x != nil {
		p.add("%s: on average %s running, %s waiting, %s prefill and %s decode tokens.", plural(x.Steps, "step"), number(x.MeanRunning), number(x.MeanWaiting),
			number(x.PrefillTokens), number(x.DecodeTokens))
	}
	return p
}

// text compares what was expected with what was found.
func (h *HitFacts) text() string {
	return fmt.Sprintf("%s tokens expected, %s found; as expected for %s of %s, fewer for %s (%s), more for %s (%s).", grouped(h.Expected), grouped(h.Found),
		grouped(h.Equal), plural(h.Requests, "request"), grouped(h.Fewer), plural(h.FewerTokens, "token"), grouped(h.More), plural(h.MoreTokens, "token"))
}

// priorities is a line about the priorities of each class.
func (p *section) priorities(list []PriorityFact, most int) {
	var parts []string
	for _, f := range list {
		name := named(f.Class)
		if f.Others {
			name = "others"
		}
		text := fmt.Sprintf("%s %s", name, number(f.Mean))
		if f.Min != f.Max {
			text = fmt.Sprintf("%s %s to %s (mean %s)", name, number(f.Min), number(f.Max), number(f.Mean))
		}
		parts = append(parts, text)
	}
	if len(parts) > 0 {
		p.add("Priorities by class: %s.", listed(parts, most))
	}
}

func (r *Report) instancesText(most int) section {
	p := section{name: "instances", title: "WORK OF EACH INSTANCE"}
	f := &r.Instances
	if f.Routed == nil {
		return p
	}
	if f.N > 1 {
		text := fmt.Sprintf("Requests routed per instance: %s on average, most to instance %d: %s (%s times the average)",
			number(f.Routed.Mean), *f.Routed.Instance, grouped(f.Routed.Max), ratio(f.Routed.Ratio))
		if f.Unused > 0 {
			text += fmt.Sprintf("; %d of %d instances got none", f.Unused, f.N)
		}
		p.add("%s.", text)
	}
	if b := f.Input; b != nil && f.N > 1 {
		p.add("Input tokens routed: most to instance %d: %s (%s times the average).", *b.Instance, grouped(b.Max), ratio(b.Ratio))
	}
	if b := f.Worst; b != nil {
		p.add("Most uneven bin of time: instance %d got %s of %s routings in %s.", *b.Instance, grouped(b.Max), grouped(b.Total), stretch(*b.From, *b.To))
	}
	for i := range f.List {
		if i == most {
			p.add("%d more instances.", len(f.List)-i+f.LeftOut)
			break
		}
		p.add("%s", f.List[i].text())
	}
	return p
}

func (i *InstanceFact) text() string {
	parts := []string{fmt.Sprintf("Instance %d: %s routed (%s)", i.Instance, grouped(i.Routed), sharePercent(i.Share))}
	if i.Judged > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s met targets", percent(i.Met, i.Judged), grouped(i.Judged)))
	}
	if i.HitRate != nil {
		parts = append(parts, "prefix hit rate "+sharePercent(*i.HitRate))
	}
	if i.MeanWaiting != nil {
		parts = append(parts, fmt.Sprintf("waiting %s on average, %s at most", number(*i.MeanWaiting), grouped(*i.MaxWaiting)))
	}
	parts = append(parts, counting(i.Preemptions, "preemption", "preemptions"), counting(i.Anomalies, "anomaly", "anomalies"))
	return joined(parts...) + "."
}

func (r *Report) scaleText(most int) section {
	p := section{name: "scale", title: "SCALE"}
	s := r.Decisions.Scale
	if s == nil {
		return p
	}
	p.add("%s: up %s, down %s, %s limited by bounds, %s in the other direction than the change before.", plural(s.Evaluations, "evaluation"),
		grouped(s.Up), grouped(s.Down), grouped(s.Bounded), grouped(s.Reversals))
	var reasons, changes []string
	for _, c := range s.Reasons {
		reasons = append(reasons, because(c.What, c.Reason)+" "+grouped(c.N))
	}
	p.add("Reasons: %s.", listed(reasons, most))
	if s.NoCapacity > 0 {
		p.add("No node had room for an instance that was wanted %s.", times(s.NoCapacity))
	}
	for _, c := range s.Changes {
		pool := ""
		if c.Pool != "" {
			pool = c.Pool + " "
		}
		changes = append(changes, fmt.Sprintf("%s%d to %d at %s (%s)", pool, c.From, c.To, moment(c.At), orNone(c.Reason)))
	}
	if len(changes) > 0 {
		p.add("First changes: %s.", listed(changes, most))
	}
	return p
}

// regretText is the amount of regret, and where it sits, with no more than most rows each.
func (r *Report) regretText(most int) section {
	p := section{name: "regret", title: "REGRET OF ROUTING (best score − score of the target)"}
	g := r.Regret
	if g == nil {
		if r.From != nil && most > 0 {
			p.add("Not known: the trace has no counterfactuals.")
		}
		return p
	}
	if g.Decisions > 0 {
		p.add("%s: %s without regret (%s); mean %s, p50 %s, p90 %s, p99 %s, max %s.", plural(g.Decisions, "decision"), grouped(g.None), percent(g.None, g.Decisions),
			number(g.Mean), number(g.P50), number(g.P90), number(g.P99), number(g.Max))
	}
	if text := joined(some(g.Superseded, "%s superseded by another routing of the request"), some(g.Forced, "%s forced"), some(g.Unscored, "%s without target or scores")); text != "" {
		p.add("Not among them: %s.", text)
	}
	if g.Max == 0 || most == 0 {
		return p
	}
	where := func(label string, list []RegretShare, name func(RegretShare) string) {
		var parts []string
		for _, w := range list {
			if w.Share == 0 {
				continue
			}
			parts = append(parts, fmt.Sprintf("%s %s (mean %s over %s)", name(w), sharePercent(w.Share), number(w.Mean), grouped(w.N)))
		}
		p.add("%s: %s.", label, listed(parts, most))
	}
	where("Share of all regret by target", g.ByInstance, func(w RegretShare) string { return "instance " + w.Name })
	where("Share of all regret by class", g.ByClass, func(w RegretShare) string {
		if w.Others {
			return "others"
		}
		return named(w.Name)
	})
	var parts []string
	for _, w := range largestShares(g.ByTime, min(most, 5)) {
		parts = append(parts, fmt.Sprintf("%s %s (mean %s over %s)", stretch(w.From, w.To), sharePercent(w.Share), number(w.Mean), grouped(w.N)))
	}
	p.add("Share of all regret by time, the largest: %s.", strings.Join(parts, ", "))
	return p
}

func (r *Report) worstText(most int) section {
	p := section{name: "worst decisions", title: "WORST ROUTING DECISIONS"}
	if r.Regret == nil {
		return p
	}
	for i := range min(most, len(r.Regret.Worst)) {
		r.Regret.Worst[i].text(&p, i+1)
	}
	if extra := len(r.Regret.Worst) - most; extra > 0 {
		p.add("%d more in the JSON form.", extra)
	}
	return p
}

// text says in words what was decided, the outcome, and the alternatives.
func (d *Decision) text(p *section, n int) {
	score := ""
	if d.Score != nil && d.Best != nil {
		score = fmt.Sprintf(" (scored %s, best %s)", number(*d.Score), number(*d.Best))
	}
	p.add("%d. Regret %s%s: request %d, class %s, %s to instance %d at %s; %s.", n, number(d.Regret), score, d.Request, named(d.Class),
		plural(int64(d.Input), "input token"), d.Target, moment(d.At), d.ending())
	var parts []string
	for i := range d.Candidates {
		parts = append(parts, d.Candidates[i].text(d.Target))
	}
	if len(parts) > 0 {
		p.add("   Candidates: %s.", strings.Join(parts[:min(3, len(parts))], "; "))
	}
}

func (d *Decision) ending() string {
	o := d.Outcome
	if o == nil {
		return "no outcome when the trace ends"
	}
	parts := []string{worded(o.State)}
	if o.SLOMet != nil && !*o.SLOMet {
		parts = append(parts, "missed its targets")
	}
	if o.TTFT != nil {
		parts = append(parts, "TTFT "+length(float64(*o.TTFT)))
	}
	switch {
	case o.ActualHit != nil && d.ExpectedHit != nil:
		parts = append(parts, fmt.Sprintf("%s tokens cached, %s expected", grouped(int64(*o.ActualHit)), grouped(int64(*d.ExpectedHit))))
	case o.ActualHit != nil:
		parts = append(parts, grouped(int64(*o.ActualHit))+" tokens cached")
	}
	parts = append(parts, some(int64(o.Preempted), "preempted %s times"))
	return joined(parts...)
}

func (c *Candidate) text(target int) string {
	name := fmt.Sprintf("instance %d", c.Instance)
	if c.Instance == target {
		name += " (the target)"
	}
	parts := []string{name + " " + number(c.Score)}
	if len(c.Breakdown) > 0 {
		var terms []string
		for _, b := range c.Breakdown {
			terms = append(terms, worded(b.Scorer)+" "+number(b.Share))
		}
		parts[0] += " = " + strings.Join(terms[:min(4, len(terms))], " + ")
	}
	for _, x := range []struct {
		name  string
		value *int32
	}{{"queue", c.QueueDepth}, {"batch", c.BatchSize}, {"in flight", c.InFlight}} {
		if x.value != nil {
			parts = append(parts, fmt.Sprintf("%s %d", x.name, *x.value))
		}
	}
	if c.UsedBlocks != nil {
		parts = append(parts, fmt.Sprintf("KV blocks %d", *c.UsedBlocks))
	}
	return joined(parts...)
}
