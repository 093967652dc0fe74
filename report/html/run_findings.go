package html

import (
	"fmt"
	"math"
	"strings"
)

// findingsPart writes regrets and anomalies.
type findingsPart struct{ *sheet }

// anomalyHelp says what each kind of anomaly is.
var anomalyHelp = map[string]string{
	"priority_inversion":    "a request was scheduled before one of higher priority",
	"class_inversion":       "a less urgent class got a higher priority",
	"head_of_line_blocking": "a request waited behind one that took long",
	"blocked_head":          "steps in which the first of the queue did not fit and others waited behind it",
	"queue_imbalance":       "instances with a queue far above the mean of their pool",
	"slow_within_class":     "pairs of like requests with unlike latencies",
	"preemption_storm":      "seconds with more preemptions than seats",
	"scale_oscillation":     "changes of the autoscaler in the other direction within a minute",
	"shadow_divergence":     "requests whose cache hit was not what the router expected",
	"kv_thrashing":          "entries that a tier gave back less than 1 ms after it had stored them",
	"pd_backpressure":       "prefills that ended while too many awaited their pull",
}

// findings are regrets and anomalies, with their times where the document has them.
func (s findingsPart) findings() {
	s.section("findings", "Regrets and anomalies")
	s.anomalies()
	trace := s.doc.get("trace_summary")
	if !trace.has() {
		s.absent("When anomalies happened, and the routing decisions with the largest regret, are in a result of " + code("blis run --summarize-trace") + ".")
	} else {
		s.issues(trace)
		s.regrets(trace.get("regret"))
	}
	s.replays()
	s.worstRequests()
}

func (s findingsPart) anomalies() {
	v := s.doc.get("anomalies")
	t := (*table)(nil)
	var none []string
	for i, k := range v.keys {
		if k == "slo_violation" {
			continue
		}
		switch n := v.members[i].float(); {
		case n > 0:
			if t == nil {
				t = s.table("Situations in which a policy is a likely cause of bad latencies", "Anomaly", "#Count", "~What it is")
			}
			t.row(measureWords(k), count(n), escaped(anomalyHelp[k]))
		case n == 0:
			none = append(none, measureWords(k))
		}
	}
	if t != nil {
		t.end()
	}
	if len(none) > 0 {
		s.paragraph("None of: " + strings.Join(none, ", ") + ".")
	}
}

// issues are what the summary of the trace found, each with its worst examples.
func (s findingsPart) issues(trace value) {
	list := trace.get("issues").items()
	if len(list) == 0 {
		return
	}
	t := s.table("What the decision trace shows, with the worst cases", "What", "#Count", "#Of", "~Worst cases: request at time on instance")
	for _, i := range list[:min(len(list), 30)] {
		var cases []string
		for _, e := range i.get("examples").items() {
			text := "request " + words(e.get("request").words()) + " at " + seconds(e.get("at_us").float()) + thin + "s"
			if at := e.get("instance"); at.has() {
				text += " on " + words(at.words())
			}
			if x := e.get("value").float(); !math.IsNaN(x) {
				shown := figure(x)
				if strings.HasSuffix(i.get("measure").words(), "_us") {
					shown = duration(x)
				}
				text += " (" + shown + ")"
			}
			cases = append(cases, text)
		}
		t.row(words(strings.ReplaceAll(i.get("kind").words()+": "+i.get("name").words(), "_", " ")), count(i.get("count").float()), count(i.get("of").float()), strings.Join(cases, "; "))
	}
	t.end()
}

// regrets are the decisions whose choice scored worst against the best alternative.
func (s findingsPart) regrets(v value) {
	if !v.has() {
		return
	}
	s.paragraph(fmt.Sprintf("Regret of %s routing decisions: how much better the best instance scored than the chosen one. None in %s of them; mean %s, p99 %s, at most %s.",
		count(v.get("decisions").float()), count(v.get("none").float()), figure(v.get("mean").float()), figure(v.get("p99").float()), figure(v.get("max").float())))
	s.decisions("The decisions with the largest regret; select one for its alternatives", v.get("worst").items())
}

// decisions is a table of routing decisions, each with a record that the script shows and
// that is folded below without it.
func (s findingsPart) decisions(caption string, list []value) {
	if len(list) == 0 {
		return
	}
	t := s.table(caption, "#Request", "#At, s", "Class", "#Prompt tokens", "#Chosen", "#Regret", "#TTFT, ms", "~Reason")
	for _, d := range list {
		id := s.record("Decision about request "+words(d.get("request").words()), d)
		t.row(`<button type="button" class="open" data-record="`+id+`">`+words(d.get("request").words())+"</button>", seconds(d.get("at_us").float()), name(d.get("slo_class").words()), count(d.get("input_tokens").float()),
			words(d.get("target").words()), figure(d.get("regret").float()), millis(d.get("outcome", "ttft_us").float()), words(d.get("reason").words()))
	}
	t.end()
	s.flushRecords()
}

// record is what a click shows about a decision. It stands in the page, folded, so that it
// can be read without script.
func (s findingsPart) record(title string, d value) string {
	return s.recordOf(title, d, d.get("outcome"))
}

