package html

import (
	"fmt"
	"math"
	"strings"
)

// capacityPart writes the answer of a search for a capacity.
type capacityPart struct{ *sheet }

// capacity shows how much a cluster serves within its SLOs.
func (s capacityPart) capacity() {
	d := s.doc
	over := d.get("over").words()
	s.title = "Capacity of " + name(d.get("setup", "model").words()) + " over " + name(over)
	s.verdict = s.capacityVerdict()
	s.section("summary", "In short")
	s.paragraph("SLOs: " + s.slos() + ". A load holds if at least " + about(d.get("share").float()) + " of all windows of traffic keep every SLO.")
	s.ends()
	s.commands()
	s.capacityCurve()
	s.accuracy(d.get("setup"), d.get("notes"))
	s.capacityProvenance()
}

// load is a value of the axis of the search.
func (s capacityPart) load(x float64) string {
	switch s.doc.get("over").words() {
	case "rate":
		return figure(x) + thin + "req/s"
	case "num-instances":
		return count(x) + " instances"
	case "concurrency":
		return count(x) + " users"
	}
	return name(s.doc.get("over").words()) + " " + figure(x)
}

func (s capacityPart) capacityVerdict() string {
	d := s.doc
	var b strings.Builder
	if d.get("partial").isTrue() {
		b.WriteString(`<span class="bad">▲ Partial: the search was interrupted.</span> `)
	}
	holds, fails := d.get("holds"), d.get("fails")
	known := func(v value) string {
		switch {
		case d.get("exact").isTrue():
			return "exactly, for this traffic"
		case v.get("certified").isTrue():
			return "certified"
		}
		return `<span class="bad">not certified</span>`
	}
	switch {
	case holds.has() && fails.has():
		fmt.Fprintf(&b, "Holds at %s (%s), not at %s (%s).", s.load(holds.get("value").float()), known(holds), s.load(fails.get("value").float()), known(fails))
	case holds.has():
		fmt.Fprintf(&b, "Holds at %s (%s); no load of the range is known not to.", s.load(holds.get("value").float()), known(holds))
	case fails.has():
		fmt.Fprintf(&b, "Does not hold at %s (%s); no load of the range is known to.", s.load(fails.get("value").float()), known(fails))
	default:
		b.WriteString("No load is known to hold or not to.")
	}
	if !d.get("exact").isTrue() && (holds.get("certified").isTrue() || fails.get("certified").isTrue()) {
		fmt.Fprintf(&b, " The chance that a certified claim is wrong is at most %s.", about(1-d.get("confidence").float()))
	}
	return b.String()
}

// slos are the bounds in words.
func (s capacityPart) slos() string {
	var all []string
	for _, v := range s.doc.get("slos").items() {
		text := measureWords(v.get("measure").words())
		if c := v.get("class"); c.has() {
			text += " of " + name(c.words())
		}
		all = append(all, text+" "+words(operators.Replace(v.get("operator").words()))+" "+valued(v.get("bound").float(), v.get("unit").words()))
	}
	return strings.Join(all, ", ")
}

var operators = strings.NewReplacer("<=", "≤", ">=", "≥")

// ends is the table of both ends of the answer.
func (s capacityPart) ends() {
	heads := []string{"End", "#Load", "#Windows that passed", "", "Certified", "#Requests of a window", "#GPUs", "#Cost per million output tokens"}
	for _, v := range s.doc.get("slos").items() {
		heads = append(heads, "#"+headed(v.get("measure").words(), v.get("unit").words())+", mean", "#worst")
	}
	t := s.table("", heads...)
	for _, e := range []struct{ key, title string }{{"holds", "holds"}, {"fails", "does not hold"}} {
		v := s.doc.get(e.key)
		if !v.has() {
			continue
		}
		passes, windows := v.get("passes").float(), v.get("windows").float()
		certified := "no"
		switch {
		case s.doc.get("exact").isTrue():
			certified = "exact"
		case v.get("certified").isTrue():
			certified = `<span class="good">✓ yes</span>`
		}
		cells := []string{e.title, s.load(v.get("value").float()), count(passes) + " of " + count(windows), bar("s0", axis{0, 1, false}, 0, passes/windows), certified,
			count(v.get("mean_requests").float()), count(v.get("gpus").float()), figure(v.get("cost_per_mtok_output").float())}
		for _, m := range v.get("measured").items() {
			cells = append(cells, figure(m.get("mean").float()), figure(m.get("worst").float()))
		}
		t.row(cells...)
	}
	t.end()
}

// commands start such a server, and repeat the runs that decided.
func (s capacityPart) commands() {
	for _, e := range []struct{ key, title string }{{"holds", "holds"}, {"fails", "does not hold"}} {
		v := s.doc.get(e.key)
		if list := textsOf(v.get("repeat")); len(list) > 0 {
			s.paragraph("A window at the load that " + e.title + ": " + code(words(shellLine(list))))
		}
	}
	if list := textsOf(s.doc.get("holds", "serve")); len(list) > 0 {
		s.paragraph("Such a server: " + code(words(shellLine(list))))
	}
}

func shellLine(list []string) string {
	var all []string
	for _, w := range list {
		all = append(all, shellQuoted(w))
	}
	return strings.Join(all, " ")
}

// try is what windows at a load gave.
type try struct {
	load, passes, windows float64
	what                  string
	class                 string
}

