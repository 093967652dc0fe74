package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// sections returns the sections of the text in the order of the strategy. Sections that
// the strategy is about are longer.
func (r *Report) sections() []section {
	if len(r.Focus) > 0 {
		return r.focused()
	}
	head := []section{r.about(), r.outcomesText()}
	switch r.Strategy {
	case SummaryAudit:
		return append(head, r.decisionsText(8), r.prefixText(4, false), r.instancesText(8), r.scaleText(8), r.regretText(0), r.comparedText(), r.issuesText(4), r.groupsText(3))
	case SummaryCounterfactual:
		return append(head, r.regretText(8), r.worstText(5), r.prefixText(3, false), r.comparedText(), r.instancesText(4), r.issuesText(4), r.decisionsText(3))
	case SummaryPattern:
		return append(head, r.timeText(maxBins), r.groupsText(6), r.burstsText(4, false), r.instancesText(6), r.streaksText(), r.scaleText(4), r.comparedText(), r.issuesText(4))
	}
	return append(head, r.issuesText(10), r.comparedText(), r.prefixText(3, false), r.burstsText(3, false), r.instancesText(4), r.timeText(0), r.regretText(0), r.worstText(2), r.decisionsText(4), r.scaleText(3), r.groupsText(3))
}

func (r *Report) about() section {
	p := section{name: "run", title: fmt.Sprintf("Trace of decisions, %s summary", r.Strategy)}
	h := &r.Run
	p.add("Run: %s at the start, seed %d; admission %s, priority %s, routing %s, scheduler %s, autoscale %s.",
		plural(int64(h.Instances), "instance"), h.Seed, orNone(h.Admission), orNone(h.Priority), orNone(h.Routing), orNone(h.Scheduler), orNone(h.Autoscale))
	if r.From == nil {
		p.add("The trace (level %s) has a header and no records.", orNone(h.Level))
		return p
	}
	c := &r.Records
	p.add("Records (level %s, %s to %s): %s.", orNone(h.Level), moment(*r.From), moment(*r.To), joined(
		some(c.Admission, "admission %s"), some(c.Priority, "priority %s"), some(c.Routing, "routing %s"), some(c.Disaggregation, "disaggregation %s"), some(c.Scale, "scale %s"),
		some(c.Batch, "batch %s"), some(c.Preemption, "preemption %s"), counting(c.Store, "store", "stores"), counting(c.Load, "load", "loads"), counting(c.Write, "storage write", "storage writes"), counting(c.Promote, "storage read", "storage reads"), counting(c.Pull, "pull", "pulls"), some(c.Failure, "failure %s"), some(c.Anomaly, "anomaly %s"), some(c.Outcome, "outcome %s")))
	return p
}

func orNone(name string) string {
	if name == "" {
		return "none"
	}
	return worded(name)
}

func (r *Report) outcomesText() section {
	p := section{name: "outcomes", title: "OUTCOMES AGAINST TARGETS"}
	if r.From == nil {
		return p
	}
	o := &r.Outcomes
	ends := make([]string, 0, len(o.Ends))
	for _, c := range o.Ends {
		ends = append(ends, grouped(c.N)+" "+because(c.What, c.Reason))
	}
	text := plural(o.Requests, "request") + " ended"
	if len(ends) > 0 {
		text += ": " + listed(ends, 8)
	}
	if o.WithoutOutcome > 0 {
		text += fmt.Sprintf("; %s in flight when the trace ends", grouped(o.WithoutOutcome))
	}
	p.add("%s.", text)
	ended := slices.DeleteFunc(slices.Clone(o.Classes), func(c ClassFact) bool { return c.Ended == 0 })
	for i := range ended {
		if i == 6 && len(ended) > 7 {
			p.add("%d more classes.", len(ended)-i)
			break
		}
		classText(&p, &ended[i])
	}
	return p
}

// because is a name with its reason, if it has one.
func because(what, reason string) string {
	if reason == "" {
		return worded(what)
	}
	return worded(what) + " (" + worded(reason) + ")"
}

