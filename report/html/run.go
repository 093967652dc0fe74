package html

import (
	"fmt"
	"math"
	"strings"
)

// runPart writes what a run was and how far to trust it.
type runPart struct{ *sheet }

// run shows a run.
func (s runPart) run() {
	d := s.doc
	setup := d.get("setup")
	s.title = "Run of " + name(setup.get("model").words()) + " on " + s.cluster()
	s.verdict = s.runVerdict()
	s.runSummary()
	s.accuracy(setup, d.get("warnings"))
	latencyPart(s).targets()
	latencyPart(s).latencies()
	timePart(s).loads()
	timePart(s).instances()
	eventsPart(s).scaling()
	eventsPart(s).failing()
	eventsPart(s).transfers()
	eventsPart(s).tiers()
	findingsPart(s).findings()
	s.runProvenance()
}

// cluster is how many of which machine: "4 H100".
func (s runPart) cluster() string {
	d := s.doc
	instances := d.get("per_instance")
	text := fmt.Sprintf("%d instances", len(instances.keys))
	if len(instances.keys) == 1 {
		text = "1 instance"
	}
	if gpu := d.get("setup", "hardware").words(); gpu != "" {
		text += " of " + name(gpu)
		if tp := d.get("setup", "tp").float(); tp > 1 {
			text += " at TP " + count(tp)
		}
	}
	return text
}

// runVerdict is the run in a sentence or two.
func (s runPart) runVerdict() string {
	d, all := s.doc, s.doc.get("overall")
	var b strings.Builder
	if d.get("partial").isTrue() {
		b.WriteString(`<span class="bad">▲ Partial: the run was interrupted.</span> `)
	}
	if checks := d.get("checks").items(); len(checks) > 0 {
		failed := 0
		for _, c := range checks {
			if !c.get("pass").isTrue() {
				failed++
			}
		}
		if failed == 0 {
			fmt.Fprintf(&b, `<span class="good">✓ All %d checks passed.</span> `, len(checks))
		} else {
			fmt.Fprintf(&b, `<span class="bad">✗ %d of %d checks failed.</span> `, failed, len(checks))
		}
	}
	injected, completed := all.get("injected_requests").float(), d.get("completed_requests").float()
	fmt.Fprintf(&b, "%s of %s requests completed", count(completed), count(injected))
	if x := all.get("requests_per_second").float(); !math.IsNaN(x) {
		fmt.Fprintf(&b, ", %s a second", figure(x))
	}
	b.WriteString(".")
	for _, m := range []struct{ key, title string }{{"ttft_us", "TTFT"}, {"tpot_us", "TPOT"}} {
		if p99 := all.get(m.key, "p99").float(); !math.IsNaN(p99) {
			fmt.Fprintf(&b, " p99 %s %s.", m.title, duration(p99))
		}
	}
	if x := d.get("slo_attainment").float(); !math.IsNaN(x) {
		fmt.Fprintf(&b, " %s of the requests with targets met them.", attained(x))
	}
	if limit := d.get("limit").words(); limit != "" && limit != "none" {
		fmt.Fprintf(&b, " Requests waited mostly for %s.", words(limitWords(limit)))
	}
	return b.String()
}

func limitWords(limit string) string {
	if limit == "seats" {
		return "max_num_seqs"
	}
	return limit
}

