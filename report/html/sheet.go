package html

import (
	"fmt"
	"strings"
)

// accuracy is what is known of the errors of the latency model, and the warnings.
func (s *sheet) accuracy(setup, warnings value) {
	s.section("trust", "How far to trust it")
	if list := warnings.items(); len(list) > 0 {
		s.body.WriteString(`<ul class="warnings">`)
		t := s.plainTable("")
		t.heads, t.numbers = []string{"Warning"}, []bool{false}
		for _, w := range list {
			t.row([]string{words(w.words())})
			s.printf("<li><b>Warning:</b> %s</li>", words(w.words()))
		}
		s.body.WriteString("</ul>\n")
	}
	s.paragraph("Latency model: " + words(setup.get("latency").words()) + ".")
	e := setup.get("latency_error")
	if !e.has() {
		s.paragraph("No error of this latency model is known for this model and GPU: take the latencies as a comparison, not as a prediction. " + code("blis validate") + " compares it with measured servers.")
		return
	}
	t := s.table(fmt.Sprintf("Error of the latency model on %s runs of %s models that it was not fitted to", count(e.get("runs").float()), count(e.get("models").float())), "Latency", "#Expected", "#Median", "#Bias", "#Worst")
	for _, m := range []struct{ key, title string }{{"ttft", "TTFT"}, {"tpot", "TPOT"}, {"e2e", "E2E"}, {"step", "Step"}} {
		v := e.get(m.key)
		if !v.has() {
			continue
		}
		in := func(key string, signed bool) string {
			x := v.get(key).float() / 100
			if signed {
				return signedPercent(x)
			}
			return percent(x)
		}
		t.row(m.title, in("expected_percent", false), in("median_percent", false), in("bias_percent", true), in("worst_percent", true))
	}
	t.end()
	var beyond []string
	for _, n := range e.get("not_measured").items() {
		beyond = append(beyond, words(n.get("text").words()))
	}
	if len(beyond) > 0 {
		s.paragraph("<b>Not measured</b>, so the errors may not hold: " + strings.Join(beyond, "; ") + ".")
	}
}

// versionFacts say which program computed a result.
func (s *sheet) versionFacts(f *facts, v value) {
	commit := words(v.get("commit").words())
	if v.get("modified").isTrue() {
		commit += " (with changes)"
	}
	f.add("Version", commit)
	f.add("Data of", words(v.get("data").words()))
}

// configuration is every setting, folded.
func (s *sheet) configuration(config value) {
	if config.kind != object {
		return
	}
	s.folded(fmt.Sprintf("Configuration: all %d settings", len(config.keys)))
	s.body.WriteString("<pre class=\"config\">{\n")
	for i, k := range config.keys {
		m, end := config.members[i], ","
		if i == len(config.keys)-1 {
			end = ""
		}
		s.printf("  %s: %s%s\n", escaped(clean(quoted(k), mostWritten)), escaped(clean(literal(m), 20000)), end)
	}
	s.body.WriteString("}</pre>\n")
	s.unfold()
}

func (s *sheet) leftOut(what string, n int) {
	if n > mostScopes {
		s.paragraph(fmt.Sprintf("Only the first %d of %s %s are listed; the JSON result has all.", mostScopes, count(float64(n)), what))
	}
}

// header is what the document says of a measure.
func (s *sheet) header(measure string) value {
	for _, m := range s.doc.get("measures").items() {
		if m.get("name").words() == measure {
			return m
		}
	}
	return value{}
}