func classText(p *section, c *ClassFact) {
	name := "Class " + named(c.Class)
	if c.Others {
		name = "Other classes"
	}
	targets := "no targets"
	if c.Judged > 0 {
		targets = fmt.Sprintf("%s of %s within all targets (%s)", grouped(c.Met), grouped(c.Judged), percent(c.Met, c.Judged))
	}
	p.add("%s: %s; %s of %s completed.", name, targets, grouped(c.Completed), grouped(c.Ended))
	var parts []string
	for i, l := range []*LatencyFact{c.TTFT, c.TPOT, c.E2E} {
		if l == nil {
			continue
		}
		text := fmt.Sprintf("%s p50 %s, p99 %s", strings.ToUpper(targetNames[i]), length(float64(l.P50)), length(float64(l.P99)))
		if l.Target != nil {
			text += fmt.Sprintf(" (target %s, %s beyond)", length(float64(*l.Target)), grouped(l.Beyond))
		} else if l.Beyond > 0 {
			text += fmt.Sprintf(" (%s beyond the target of their tenant)", grouped(l.Beyond))
		}
		parts = append(parts, text)
	}
	if len(parts) > 0 {
		p.add("  %s.", strings.Join(parts, "; "))
	}
}

func (r *Report) issuesText(most int) section {
	p := section{name: "issues", title: "ISSUES, the most frequent first"}
	for i := range r.Issues {
		if i == most {
			p.add("%d more kinds of issues.", len(r.Issues)-i)
			break
		}
		p.add("%d. %s", i+1, r.Issues[i].text(examplesOf(i)))
	}
	if len(r.Issues) == 0 && r.From != nil {
		p.add("None: no latency beyond a target, no end but completed, no anomaly, preemption, hit shortfall, delay or redirect.")
	}
	return p
}

// examplesOf is how many examples the issue of that rank has in the text.
func examplesOf(rank int) int {
	if rank < 4 {
		return 2
	}
	return 1
}

// text is an issue in a line, with no more than most examples.
func (i *Issue) text(most int) string {
	n := grouped(i.Count)
	of := ""
	if i.Of != nil {
		of = fmt.Sprintf(" of %s", grouped(*i.Of))
	}
	sum := ""
	if i.Sum != nil {
		sum = whole(*i.Sum)
	}
	var text string
	switch i.Kind {
	case "slo":
		at := strings.LastIndexByte(i.Name, ' ')
		text = fmt.Sprintf("%s beyond its target, class %s: %s%s requests", strings.ToUpper(i.Name[at+1:]), named(i.Name[:at]), n, of)
	case "ended":
		what, reason, _ := strings.Cut(i.Name, ": ")
		text = fmt.Sprintf("%s: %s%s requests", because(what, reason), n, of)
	case "anomaly":
		text = fmt.Sprintf("Anomaly %s: %s", worded(i.Name), times(i.Count))
	case "preemption":
		text = fmt.Sprintf("Preempted: %s", times(i.Count))
		if sum != "" {
			text += fmt.Sprintf(", %s computed tokens lost", sum)
		}
	case "hit_shortfall":
		text = fmt.Sprintf("Fewer prompt tokens cached than the router expected: %s%s requests, %s tokens in all", n, of, sum)
	case "delay":
		text = fmt.Sprintf("Admission delayed (%s): %s", orNone(i.Name), times(i.Count))
	case "redirect":
		text = fmt.Sprintf("Routed again: %s%s routings", n, of)
	case "unroutable":
		text = fmt.Sprintf("No instance to route to: %s%s routings", n, of)
	}
	if len(i.Examples) == 0 {
		return text + "."
	}
	lead := "First"
	if i.Examples[0].Value != nil {
		lead = "Worst"
	}
	examples := make([]string, 0, len(i.Examples))
	for k := range i.Examples[:min(most, len(i.Examples))] {
		examples = append(examples, i.Examples[k].text(i.Measure))
	}
	return fmt.Sprintf("%s. %s: %s.", text, lead, strings.Join(examples, ", "))
}