// runSummary is the tiles, the checks and the command.
func (s runPart) runSummary() {
	d, all := s.doc, s.doc.get("overall")
	s.section("summary", "In short")
	s.body.WriteString(`<div class="tiles">`)
	tile := func(title, value, below string) {
		if value != missing && value != "" {
			s.printf(`<div class="tile"><div class="label">%s</div><div class="value">%s</div><div class="below">%s</div></div>`, title, value, below)
		}
	}
	tile("Throughput", figure(all.get("requests_per_second").float())+thin+"req/s", figure(all.get("tokens_per_second").float())+thin+"output tokens/s")
	for _, m := range latencyKinds {
		v := all.get(m.key)
		if v.has() {
			tile(m.title+", p99", duration(v.get("p99").float()), "median "+duration(v.get("p50").float())+"<br>n "+count(v.get("n").float()))
		}
	}
	if x := d.get("slo_attainment").float(); !math.IsNaN(x) {
		tile("SLO attainment", attained(x), "goodput "+figure(d.get("goodput").float())+thin+"req/s")
	}
	if x := d.get("capacity", "load").float(); !math.IsNaN(x) {
		tile("Load", percent(x), "of about "+figure(d.get("capacity", "requests_per_second").float())+thin+"req/s")
	}
	tile("KV cache, mean", percent(d.get("kv", "mean").float()), "peak "+percent(d.get("kv", "peak").float()))
	if x := d.get("replicas", "cost").float(); !math.IsNaN(x) {
		tile("Cost", figure(x), figure(d.get("replicas", "cost_per_mtok").float())+" per million tokens")
	}
	s.body.WriteString("</div>\n")
	s.checks()
	s.repeatCommand()
}

// checks are the bounds of --check.
func (s runPart) checks() {
	list := s.doc.get("checks").items()
	if len(list) == 0 {
		return
	}
	t := s.table("Bounds of <code>--check</code>", "Measure", "#Bound", "#Value", "Kept")
	for _, c := range list {
		kept := `<span class="bad">✗ no</span>`
		if c.get("pass").isTrue() {
			kept = `<span class="good">✓ yes</span>`
		}
		unit := c.get("unit").words()
		t.row(measureWords(c.get("measure").words()), words(c.get("operator").words())+" "+valued(c.get("bound").float(), unit), valued(c.get("value").float(), unit), kept)
	}
	t.end()
}

// repeatCommand is how to get the same result again.
func (s runPart) repeatCommand() {
	switch {
	case s.command != "":
		s.paragraph("The same run again, with the same digest: " + code(words(s.command)))
	case s.name != "":
		s.paragraph("The same run again, with the same digest: " + code("blis run --config "+words(shellQuoted(s.name))))
	default:
		s.paragraph("The same run again: its configuration is at the <a href=\"#" + s.id + "-provenance\">end</a>, for " + code("blis run --config FILE") + ".")
	}
}

// shellQuoted is a word as a shell reads it.
func shellQuoted(word string) string {
	if strings.HasPrefix(word, "-") && strings.HasSuffix(word, ".json") { // a file
		word = "./" + word
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,+@%", r))
	}) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// runProvenance is what the run was.
func (s runPart) runProvenance() {
	d := s.doc
	s.section("provenance", "Provenance")
	f := facts{s: s.sheet}
	f.add("Schema", words(d.get("schema").words()))
	s.versionFacts(&f, d.get("setup", "version"))
	f.add("Seed", words(d.get("key", "seed").words()))
	f.add("Workload seed", words(d.get("key", "workload_seed").words()))
	f.add("Digest", code(words(d.get("digest").words())))
	f.add("Policies", words(d.get("setup", "policies").words()))
	f.add("Workload", words(d.get("setup", "workload").words()))
	f.add("Window", s.windowWords())
	f.add("Simulated time", duration(d.get("vllm_estimated_duration_s").float()*1e6))
	for _, n := range d.get("setup", "notes").items() {
		f.add("Note", words(n.words()))
	}
	f.end()
	s.configuration(d.get("config"))
}

func (s runPart) windowWords() string {
	w := s.doc.get("window")
	text := seconds(w.get("start_us").float()) + " to " + seconds(w.get("end_us").float()) + thin + "s"
	if w.get("cut").isTrue() {
		text += ", cut by the end of the run"
	}
	if m := s.doc.get("measured"); m.has() {
		text += "; only the " + count(m.get("requests").float()) + " requests that arrived from " + duration(m.get("from_us").float())
		if to := m.get("to_us").float(); !math.IsNaN(to) {
			text += " to " + duration(to)
		}
		text += " are measured"
	}
	return text
}
