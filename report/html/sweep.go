package html

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// sweepPart writes a sweep.
type sweepPart struct{ *sheet }

// A sweep may have very many combinations. Charts and the table have at most so many;
// those of the Pareto front come first.
const (
	mostDots         = 2000
	mostAxesLines    = 300
	mostCombinations = 400
)

// sweep shows what the points of a sweep gave.
func (s sweepPart) sweep() {
	d := s.doc
	groups := d.get("combinations").items()
	s.title = fmt.Sprintf("Sweep over %s", names(textsOf(d.get("axes"))))
	objectives := textsOf(d.get("objectives"))
	front := 0
	for _, g := range groups {
		if g.get("pareto").isTrue() {
			front++
		}
	}
	s.verdict = fmt.Sprintf("%s combinations: %s points ran, %s were refused, %s failed.", count(float64(len(groups))), count(d.get("points", "ok").float()), count(d.get("points", "refused").float()), count(d.get("points", "failed").float()))
	if len(objectives) > 1 {
		s.verdict += fmt.Sprintf(" %s of them are beaten by no other in all of %s.", count(float64(front)), measureList(d.get("objectives")))
	}
	slices.SortStableFunc(groups, func(a, b value) int {
		return int(b.get("pareto").number) - int(a.get("pareto").number)
	})
	s.paretoChart(groups, objectives)
	s.parallelAxes(groups)
	s.combinations(groups)
	s.effects()
	s.sweepProvenance()
}

func textsOf(v value) (all []string) {
	for _, x := range v.items() {
		all = append(all, x.words())
	}
	return all
}

// paretoChart is the first two objectives of all combinations.
func (s sweepPart) paretoChart(groups []value, objectives []string) {
	s.section("front", "Pareto front")
	if len(objectives) < 2 {
		s.absent("No front was asked for. " + code("blis report DIR --pareto cost,p99_ttft") + " or " + code("blis sweep show DIR --pareto cost,p99_ttft --format json") + " marks the combinations that no other beats.")
		return
	}
	x, y := s.header(objectives[0]), s.header(objectives[1])
	var xs, ys []float64
	for _, g := range groups {
		ex, ey := estimateOf(g, objectives[0]), estimateOf(g, objectives[1])
		xs, ys = append(xs, ex.mean), append(ys, ey.mean)
	}
	p := plot{x: newAxis(xs), y: newAxis(ys), xTitle: headed(objectives[0], x.get("unit").words()) + betterArrow(x, "←", "→"), yTitle: headed(objectives[1], y.get("unit").words()) + betterArrow(y, "↓", "↑"),
		xText: shareText(x), yText: shareText(y), label: fmt.Sprintf("%s against %s of %d combinations", objectives[1], objectives[0], len(groups))}
	for i := min(len(groups), mostDots) - 1; i >= 0; i-- { // the front last, above the others
		g := groups[i]
		if math.IsNaN(xs[i]) || math.IsNaN(ys[i]) {
			continue
		}
		text := s.coordinates(g) + ": " + headed(objectives[0], "") + " " + valued(xs[i], x.get("unit").words()) + ", " + headed(objectives[1], "") + " " + valued(ys[i], y.get("unit").words())
		if g.get("pareto").isTrue() {
			if half := estimateOf(g, objectives[1]).half; !math.IsNaN(half) {
				p.line("s0 half", xs[i], ys[i]-half, xs[i], ys[i]+half)
			}
			p.dot("s0 front", xs[i], ys[i], 6, text)
		} else {
			p.dot("other", xs[i], ys[i], 4, text)
		}
	}
	s.body.WriteString(`<p class="legend"><span class="key"><svg class="mark" aria-hidden="true"><circle class="s0 front" cx="8" cy="8" r="6"/></svg> on the front, with the interval of the vertical measure</span> <span class="key"><svg class="mark" aria-hidden="true"><circle class="other" cx="8" cy="8" r="4"/></svg> beaten in all objectives</span></p>`)
	p.write(s.sheet)
	if len(groups) > mostDots {
		s.paragraph(fmt.Sprintf("The front and the first others, %d of %s combinations.", mostDots, count(float64(len(groups)))))
	}
}

// betterArrow says in which direction a measure is better.
func betterArrow(m value, lower, higher string) string {
	if m.get("better").words() == "higher" {
		return " (" + higher + " better)"
	}
	return " (" + lower + " better)"
}

