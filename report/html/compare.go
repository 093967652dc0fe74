package html

import (
	"fmt"
	"math"
	"strings"
)

// comparePart writes a comparison.
type comparePart struct{ *sheet }

// compare shows a comparison of policy bundles.
func (s comparePart) compare() {
	d := s.doc
	bundles := d.get("bundles").items()
	s.title = fmt.Sprintf("Comparison of %d policies", len(bundles))
	s.verdict = s.compareVerdict(bundles)
	s.compareSummary(bundles)
	s.accuracy(d.get("setup"), d.get("notes"))
	s.objectiveCharts(bundles)
	s.measureTable(bundles)
	s.compareProvenance(bundles)
}

// compareVerdict says who is best in what.
func (s comparePart) compareVerdict(bundles []value) string {
	d := s.doc
	var b strings.Builder
	if d.get("partial").isTrue() {
		b.WriteString(`<span class="bad">▲ Partial: the comparison was interrupted.</span> `)
	}
	baseline := d.get("baseline").words()
	var best []string
	for _, v := range bundles {
		if v.get("pareto_rank").float() == 1 {
			best = append(best, v.get("name").words())
		}
	}
	switch objectives := measureList(d.get("objectives")); {
	case len(best) == 1:
		fmt.Fprintf(&b, "%s ranks first over %s.", name(best[0]), objectives)
	case len(best) == len(bundles):
		fmt.Fprintf(&b, "No policy beats another in all of %s.", objectives)
	case len(best) > 1:
		fmt.Fprintf(&b, "%s are beaten by none in all of %s.", names(best), objectives)
	}
	for _, v := range bundles {
		if title := v.get("name").words(); title != baseline && len(bundles) <= 6 {
			if n := v.get("verdicts"); n.has() {
				fmt.Fprintf(&b, " %s against %s: better in %s of the measures, worse in %s.", name(title), name(baseline), count(n.get("better").float()), count(n.get("worse").float()))
			}
		}
		if v.get("error").has() {
			fmt.Fprintf(&b, ` <span class="bad">✗ %s has no result.</span>`, name(v.get("name").words()))
		}
	}
	return b.String()
}

// measureList are names of measures with commas.
func measureList(v value) string {
	var all []string
	for _, m := range v.items() {
		all = append(all, measureWords(m.words()))
	}
	return strings.Join(all, ", ")
}

func (s comparePart) compareSummary(bundles []value) {
	d := s.doc
	s.section("summary", "In short")
	t := s.table("", "Policy", "#Pareto rank", "#Better in", "#Worse in", "#No difference in", "#Runs", "~What it is")
	for _, v := range bundles {
		n := v.get("verdicts")
		what := s.bundleWords(v)
		if e := v.get("error"); e.has() {
			what = `<span class="bad">✗ ` + words(e.words()) + "</span>"
		}
		title := name(v.get("name").words())
		if v.get("name").words() == d.get("baseline").words() {
			title += " (baseline)"
		}
		t.row(title, count(v.get("pareto_rank").float()), count(n.get("better").float()), count(n.get("worse").float()), count(n.get("no_significant_difference").float()), count(v.get("runs").float()), what)
	}
	t.end()
	s.paragraph("Rank 1: no other policy is at least as good in all of " + measureList(d.get("objectives")) + " and better in one. " + s.intervalWords())
	if s.command != "" {
		s.paragraph("The same comparison again: " + code(words(s.command)))
	} else {
		s.paragraph("The same comparison again: " + code("blis compare BUNDLE… --config "+words(shellQuoted(s.name))) + " with the bundles above; the settings of its baseline are at the <a href=\"#" + s.id + "-provenance\">end</a>.")
	}
}

// bundleWords are the policies of a bundle that decide.
func (s comparePart) bundleWords(v value) string {
	if same := v.get("same_as"); same.has() {
		return "does the same as " + name(same.words())
	}
	var parts []string
	for _, k := range []string{"admission", "priority", "routing", "scheduler", "autoscale"} {
		if t := v.get("policies", k, "type").words(); t != "" {
			parts = append(parts, k+" "+words(t))
		}
	}
	return strings.Join(parts, ", ")
}

func (s comparePart) intervalWords() string {
	d := s.doc
	confidence := about(d.get("confidence").float())
	if d.get("intervals", "method").words() == "bootstrap" {
		return fmt.Sprintf("Intervals of %s come from %s windows of one run, resampled.", confidence, count(d.get("intervals", "windows").float()))
	}
	return fmt.Sprintf("Intervals of %s come from %d seeds; all policies have the same traffic with a seed, and differences are taken seed by seed.", confidence, len(d.get("replicates").items()))
}

// estimate is a measure of a bundle.
type estimate struct{ mean, half float64 }

func estimateOf(bundle value, measure string) estimate {
	v := bundle.get("measures", measure)
	return estimate{v.get("mean").float(), v.get("half_width").float()}
}

// spread is an axis over estimates with their intervals.
func spread(list []estimate) axis {
	var all []float64
	for _, e := range list {
		all = append(all, e.mean)
		if !math.IsNaN(e.half) {
			all = append(all, e.mean-e.half, e.mean+e.half)
		}
	}
	a := newAxis(all)
	low := math.Inf(1)
	for _, x := range all {
		if !math.IsNaN(x) {
			low = min(low, x)
		}
	}
	if a.low == 0 && low > 0 && low > a.high/2 { // dots need no zero
		a.low = low - (a.high-low)/10
	}
	return a
}

