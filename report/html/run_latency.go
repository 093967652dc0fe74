package html

import (
	"fmt"
	"math"
	"strings"
)

// latencyPart writes targets and latencies of a run.
type latencyPart struct{ *sheet }

// latencyKinds are the latencies that results have.
var latencyKinds = []struct{ key, title, long string }{
	{"ttft_us", "TTFT", "time to first token"},
	{"tpot_us", "TPOT", "time per output token"},
	{"itl_us", "ITL", "time between tokens"},
	{"e2e_us", "E2E", "from arrival to the last token"},
}

// targets is the table of SLOs: what was promised and what was kept.
func (s latencyPart) targets() {
	d := s.doc
	s.section("slo", "Service level objectives")
	given := d.get("config", "slo-targets").words()
	if math.IsNaN(d.get("slo_attainment").float()) {
		s.absent("The run had no latency targets. " + code("blis run --slo-targets ttft=500ms,tpot=50ms") + " sets some, also for one class or tenant.")
		return
	}
	s.paragraph("Targets: " + code(words(given)) + ". A request meets its targets if it completes within all of them; goodput counts those a second. The targets of a tenant replace those of its class.")
	t := s.table("", "Requests", "#Injected", "#Completed", "#Attainment", "", "#Goodput, per s", "#TTFT late", "#TPOT late", "#E2E late")
	row := func(title string, v, late value) {
		share := v.get("slo_attainment").float()
		number := func(key string) string { return count(late.get(key).float()) }
		t.row(title, count(v.get("injected_requests").float()), count(v.get("states", "completed").float()), attained(share),
			bar("s0", axis{0, 1, false}, 0, share), figure(v.get("goodput_per_second").float()), number("ttft"), number("tpot"), number("e2e"))
	}
	late := d.get("anomalies", "slo_violation")
	row("all", d.get("overall"), totals(late))
	for _, of := range []struct{ key, title string }{{"per_class", "class "}, {"per_tenant", "tenant "}} {
		scopes := d.get(of.key)
		if len(scopes.keys) < 2 && of.key == "per_tenant" {
			continue
		}
		for i, k := range scopes.keys[:min(len(scopes.keys), mostScopes)] {
			v := value{}
			if of.key == "per_class" {
				v = late.get(k)
			}
			row(of.title+name(k), scopes.members[i], v)
		}
	}
	t.end()
	s.leftOut("classes", len(d.get("per_class").keys))
	s.leftOut("tenants", len(d.get("per_tenant").keys))
}

// totals are the sums over classes.
func totals(late value) value {
	all := value{kind: object, keys: []string{"ttft", "tpot", "e2e"}, members: make([]value, 3)}
	for i, k := range all.keys {
		all.members[i].kind = number
		for _, of := range late.members {
			all.members[i].number += of.get(k).float()
		}
	}
	return all
}

// mostScopes is how many classes, tenants, models or instances a table lists.
const mostScopes = 200

// latencies are the percentiles and, where the document has them, the distributions.
func (s latencyPart) latencies() {
	d := s.doc
	s.section("latency", "Latencies")
	s.distributions()
	t := s.table("Exact percentiles, ms", "Latency", "Requests", "#Mean", "#p50", "#p90", "#p95", "#p99", "#Max", "#n")
	classes := d.get("per_class")
	for _, m := range latencyKinds {
		row := func(title string, v value) {
			if v.has() {
				in := func(key string) string { return millis(v.get(key).float()) }
				t.row(m.title, title, in("mean"), in("p50"), in("p90"), in("p95"), in("p99"), in("max"), count(v.get("n").float()))
			}
		}
		row("all", d.get("overall", m.key))
		if len(classes.keys) > 1 {
			for i, k := range classes.keys[:min(len(classes.keys), 20)] {
				row("class "+name(k), classes.members[i].get(m.key))
			}
		}
	}
	t.end()
	s.split()
	s.groups("per_tenant", "Tenants", "tenant")
	s.groups("per_model", "Models", "model")
	s.groups("per_deployment", "Deployments", "deployment")
}

