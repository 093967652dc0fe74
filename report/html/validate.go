package html

import (
	"fmt"
	"math"
	"strings"
)

// validatePart writes errors of latency models.
type validatePart struct{ *sheet }

// validate shows the errors of latency models against measured servers.
func (s validatePart) validate() {
	models := s.doc.get("latency_models").items()
	s.title = "Validation of latency models"
	s.verdict = s.validateVerdict(models)
	s.section("summary", "Errors by latency model")
	if len(models) == 0 {
		s.absent("No measured run was compared.")
	} else {
		s.paragraph("Error: predicted over measured, less 1. A bar to the left is a prediction that is too low.")
		s.summaryTables(models)
	}
	s.runErrors(models)
	s.prefills()
	s.closedLoops()
	s.rankings(models)
	s.section("provenance", "Provenance")
	f := facts{s: s.sheet}
	f.add("Schema", words(s.doc.get("schema").words()))
	for _, v := range models {
		for _, r := range v.get("runs").items()[:min(1, len(v.get("runs").items()))] {
			f.add("Latency model "+name(v.get("name").words()), words(r.get("latency").words()))
		}
	}
	for _, skipped := range s.doc.get("skipped").items() {
		f.add("Left out", words(skipped.words()))
	}
	f.end()
	if s.command != "" {
		s.paragraph("The same validation again: " + code(words(s.command)))
	} else {
		s.paragraph("The same validation again: " + code("blis validate MEASURED… --latency-model "+strings.Join(modelNames(models), ",")) + ".")
	}
}

func modelNames(models []value) (all []string) {
	for _, v := range models {
		all = append(all, words(v.get("name").words()))
	}
	return all
}

// summaryOf is the errors of a model in a statistic of a metric.
func summaryOf(model value, metric, statistic string) value {
	for _, v := range model.get("summary").items() {
		if v.get("metric").words() == metric && v.get("statistic").words() == statistic {
			return v
		}
	}
	return value{}
}

// validateVerdict says how far off the mean E2E is.
func (s validatePart) validateVerdict(models []value) string {
	var parts []string
	for _, v := range models {
		e := summaryOf(v, "e2e", "mean")
		if x := e.get("mean_ape").float(); !math.IsNaN(x) {
			parts = append(parts, fmt.Sprintf("%s: mean E2E off by %s, TTFT by %s, TPOT by %s", name(v.get("name").words()), percent(x),
				percent(summaryOf(v, "ttft", "mean").get("mean_ape").float()), percent(summaryOf(v, "tpot", "mean").get("mean_ape").float())))
		}
	}
	if len(parts) == 0 {
		return "No run has a prediction to compare with."
	}
	return strings.Join(parts, "; ") + ". Mean of the absolute errors over the runs."
}

// summaryTables are a table for each metric: the models in the statistics.
func (s validatePart) summaryTables(models []value) {
	for _, metric := range []string{"ttft", "tpot", "e2e"} {
		largest := 0.0
		for _, v := range models {
			for _, e := range v.get("summary").items() {
				if e.get("metric").words() == metric {
					largest = max(largest, math.Abs(e.get("bias").float()), math.Abs(e.get("worst_error").float()))
				}
			}
		}
		if largest == 0 {
			continue
		}
		a := axis{-min(largest, 2), min(largest, 2), false}
		t := s.table(fmt.Sprintf("<b>%s</b>; axis from %s to %s, the dot is the bias, the bar reaches to the worst run", measureWords(metric), signedPercent(a.low), signedPercent(a.high)),
			"Latency model", "Statistic", "#Runs", "#Bias", "", "#Median error", "#Mean error", "#Worst")
		for k, v := range models {
			for _, e := range v.get("summary").items() {
				if e.get("metric").words() != metric {
					continue
				}
				bias, worst := e.get("bias").float(), e.get("worst_error").float()
				t.row(name(v.get("name").words()), words(e.get("statistic").words()), count(e.get("runs").float()), signedPercent(bias), errorStrip(fmt.Sprintf("s%d", k%mostLines), a, bias, worst),
					percent(e.get("median_ape").float()), percent(e.get("mean_ape").float()), signedPercent(worst))
			}
		}
		t.end()
	}
	for _, v := range models {
		if doubt := v.get("doubt").words(); doubt != "" {
			s.paragraph("<b>Doubt</b> about " + name(v.get("name").words()) + ": " + words(doubt))
		}
	}
}