// objectiveCharts are the objectives of all bundles, with intervals.
func (s comparePart) objectiveCharts(bundles []value) {
	d := s.doc
	s.section("objectives", "Objectives")
	for _, m := range d.get("objectives").items() {
		s.intervalTable(s.header(m.words()), bundles)
	}
}

// intervalTable is one measure of all bundles: dots with intervals over the baseline.
func (s comparePart) intervalTable(m value, bundles []value) {
	measure, unit := m.get("name").words(), m.get("unit").words()
	var list []estimate
	for _, v := range bundles[:min(len(bundles), mostScopes)] {
		list = append(list, estimateOf(v, measure))
	}
	a := spread(list)
	base := math.NaN()
	better := "lower is better"
	if m.get("better").words() == "higher" {
		better = "higher is better"
	}
	t := s.table(fmt.Sprintf("<b>%s</b>: %s; %s. Mean and interval; axis from %s to %s, the line is the baseline", measureWords(measure), words(m.get("help").words()), better, valued(a.low, unit), valued(a.high, unit)),
		"Policy", "#"+headed(measure, unit), "", "#Difference", "~Verdict")
	for i, e := range list {
		v := bundles[i]
		isBase := v.get("name").words() == s.doc.get("baseline").words()
		if isBase {
			base = e.mean
		}
		x := v.get("measures", measure)
		t.row(name(v.get("name").words()), plusMinus(e, unit), whisker(fmt.Sprintf("s%d", i%mostLines), a, e.mean, e.half, base), differenceWords(x, unit), verdictWords(x.get("verdict").words()))
	}
	t.end()
}

// plusMinus is a mean with its half-width.
func plusMinus(e estimate, unit string) string {
	if math.IsNaN(e.mean) {
		return missing
	}
	mean, half := e.mean, e.half
	if unit == "share" {
		mean, half = 100*mean, 100*half
	}
	decimals := decimalsOf(mean)
	text := fixed(mean, decimals)
	if !math.IsNaN(half) {
		text += thin + "±" + thin + fixed(half, decimals)
	}
	return text
}

// differenceWords is the difference from the baseline: relative, else absolute.
func differenceWords(x value, unit string) string {
	d := x.get("difference")
	if !d.has() {
		return missing
	}
	if r := d.get("relative").float(); !math.IsNaN(r) {
		return signedPercent(r)
	}
	sign := ""
	if d.get("mean").float() > 0 {
		sign = "+"
	}
	return sign + valued(d.get("mean").float(), unit)
}

// verdictWords is a verdict with a mark, so that colour is not all there is.
func verdictWords(verdict string) string {
	switch verdict {
	case "better":
		return `<span class="good">✓ better</span>`
	case "worse":
		return `<span class="bad">✗ worse</span>`
	}
	return words(strings.ReplaceAll(verdict, "_", " "))
}

// measureTable has every measure of every bundle.
func (s comparePart) measureTable(bundles []value) {
	const most = 12
	s.section("measures", "All measures")
	shown := bundles[:min(len(bundles), most)]
	heads := []string{"Measure"}
	for _, v := range shown {
		heads = append(heads, "#"+name(v.get("name").words()))
	}
	t := s.table("Mean ± half-width of the interval, difference from the baseline, ✓ better, ✗ worse, ~ no significant difference", heads...)
	for _, m := range s.doc.get("measures").items() {
		measure, unit := m.get("name").words(), m.get("unit").words()
		cells, any := []string{headed(measure, unit)}, false
		for _, v := range shown {
			e, x := estimateOf(v, measure), v.get("measures", measure)
			any = any || !math.IsNaN(e.mean)
			cell := plusMinus(e, unit)
			if d := differenceWords(x, unit); d != missing {
				cell += `<br><span class="dim">` + d + "</span> " + verdictMark(x.get("verdict").words())
			}
			cells = append(cells, cell)
		}
		if any {
			t.row(cells...)
		}
	}
	t.end()
	if len(bundles) > most {
		s.paragraph(fmt.Sprintf("The first %d of %d policies; %s has all.", most, len(bundles), code("blis compare --format csv")))
	}
	s.paragraph("Measures that no policy has, goodput without targets for example, are left out.")
}

func verdictMark(verdict string) string {
	switch verdict {
	case "better":
		return `<span class="good">✓</span>`
	case "worse":
		return `<span class="bad">✗</span>`
	case "no significant difference":
		return `<span class="dim">~</span>`
	}
	return ""
}

func (s comparePart) compareProvenance(bundles []value) {
	d := s.doc
	s.section("provenance", "Provenance")
	f := facts{s: s.sheet}
	f.add("Schema", words(d.get("schema").words()))
	s.versionFacts(&f, d.get("setup", "version"))
	var seeds []string
	for _, r := range d.get("replicates").items() {
		seeds = append(seeds, words(r.get("seed").words()))
	}
	f.add("Seeds", strings.Join(seeds[:min(len(seeds), 100)], ", "))
	f.add("Model", name(d.get("setup", "model").words()))
	f.add("GPU", name(d.get("setup", "hardware").words()))
	f.add("Workload", words(d.get("setup", "workload").words()))
	f.add("Smallest difference that matters", about(d.get("margin").float()))
	for _, v := range bundles {
		if key := v.get("key").words(); key != "" {
			f.add("Key of "+name(v.get("name").words()), code(words(key)))
		}
	}
	f.end()
	s.configuration(d.get("config"))
}