// shareText labels ticks of shares in percent; nil: as they are.
func shareText(m value) func(float64) string {
	if m.get("unit").words() != "share" {
		return nil
	}
	return about
}

// coordinates are the values of a combination, as text for a hint.
func (s sweepPart) coordinates(g value) string {
	var parts []string
	for _, a := range textsOf(s.doc.get("axes")) {
		parts = append(parts, escaped(clean(a, mostShown)+" "+clean(g.get("axes", a).words(), mostShown)))
	}
	return strings.Join(parts, ", ")
}

// parallel is one vertical axis of parallel axes: an axis of the sweep or a measure.
type parallel struct {
	title  string
	at     func(g value) float64 // in percent of its height
	top    string
	bottom string
}

// parallelAxes draw each combination as a line across all axes.
func (s sweepPart) parallelAxes(groups []value) {
	s.section("axes", "Parallel axes")
	var list []parallel
	for _, a := range textsOf(s.doc.get("axes")) {
		list = append(list, s.parallelOfAxis(a, groups))
	}
	for _, m := range s.doc.get("measures").items() {
		if p, ok := parallelOfMeasure(m, groups); ok {
			list = append(list, p)
		}
	}
	const mostAxes = 12
	list = list[:min(len(list), mostAxes)]
	if len(list) < 2 || len(groups) == 0 {
		s.absent("There are too few axes with values to draw.")
		return
	}
	s.paragraph("A line for each combination, from the values of its settings to its measures; those of the front are thick. Point at a line to see its values.")
	shown := min(len(groups), mostAxesLines)
	s.printf("<div class=\"parallel-scroll scroll\" tabindex=\"0\"><div class=\"parallel\" role=\"img\" aria-label=\"Parallel axes of %d combinations\"><svg class=\"parallel-area\" aria-hidden=\"true\">", shown)
	x := func(i int) float64 { return math.Round(100*100*(float64(i)+0.5)/float64(len(list))) / 100 }
	for i := shown - 1; i >= 0; i-- {
		g := groups[i]
		class := "other"
		if g.get("pareto").isTrue() {
			class = "s0 front"
		}
		s.printf(`<g class="row %s" data-row="%s-g%d"><title>%s</title>`, class, s.id, i, s.coordinates(g))
		for k := range list[1:] {
			from, to := list[k].at(g), list[k+1].at(g)
			if !math.IsNaN(from) && !math.IsNaN(to) {
				s.printf(`<line x1="%s" y1="%s" x2="%s" y2="%s"/>`, pc(x(k)), pc(92-0.84*from), pc(x(k+1)), pc(92-0.84*to))
			}
		}
		s.body.WriteString("</g>\n")
	}
	for i, a := range list {
		s.printf(`<line class="axis" x1="%[1]s" x2="%[1]s" y1="8%%" y2="92%%"/><text x="%[1]s" y="5%%" text-anchor="middle">%[2]s</text><text x="%[1]s" y="98%%" text-anchor="middle">%[3]s</text>`, pc(x(i)), a.top, a.bottom)
	}
	s.body.WriteString("</svg><div class=\"parallel-titles\">")
	for _, a := range list {
		s.printf("<span>%s</span>", a.title)
	}
	s.body.WriteString("</div></div></div>\n")
	if len(groups) > shown {
		s.paragraph(fmt.Sprintf("The front and the first others, %d of %s combinations.", shown, count(float64(len(groups)))))
	}
}

// parallelOfAxis places numbers by their value and texts in the order in which they come.
func (s sweepPart) parallelOfAxis(axisName string, groups []value) parallel {
	var order []string
	var values []float64
	numeric := true
	for _, g := range groups {
		v := g.get("axes", axisName)
		numeric = numeric && v.kind == number
		values = append(values, v.float())
		if !slices.Contains(order, v.words()) && len(order) < 10000 {
			order = append(order, v.words())
		}
	}
	title := name(axisName)
	if numeric {
		low, high := least(values), most(values)
		return parallel{title, func(g value) float64 { return between(g.get("axes", axisName).float(), low, high) }, figure(high), figure(low)}
	}
	slices.Sort(order)
	return parallel{title, func(g value) float64 {
		return between(float64(slices.Index(order, g.get("axes", axisName).words())), 0, float64(len(order)-1))
	}, escaped(clean(order[len(order)-1], 16)), escaped(clean(order[0], 16))}
}