// errorStrip is a bias as a dot and the worst error as the end of a bar, around 0.
func errorStrip(class string, a axis, bias, worst float64) string {
	if math.IsNaN(bias) {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="strip" aria-hidden="true"><line class="grid" x1="0" x2="100%%" y1="9" y2="9"/><line class="base" x1="%[1]s" x2="%[1]s" y1="0" y2="18"/>`, pc(a.at(0)))
	if !math.IsNaN(worst) {
		fmt.Fprintf(&b, `<line class="%s half" x1="%s" x2="%s" y1="9" y2="9"/>`, class, pc(a.at(0)), pc(a.at(worst)))
	}
	fmt.Fprintf(&b, `<circle class="%s" cx="%s" cy="9" r="4.5"/></svg>`, class, pc(a.at(bias)))
	return b.String()
}

// runErrors is measured against predicted of every run.
func (s validatePart) runErrors(models []value) {
	s.section("runs", "Measured and predicted")
	s.scatter(models)
	for _, v := range models {
		list := v.get("runs").items()
		s.folded(fmt.Sprintf("Runs with %s: %d", name(v.get("name").words()), len(list)))
		t := s.table("Means, ms", "Run", "Model", "Server", "#Requests", "#TTFT measured", "#predicted", "#TPOT measured", "#predicted", "#E2E measured", "#predicted", "#E2E error")
		for _, r := range list[:min(len(list), mostScopes)] {
			server := name(r.get("hardware").words()) + " at TP " + count(r.get("tp").float())
			if why := r.get("missing"); why.has() {
				t.row(name(r.get("run").words()), name(shortModel(r.get("model").words())), server, words(why.words()), "", "", "", "", "", "", "")
				continue
			}
			cells := []string{name(r.get("run").words()), name(shortModel(r.get("model").words())), server, count(r.get("all", "requests").float())}
			last := math.NaN()
			for _, metric := range []string{"ttft", "tpot", "e2e"} {
				measured, predicted := scoreOf(r, metric)
				cells, last = append(cells, milliseconds(measured), milliseconds(predicted)), predicted/measured-1
			}
			if r.get("overloaded").isTrue() {
				cells[3] = "overloaded: only throughput compares"
			}
			t.row(append(cells, signedPercent(last))...)
		}
		t.end()
		s.leftOut("runs", len(list))
		s.unfold()
	}
}

// scoreOf is the mean of a metric in a run, measured and predicted, in ms.
func scoreOf(r value, metric string) (measured, predicted float64) {
	for _, v := range r.get("all", "scores").items() {
		if v.get("metric").words() == metric && v.get("statistic").words() == "mean" {
			return v.get("measured_ms").float(), v.get("predicted_ms").float()
		}
	}
	return math.NaN(), math.NaN()
}

// scatter is predicted against measured mean latencies of all runs, on logarithmic axes.
func (s validatePart) scatter(models []value) {
	if len(models) == 0 {
		return
	}
	var all []float64
	for _, v := range models {
		for _, r := range v.get("runs").items() {
			measured, predicted := scoreOf(r, "e2e")
			if measured > 0 && predicted > 0 {
				all = append(all, measured, predicted)
			}
		}
	}
	if len(all) < 8 { // the table says as much
		return
	}
	a := newLogAxis(all)
	p := plot{x: a, y: a, xTitle: "Measured mean E2E, ms", yTitle: "Predicted mean E2E, ms", label: "Predicted against measured mean E2E"}
	p.line("base", a.low, a.low, a.high, a.high)
	var keys strings.Builder
	for k, v := range models[:min(len(models), mostLines)] {
		fmt.Fprintf(&keys, `<span class="key"><svg class="mark" aria-hidden="true"><circle class="s%d" cx="8" cy="8" r="5"/></svg> %s</span> `, k, name(v.get("name").words()))
		for _, r := range v.get("runs").items()[:min(len(v.get("runs").items()), mostDots)] {
			measured, predicted := scoreOf(r, "e2e")
			if measured > 0 && predicted > 0 {
				p.dot(fmt.Sprintf("s%d open", k), measured, predicted, 5, name(v.get("name").words())+", "+escaped(clean(r.get("run").words(), mostShown))+": "+signedPercent(predicted/measured-1))
			}
		}
	}
	s.paragraph("A dot for each run; on the dashed line prediction and measurement are equal, above it the prediction is too high.")
	s.body.WriteString(`<p class="legend">` + keys.String() + "</p>")
	p.write(s.sheet)
}

// prefills are requests that ran alone, from OTLP traces.
func (s validatePart) prefills() {
	v := s.doc.get("prefills")
	if !v.has() {
		return
	}
	s.section("prefills", "Prefills of requests that ran alone")
	s.paragraph("Coefficients " + name(v.get("coefficients").words()) + ": median error " + percent(v.get("median_ape").float()) + ". " + words(v.get("doubt").words()))
	list := v.get("requests").items()
	t := s.table("", "#Tokens", "#Measured, ms", "#Predicted, ms", "#Error")
	for _, r := range list[:min(len(list), mostScopes)] {
		measured, predicted := r.get("measured_ms").float(), r.get("predicted_ms").float()
		t.row(count(r.get("tokens").float()), milliseconds(measured), milliseconds(predicted), signedPercent(predicted/measured-1))
	}
	t.end()
	s.leftOut("requests", len(list))
}

// closedLoops are benchmarks of users who ask again and again.
func (s validatePart) closedLoops() {
	v := s.doc.get("closed_loops")
	if !v.has() {
		return
	}
	s.section("loops", "Closed loops")
	t := s.table("TPOT of benchmarks with a fixed number of users", "Latency model", "Group", "#Benchmarks", "#Median error", "#p90 error", "#Bias", "#Worst")
	row := func(model, group string, e value) {
		t.row(model, group, count(e.get("points").float()), percent(e.get("median_ape").float()), percent(e.get("p90_ape").float()), signedPercent(e.get("bias").float()), signedPercent(e.get("worst").float()))
	}
	for _, m := range v.get("latency_models").items() {
		row(name(m.get("name").words()), "all", m.get("all"))
		groups := m.get("groups").items()
		for _, g := range groups[:min(len(groups), mostScopes)] {
			row(name(m.get("name").words()), name(shortModel(g.get("model").words()))+" on "+name(g.get("gpu").words())+", "+words(g.get("precision").words())+", TP "+count(g.get("tp").float()), g)
		}
	}
	t.end()
	for _, out := range v.get("left_out").items() {
		s.paragraph("Left out: " + count(out.get("points").float()) + " benchmarks: " + words(out.get("reason").words()))
	}
}

// rankings say whether servers and rates come in the right order.
func (s validatePart) rankings(models []value) {
	any := false
	for _, v := range models {
		any = any || len(v.get("rankings").items()) > 0
	}
	if !any {
		return
	}
	s.section("rankings", "Order of servers and rates")
	t := s.table("Share of the pairs that come in the measured order, and the correlation of ranks", "Latency model", "Measure", "#Compared", "#Pairs in order", "#Correlation")
	for _, v := range models {
		for _, r := range v.get("rankings").items() {
			t.row(name(v.get("name").words()), measureWords(r.get("metric").words()), count(r.get("cells").float()), count(r.get("ordered").float())+" of "+count(r.get("pairs").float()), fixed(r.get("spearman").float(), 3))
		}
	}
	t.end()
}