// whole prints a sum of whole numbers.
func whole(x float64) string {
	if x < 1e15 {
		return grouped(int64(x))
	}
	return number(x)
}

// text is an example in a few words.
func (e *Example) text(measure string) string {
	var words []string
	if e.Request != nil {
		words = append(words, fmt.Sprintf("request %d", *e.Request))
	}
	if e.Instance != nil {
		words = append(words, fmt.Sprintf("on instance %d", *e.Instance))
	}
	if e.Tenant != "" {
		words = append(words, "of "+named(e.Tenant))
	}
	words = append(words, "at "+moment(e.At))
	if e.Value != nil {
		switch measure {
		case "latency_us", "delay_us":
			words = append(words, "("+length(*e.Value)+")")
		case "severity":
			words = append(words, "(severity "+number(*e.Value)+")")
		case "tokens":
			words = append(words, "("+plural(int64(*e.Value), "token")+")")
		}
	}
	return strings.Join(words, " ")
}

// traitWords say of a request what traits do.
var traitWords = map[string]string{
	"not_completed": "did not complete", "preempted": "were preempted", "redirected": "were routed again", "delayed": "were delayed",
	"regret": "were not routed to the best score", "hit_shortfall": "found less cached than expected",
}

func (r *Report) comparedText() section {
	p := section{name: "missed and met", title: "REQUESTS THAT MISSED THEIR TARGETS AND REQUESTS THAT MET THEM"}
	c := r.Compared
	if c == nil || c.Missed == 0 || c.Met == 0 {
		return p // nothing to put beside
	}
	if c.MissedQueueWait != nil && c.MetQueueWait != nil {
		p.add("Queue wait on average: %s of those that missed, %s of those that met.", length(*c.MissedQueueWait), length(*c.MetQueueWait))
	}
	for _, t := range c.Traits {
		p.add("%s: %s of %s that missed (%s), %s of %s that met (%s).", strings.ToUpper(traitWords[t.Name][:1])+traitWords[t.Name][1:],
			grouped(t.Missed), grouped(t.OfMissed), percent(t.Missed, t.OfMissed), grouped(t.Met), grouped(t.OfMet), percent(t.Met, t.OfMet))
	}
	return p
}

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
		text := fmt.Sprintf("New requests per bin of %s: %s on average", width, number(float64(asked)/float64(len(bins))))
		if len(bursts) > 0 {
			text += "; bursts, with more than twice that, in " + listed(bursts, 5)
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

// text says in words what happened in a bin; it is empty if nothing did.
func (b *Bin) text() string {
	asked := some(b.Asked, "%s arrived")
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
		counting(b.Preemptions, "preemption", "preemptions"), counting(b.Anomalies, "anomaly", "anomalies"), some(b.ScaledUp, "%s up"), some(b.ScaledDown, "%s down"), regret)
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
			p.add("%s %s", of.label, of.list[i].text(of.label == "Tenant"))
		}
	}
	return p
}

// text is the traffic of a group; with judged it says how many requests met their
// targets, which for classes the outcomes say.
func (g *GroupFact) text(judged bool) string {
	parts := []string{fmt.Sprintf("%s: %s", named(g.Name), plural(g.Asked, "request"))}
	if k := g.Peak; k != nil {
		parts = append(parts, fmt.Sprintf("at most %s in %s (%s times the average)", grouped(k.N), stretch(k.From, k.To), ratio(k.Ratio)))
	}
	parts = append(parts, some(g.Rejected, "%s rejected"))
	if g.Judged > 0 && judged {
		parts = append(parts, percent(g.Met, g.Judged)+" met targets")
	}
	if g.TTFT != nil {
		parts = append(parts, "TTFT "+length(*g.TTFT)+" on average")
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
func largestShares(list []RegretBin, most int) []RegretBin {
	sorted := slices.DeleteFunc(slices.Clone(list), func(w RegretBin) bool { return w.Share == 0 })
	slices.SortStableFunc(sorted, func(a, b RegretBin) int { return cmp.Compare(b.Share, a.Share) })
	return sorted[:min(most, len(sorted))]
}
