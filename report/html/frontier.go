package html

import (
	"fmt"
	"math"
	"strings"
)

// frontierPart writes capacities and costs of configurations.
type frontierPart struct{ *sheet }

// frontier shows what configurations serve and cost.
func (s frontierPart) frontier() {
	d := s.doc
	list := d.get("configurations").items()
	s.title = fmt.Sprintf("Capacity against cost of %d configurations", len(list))
	front := 0
	for _, c := range list {
		if c.get("pareto").isTrue() {
			front++
		}
	}
	s.verdict = fmt.Sprintf("%d of %d configurations are on the front: none serves as much for less.", front, len(list))
	if d.get("partial").isTrue() {
		s.verdict = `<span class="bad">▲ Partial: later configurations were not searched.</span> ` + s.verdict
	}
	s.section("front", "Front")
	s.paragraph("Load at which at least " + about(d.get("share").float()) + " of windows keep " + words(strings.Join(textsOf(d.get("slos")), ", ")) + ". Each line is a claim of its own, wrong with a chance of at most " + about(1-d.get("confidence").float()) + ".")
	s.frontierChart(list)
	s.frontierTable(list)
	s.section("provenance", "Provenance")
	f := facts{s: s.sheet}
	f.add("Schema", words(d.get("schema").words()))
	f.add("Latency model", words(d.get("latency_error").words())+", which is not in the answers")
	f.end()
}

// cost is what a configuration costs an hour; its GPUs without prices.
func cost(c value) float64 {
	if x := c.get("cost_per_hour").float(); !math.IsNaN(x) {
		return x
	}
	return c.get("gpus").float()
}

func (s frontierPart) frontierChart(list []value) {
	var xs, ys []float64
	title := "GPUs"
	for _, c := range list {
		if !c.get("holds").has() {
			continue
		}
		if c.get("cost_per_hour").has() {
			title = "Cost per hour"
		}
		xs, ys = append(xs, cost(c)), append(ys, c.get("holds").float())
		if f := c.get("fails").float(); !math.IsNaN(f) {
			ys = append(ys, f)
		}
	}
	if len(xs) == 0 {
		s.absent("No configuration is known to hold a load.")
		return
	}
	over := s.doc.get("over").words()
	unit := map[string]string{"rate": ", requests/s"}[over]
	p := plot{x: newAxis(xs), y: newAxis(append(ys, 0)), xTitle: title, yTitle: name(over) + unit, label: "Capacity against cost"}
	for _, c := range list {
		holds, fails := c.get("holds").float(), c.get("fails").float()
		if math.IsNaN(holds) {
			continue
		}
		class, radius := "other", 4.0
		if c.get("pareto").isTrue() {
			class, radius = "s0 front", 6
		}
		if !math.IsNaN(fails) {
			p.line(class+" half", cost(c), holds, cost(c), fails)
		}
		p.dot(class, cost(c), holds, radius, fmt.Sprintf("%s: holds %s, %s %s", s.axesOf(c), figure(holds), strings.ToLower(title), figure(cost(c))))
	}
	s.body.WriteString(`<p class="legend"><span class="key"><svg class="mark" aria-hidden="true"><circle class="s0 front" cx="8" cy="8" r="6"/></svg> on the front</span> <span class="key"><svg class="mark" aria-hidden="true"><circle class="other" cx="8" cy="8" r="4"/></svg> another serves as much for less</span> <span class="key">bar: up to the load that does not hold</span></p>`)
	p.write(s.sheet)
}

func (s frontierPart) axesOf(c value) string {
	axes := c.get("axes")
	var parts []string
	for i, k := range axes.keys {
		parts = append(parts, escaped(clean(k, mostShown)+" "+clean(axes.members[i].words(), mostShown)))
	}
	return strings.Join(parts, ", ")
}

func (s frontierPart) frontierTable(list []value) {
	if len(list) == 0 {
		return
	}
	heads := []string{"Front"}
	for _, k := range list[0].get("axes").keys {
		heads = append(heads, name(k))
	}
	over := s.doc.get("over").words()
	t := s.table("", append(heads, "#Holds "+name(over), "#Not at", "#GPUs", "#Cost per hour", "#Per million output tokens", "~Outcome")...)
	for _, c := range list[:min(len(list), mostCombinations)] {
		front := ""
		if c.get("pareto").isTrue() {
			front = `<span class="good">●</span> yes`
		}
		cells := []string{front}
		for _, k := range list[0].get("axes").keys {
			cells = append(cells, name(c.get("axes", k).words()))
		}
		outcome := words(strings.ReplaceAll(c.get("outcome").words(), "_", " "))
		if e := c.get("error"); e.has() {
			outcome = `<span class="bad">✗ ` + words(e.words()) + "</span>"
		}
		t.row(append(cells, figure(c.get("holds").float()), figure(c.get("fails").float()), count(c.get("gpus").float()), figure(c.get("cost_per_hour").float()), figure(c.get("cost_per_million_output_tokens").float()), outcome)...)
	}
	t.end()
	if len(list) > mostCombinations {
		s.paragraph(fmt.Sprintf("The first %d of %d configurations.", mostCombinations, len(list)))
	}
}