// split is where the mean E2E went.
func (s latencyPart) split() {
	v := s.doc.get("overall", "e2e_split_us")
	if v.kind != object {
		return
	}
	total := 0.0
	for _, m := range v.members {
		total += m.float()
	}
	if !(total > 0) {
		return
	}
	t := s.table("Where the mean E2E of "+duration(total)+" went", "Phase", "#Mean, ms", "#Share", "")
	for i, k := range v.keys {
		x := v.members[i].float()
		t.row(measureWords(k), millis(x), percent(x/total), bar("s0", axis{0, 1, false}, 0, x/total))
	}
	t.end()
}

// groups is a table of tenants, models or deployments, where there are several.
func (s latencyPart) groups(key, title, one string) {
	scopes := s.doc.get(key)
	if len(scopes.keys) < 2 {
		return
	}
	s.folded(fmt.Sprintf("%s: %s", title, count(float64(len(scopes.keys)))))
	t := s.table("", strings.ToUpper(one[:1])+one[1:], "#Completed", "#Req/s", "#Output tokens/s", "#p99 TTFT, ms", "#p99 TPOT, ms", "#p99 E2E, ms", "#Attainment")
	for i, k := range scopes.keys[:min(len(scopes.keys), mostScopes)] {
		v := scopes.members[i]
		t.row(name(k), count(v.get("states", "completed").float()), figure(v.get("requests_per_second").float()), figure(v.get("tokens_per_second").float()),
			millis(v.get("ttft_us", "p99").float()), millis(v.get("tpot_us", "p99").float()), millis(v.get("e2e_us", "p99").float()), attained(v.get("slo_attainment").float()))
	}
	t.end()
	s.leftOut(one+"s", len(scopes.keys))
	s.unfold()
}

// cdfChart is the distributions of a latency, for the script.
type cdfChart struct {
	Kind   string      `json:"kind"` // cdf
	ID     string      `json:"id"`
	Unit   string      `json:"unit"`
	Series []cdfSeries `json:"series"`
}

// cdfSeries is a distribution: share[i] of the samples are at most value[i].
type cdfSeries struct {
	Name  string `json:"name"`
	Value floats `json:"value"` // ms
	Share floats `json:"share"`
}

// distributions are the CDFs, of all requests and of each class.
func (s latencyPart) distributions() {
	d := s.doc.get("distributions")
	if !d.has() {
		s.absent("The curves of the distributions are in a result of " + code("blis run --details") + ", and in the page that " + code("blis run --report FILE") + " writes.")
		return
	}
	s.body.WriteString(`<div class="pair">`)
	classes := d.get("per_class")
	for _, m := range latencyKinds {
		all := d.get("overall", m.key)
		if !all.has() {
			continue
		}
		series := []cdfSeries{newCDF("all requests", all)}
		for i, k := range classes.keys {
			if v := classes.members[i].get(m.key); v.has() && len(classes.keys) > 1 && len(series) < mostLines {
				series = append(series, newCDF(clean(k, mostShown), v))
			}
		}
		n := all.get("n").float()
		caption := fmt.Sprintf("<b>%s</b>, %s: share of %s samples that took at most so long. Both ends of the share are stretched, 50 %% is half-way from 1 %% to 99 %%", m.title, m.long, count(n))
		s.chart(caption, m.title+" distribution", func(id string) any { return &cdfChart{"cdf", id, "ms", series} })
	}
	s.body.WriteString("</div>\n")
	if n := len(classes.keys); n > mostLines-1 {
		s.paragraph(fmt.Sprintf("Curves are drawn of the first %d of %d classes.", mostLines-1, n))
	}
}

func newCDF(title string, v value) cdfSeries {
	c := cdfSeries{Name: title, Share: v.get("share").floats()}
	for _, x := range v.get("us").floats() {
		c.Value = append(c.Value, x/1e3)
	}
	return c
}