func parallelOfMeasure(m value, groups []value) (parallel, bool) {
	measure, unit := m.get("name").words(), m.get("unit").words()
	var values []float64
	for _, g := range groups {
		values = append(values, estimateOf(g, measure).mean)
	}
	low, high := least(values), most(values)
	if math.IsNaN(low) {
		return parallel{}, false
	}
	return parallel{headed(measure, unit), func(g value) float64 { return between(estimateOf(g, measure).mean, low, high) }, inUnit(high, unit), inUnit(low, unit)}, true
}

// between is a place from 0 to 100; the middle where there is no range.
func between(x, low, high float64) float64 {
	if low == high {
		return 50
	}
	return math.Round(10000*(x-low)/(high-low)) / 100
}

// combinations is the table of combinations, those of the front first.
func (s sweepPart) combinations(groups []value) {
	s.section("combinations", "Combinations")
	heads := []string{"Front"}
	axes := textsOf(s.doc.get("axes"))
	for _, a := range axes {
		heads = append(heads, name(a))
	}
	measures := s.doc.get("measures").items()
	for _, m := range measures {
		heads = append(heads, "#"+headed(m.get("name").words(), m.get("unit").words()))
	}
	heads = append(heads, "#Runs", "#Failed")
	t := s.table("Mean ± half-width of the interval, of "+about(s.doc.get("confidence").float()), heads...)
	for i, g := range groups[:min(len(groups), mostCombinations)] {
		front := ""
		if g.get("pareto").isTrue() {
			front = `<span class="good">●</span> yes`
		}
		cells := []string{front}
		for _, a := range axes {
			cells = append(cells, name(g.get("axes", a).words()))
		}
		for _, m := range measures {
			cells = append(cells, plusMinus(estimateOf(g, m.get("name").words()), m.get("unit").words()))
		}
		t.marked(fmt.Sprintf(` id="%s-g%d"`, s.id, i), append(cells, count(g.get("ok").float()), count(g.get("failed").float()))...)
	}
	t.end()
	if len(groups) > mostCombinations {
		s.paragraph(fmt.Sprintf("The front and the first others, %d of %s combinations; %s has all.", mostCombinations, count(float64(len(groups))), code("blis sweep show DIR --format csv")))
	}
}

// effects is the mean of each measure for each value of an axis.
func (s sweepPart) effects() {
	list := s.doc.get("effects").items()
	if len(list) == 0 {
		return
	}
	s.section("effects", "Effect of each setting")
	heads := []string{"Setting", "Value", "#Combinations"}
	measures := s.doc.get("measures").items()
	for _, m := range measures {
		heads = append(heads, "#"+headed(m.get("name").words(), m.get("unit").words()))
	}
	t := s.table("Means over the combinations with a value; they compare only where all values have the same others", heads...)
	for _, e := range list[:min(len(list), mostScopes)] {
		cells := []string{name(e.get("axis").words()), name(e.get("value").words()), count(e.get("combinations").float())}
		for _, m := range measures {
			x := e.get("measures", m.get("name").words()).float()
			if m.get("unit").words() == "share" {
				x *= 100
			}
			cells = append(cells, figure(x))
		}
		t.row(cells...)
	}
	t.end()
	s.leftOut("values", len(list))
}

func (s sweepPart) sweepProvenance() {
	d := s.doc
	s.section("provenance", "Provenance")
	f := facts{s: s.sheet}
	f.add("Schema", words(d.get("schema").words()))
	f.add("Latency models", names(textsOf(d.get("latency_models"))))
	f.add("Their error", words(d.get("latency_error").words()))
	for _, r := range d.get("reasons").items()[:min(len(d.get("reasons").items()), 20)] {
		f.add("Without a result", count(r.get("points").float())+" points from point "+count(r.get("first_point").float())+" on: "+words(r.get("reason").words()))
	}
	f.end()
	s.paragraph("Every point, with its seed, digest and key, is a line of <code>points.sorted.jsonl</code> in the folder of the sweep; " + code("blis sweep FILE") + " runs it again, and the sweep file is there as <code>sweep.lock.yaml</code>.")
}