// tries are the loads of which the document knows windows: those of the search, and both
// ends with the windows that their claims rest on.
func (s capacityPart) tries() (list []try) {
	d := s.doc
	for _, v := range d.get("tried").items() {
		list = append(list, try{v.get("value").float(), v.get("passes").float(), v.get("windows").float(), "search", "other"})
	}
	for _, e := range []struct{ key, title, class string }{{"holds", "holds", "s2"}, {"fails", "does not hold", "s1"}} {
		if v := d.get(e.key); v.has() {
			list = append(list, try{v.get("value").float(), v.get("passes").float(), v.get("windows").float(), e.title, e.class + " front"})
		}
	}
	return list
}

// capacityCurve is the share of windows that pass over the load, with intervals.
func (s capacityPart) capacityCurve() {
	s.section("curve", "Share of windows that pass")
	list := s.tries()
	var loads []float64
	for _, t := range list {
		if t.windows > 0 {
			loads = append(loads, t.load)
		}
	}
	if len(loads) == 0 {
		s.absent("No window was run.")
		return
	}
	share := s.doc.get("share").float()
	unit := map[string]string{"rate": ", requests/s"}[s.doc.get("over").words()]
	p := plot{x: newAxis(loads), y: axis{-0.03, 1.03, false}, xTitle: name(s.doc.get("over").words()) + unit, yTitle: "Windows that keep every SLO", yText: about, label: "Share of windows that pass over the load"}
	p.line("base", p.x.low, share, p.x.high, share)
	for _, t := range list {
		if !(t.windows > 0) {
			continue
		}
		low, high := clopperPearson(t.passes, t.windows, 0.95)
		at := t.passes / t.windows
		p.line(t.class+" half", t.load, low, t.load, high)
		p.dot(t.class, t.load, at, 5, fmt.Sprintf("%s: %s of %s windows passed, between %s and %s", s.load(t.load), count(t.passes), count(t.windows), percent(low), percent(high)))
		if t.what != "search" {
			p.text(t.load, at, escaped(t.what))
		}
	}
	s.paragraph("Dots: windows that passed at a load; bars: 95" + thin + "% intervals of the true share by their number (Clopper and Pearson). The dashed line is the share that is asked for, " + about(share) + ". Grey dots are the search, which stops at a load as soon as it knows enough.")
	p.write(s.sheet)
	s.folded("The same in numbers")
	t := s.table("", "#Load", "#Passed", "#Windows", "#Share", "#From", "#To", "What")
	for _, x := range list {
		if x.windows > 0 {
			low, high := clopperPearson(x.passes, x.windows, 0.95)
			t.row(s.load(x.load), count(x.passes), count(x.windows), percent(x.passes/x.windows), percent(low), percent(high), x.what)
		}
	}
	t.end()
	s.unfold()
}

// mostExact is for how many windows the interval is computed term by term.
const mostExact = 100000

// clopperPearson is the exact interval of a share of which k of n were seen; that of all
// shares where there is no such share.
func clopperPearson(k, n, confidence float64) (low, high float64) {
	if !(k >= 0 && k <= n && n <= mostExact) {
		return 0, 1
	}
	tail := (1 - confidence) / 2
	low, high = 0, 1
	if k > 0 {
		low = solve(func(p float64) bool { return atLeast(k, n, p) > tail })
	}
	if k < n {
		high = solve(func(p float64) bool { return 1-atLeast(k+1, n, p) <= tail })
	}
	return low, high
}

// solve is where a condition of a share begins to hold.
func solve(holds func(p float64) bool) float64 {
	low, high := 0.0, 1.0
	for range 50 {
		if p := (low + high) / 2; holds(p) {
			high = p
		} else {
			low = p
		}
	}
	return (low + high) / 2
}

// atLeast is the chance of at least k of n successes, each with chance p.
func atLeast(k, n, p float64) float64 {
	total := 0.0
	for i := k; i <= n; i++ {
		total += math.Exp(logChoose(n, i) + i*math.Log(p) + (n-i)*math.Log1p(-p))
	}
	return min(1, total)
}

func logChoose(n, k float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return a - b - c
}

func (s capacityPart) capacityProvenance() {
	d := s.doc
	s.section("provenance", "Provenance")
	f := facts{s: s.sheet}
	f.add("Schema", words(d.get("schema").words()))
	s.versionFacts(&f, d.get("setup", "version"))
	f.add("Windows", count(d.get("windows").float()))
	if w := d.get("window"); w.has() {
		f.add("A window", duration(w.get("length_ms").float()*1e3)+" after "+duration(w.get("warmup_ms").float()*1e3)+" of warm-up")
	}
	if w := d.get("longer_windows"); w.has() {
		f.add("With windows of twice the length", count(w.get("passes").float())+" of "+count(w.get("windows").float())+" passed")
	}
	f.add("Loads that are tried lie", about(d.get("precision").float())+" apart")
	f.add("Workload", words(d.get("setup", "workload").words()))
	f.add("Policies", words(d.get("setup", "policies").words()))
	for _, pair := range d.get("contradictions").items() {
		if x := pair.floats(); len(x) == 2 {
			f.add("Contradiction", "does not hold at "+s.load(x[0])+" but at "+s.load(x[1]))
		}
	}
	for _, r := range d.get("refused").items() {
		f.add("Refused", s.load(r.get("value").float())+": "+words(r.get("reason").words()))
	}
	f.end()
	if v := d.get("holds"); v.has() {
		s.configuration(v.get("config"))
	}
}