// recordOf is record of a decision and what became of its request.
func (s findingsPart) recordOf(title string, d, o value) string {
	id := fmt.Sprintf("%s-r%d", s.id, s.recorded)
	s.recorded++
	outer, plain := s.body, len(s.plain)
	s.body = &strings.Builder{}
	s.printf("<section class=\"record\" id=\"%s\"><h3>%s</h3>\n", id, title)
	f := facts{s: s.sheet}
	f.add("At", seconds(d.get("at_us").float())+thin+"s")
	f.add("Class", name(d.get("slo_class").words()))
	if tenant := d.get("tenant").words(); tenant != "" {
		f.add("Tenant", name(tenant))
	}
	f.add("Prompt tokens", count(d.get("input_tokens").float()))
	if target := d.get("target"); target.has() {
		f.add("Chosen instance", words(target.words())+" ("+words(d.get("reason").words())+")")
	}
	f.add("Score of the chosen", figure(d.get("score").float()))
	f.add("Best score", figure(d.get("best").float()))
	f.add("Regret", figure(d.get("regret").float()))
	f.add("Outcome", words(o.get("state").words()))
	f.add("TTFT", duration(o.get("ttft_us").float()))
	f.add("E2E", duration(o.get("e2e_us").float()))
	f.add("Queue wait", duration(o.get("queue_wait_us").float()))
	f.add("Cached tokens", count(o.get("actual_hit_tokens").float()))
	f.add("Preemptions", count(o.get("preemptions").float()))
	f.end()
	s.candidates(d)
	s.body.WriteString("</section>\n")
	s.records = append(s.records, s.body.String())
	s.body, s.plain = outer, s.plain[:plain] // as text the table of decisions will do
	return id
}

// candidates are the alternatives of a decision.
func (s findingsPart) candidates(d value) {
	list := d.get("candidates").items()
	if len(list) == 0 {
		return
	}
	t := s.table("Alternatives, the best first", "#Instance", "#Score", "#Queue", "#Running", "#In flight", "#KV blocks", "Scorers")
	for _, c := range list {
		var parts []string
		for _, b := range c.get("breakdown").items() {
			parts = append(parts, words(b.get("scorer").words())+" "+figure(b.get("share").float()))
		}
		mark := ""
		if c.get("instance").words() == d.get("target").words() {
			mark = " (chosen)"
		}
		t.row(words(c.get("instance").words())+mark, figure(c.get("score").float()), count(c.get("queue_depth").float()), count(c.get("batch_size").float()), count(c.get("in_flight").float()), count(c.get("kv_used_blocks").float()), strings.Join(parts, ", "))
	}
	t.end()
}

// flushRecords writes the records of the table above.
func (s findingsPart) flushRecords() {
	s.folded(fmt.Sprintf("Records and alternatives of %d of them", len(s.records)))
	for _, r := range s.records {
		s.body.WriteString(r)
	}
	s.records = nil
	s.unfold()
}

// replays are the decisions that were taken the other way.
func (s findingsPart) replays() {
	v := s.doc.get("replay_regret")
	if !v.has() {
		s.absent("What the other choice would have done is in a result of " + code("blis run --replay-regret 10") + ".")
		return
	}
	list := v.get("replayed").items()
	if len(list) == 0 {
		s.paragraph("No routing decision had a regret: there was nothing to replay.")
		return
	}
	t := s.table("Decisions taken the other way, each in a run of its own", "#Request", "#At, s", "#Instance", "#Best", "#Regret", "#TTFT, ms", "#Then, ms", "#Change, ms")
	for _, d := range list {
		change := d.get("ttft_difference_us").float()
		sign := ""
		if change > 0 {
			sign = "+"
		}
		t.row(words(d.get("request").words()), seconds(d.get("at_us").float()), words(d.get("chosen").words()), words(d.get("best").words()), figure(d.get("regret").float()), millis(d.get("ttft_us").float()), millis(d.get("other_ttft_us").float()), sign+millis(change))
	}
	t.end()
}

// worstRequests are the requests with the largest TTFT of each class, with the decisions
// about them.
func (s findingsPart) worstRequests() {
	list := s.doc.get("worst_requests").items()
	if len(list) == 0 {
		s.absent("The requests with the largest TTFT, and the alternatives of the decisions about them, are in a result of " + code("blis run --details") + ". Any other request: " + code("blis run --requests-out rows.csv --trace-out trace.jsonl") + ".")
		return
	}
	s.paragraph(fmt.Sprintf("The %d requests with the largest TTFT, shared by the classes. Any other request: "+code("blis run --requests-out rows.csv --trace-out trace.jsonl")+".", len(list)))
	s.folded("The requests, the slowest of each class first; select one for its record and the alternatives of its decision")
	t := s.table("", "#Request", "Class", "Tenant", "#Arrived, s", "#TTFT, ms", "#Queue wait, ms", "#TPOT, ms", "#E2E, ms", "#Output tokens", "#Preemptions", "#Regret", "Outcome")
	for _, w := range list[:min(len(list), mostScopes)] {
		o, r := w.get("outcome"), w.get("routing")
		id := s.recordOf("Request "+words(o.get("request").words()), r, o)
		t.row(`<button type="button" class="open" data-record="`+id+`">`+words(o.get("request").words())+"</button>", name(o.get("slo_class").words()), name(o.get("tenant").words()), seconds(o.get("arrival_us").float()),
			millis(o.get("ttft_us").float()), millis(o.get("queue_wait_us").float()), millis(o.get("tpot_us").float()), millis(o.get("e2e_us").float()), count(o.get("output_tokens").float()), count(o.get("preemptions").float()), figure(r.get("regret").float()), words(o.get("state").words()))
	}
	t.end()
	s.flushRecords()
	s.unfold()
}
