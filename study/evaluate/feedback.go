package evaluate

import (
	"context"
	"fmt"
	"math"
	"strings"

	"blis/actors"
	"blis/metrics"
	"blis/yamldoc"
)

// maxFeedback is the longest feedback, in bytes.
const maxFeedback = 2048

// feedback says in plain English where a candidate is bad and what its policies saw there.
func (e *evaluation) feedback(ctx context.Context, p *policies, a *Answer, figures []Figures) (string, error) {
	worst := 0
	for i := range a.PerScenario {
		if a.PerScenario[i].Score < a.PerScenario[worst].Score {
			worst = i
		}
	}
	c := e.list[worst]
	lines := []string{fmt.Sprintf("Score %.4f; the baseline has 0.5, more is better. Worst of %d scenarios: %s with %.4f.", a.Score, len(e.list), c.Name, a.PerScenario[worst].Score)}
	lines = append(lines, c.compared(&figures[worst], e.baseline[worst])...)
	lines = append(lines, worstClass(&figures[worst], e.baseline[worst])...)
	r, d, err := watch(ctx, c, p, e.options)
	if err != nil {
		return "", err
	}
	lines = append(lines, saturation(r), anomalies(&r.Report.Anomalies))
	lines = append(lines, d.lines()...)
	return fit(append(lines, printed(r)...)), nil
}

// printed is what policies of a run printed, with a line of its own for each that they printed.
func printed(r *actors.Result) (lines []string) {
	for _, p := range r.Printed() {
		lines = append(lines, fmt.Sprintf("Printed by %s:", p.Kind))
		for line := range strings.Lines(p.Text) {
			lines = append(lines, "> "+clip(strings.TrimSuffix(line, "\n"), maxLine))
		}
	}
	return lines
}

// fit joins lines as far as they fit. Empty ones are left out.
func fit(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		if line = yamldoc.OneLine(line); line != "" && b.Len()+len(line)+1 <= maxFeedback {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// clip shortens a text that a user made up.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// maxName is how much of a name feedback has, in bytes.
const maxName = 40

// compared lists the measures of a scenario, those that fell behind the most first.
func (c *Scenario) compared(f, baseline *Figures) (lines []string) {
	var worse, rest []string
	for i := range c.Measures {
		w := &c.Measures[i]
		x, base := float64(f.Values[w.key()]), float64(baseline.Values[w.key()])
		text := fmt.Sprintf("%s %s (baseline %s)", w.key(), w.text(x), w.text(base))
		switch u := w.score(x, base); {
		case math.IsNaN(x) && math.IsNaN(base) || x == base:
		case u < 0.5:
			worse = append(worse, text)
		default:
			rest = append(rest, text)
		}
	}
	for _, part := range []struct {
		what string
		list []string
	}{{"Worse than the baseline there: ", worse}, {"Better or close to it: ", rest}} {
		if part.list != nil {
			lines = append(lines, part.what+strings.Join(part.list, ", ")+".")
		}
	}
	if f.Lost > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d requests did not complete (baseline: %d). They count as infinitely late and as missed targets: serve them.", f.Lost, f.Requests, baseline.Lost))
	}
	return lines
}

// worstClass names the SLO class that lost most against the baseline.
func worstClass(f, baseline *Figures) []string {
	if len(f.Classes) < 2 {
		return nil
	}
	worst, least := -1, math.Inf(1)
	base := func(name string) *ClassFigures {
		for i := range baseline.Classes {
			if baseline.Classes[i].Class == name {
				return &baseline.Classes[i]
			}
		}
		return nil
	}
	for i := range f.Classes {
		k := &f.Classes[i]
		b := base(k.Class)
		if b == nil {
			continue
		}
		u := classScore(k, b)
		if u < least {
			worst, least = i, u
		}
	}
	if worst < 0 {
		return nil
	}
	k := &f.Classes[worst]
	b := base(k.Class)
	latency, share := Weighted{Measure: metrics.Measure{Kind: metrics.Latency}}, Weighted{}
	text := fmt.Sprintf("Worst class: %s, p99 TTFT %s (baseline %s), p99 E2E %s (%s)", clip(k.Class, maxName), latency.text(float64(k.TTFT)), latency.text(float64(b.TTFT)), latency.text(float64(k.E2E)), latency.text(float64(b.E2E)))
	if !math.IsNaN(float64(k.Attainment)) {
		text += fmt.Sprintf(", SLO attainment %s (%s)", share.text(float64(k.Attainment)), share.text(float64(b.Attainment)))
	}
	return []string{text + "."}
}

// classScore is the mean score of a class, as a scenario has it.
func classScore(k, b *ClassFigures) float64 {
	latency := Weighted{Measure: metrics.Measure{Kind: metrics.Latency, Better: metrics.Lower}}
	attained := Weighted{Measure: metrics.Measure{Kind: metrics.Share, Better: metrics.Higher}}
	var all mean
	all.add(latency.score(float64(k.TTFT), float64(b.TTFT)), 1)
	all.add(latency.score(float64(k.E2E), float64(b.E2E)), 1)
	if !math.IsNaN(float64(b.Attainment)) {
		all.add(attained.score(float64(k.Attainment), float64(b.Attainment)), 1)
	}
	return all.value()
}

// saturation says how loaded the instances of a run were.
func saturation(r *actors.Result) string {
	var parts []string
	share := func(what string, x *float64) {
		if x != nil {
			parts = append(parts, fmt.Sprintf("%s %.0f %%", what, 100**x))
		}
	}
	load, use := r.Load(), r.Report.Overall.Resources
	if use != nil {
		share("instances busy", use.Utilisation)
	}
	share("offered load of capacity", load.Share)
	share("running requests of max_num_seqs", load.MaxSeqs)
	share("KV cache in use", load.KV)
	if use != nil {
		share("KV peak", use.KVPeak)
	}
	share("prompt tokens found in prefix caches", r.Report.Overall.CacheHitRate)
	if b, i := r.Report.Busiest, r.Report.Idlest; b != nil && i != nil {
		parts = append(parts, fmt.Sprintf("busiest %s %.0f %%, idlest %s %.0f %%", clip(b.Name, maxName), 100*b.Utilisation, clip(i.Name, maxName), 100*i.Utilisation))
	}
	if use != nil && use.Limit != "none" {
		parts = append(parts, "requests wait most because of "+use.Limit)
	}
	if parts == nil {
		return ""
	}
	return "Saturation there: " + strings.Join(parts, "; ") + "."
}

// anomalies lists what a policy is a likely cause of.
func anomalies(a *metrics.Anomalies) string {
	var parts []string
	for _, n := range []struct {
		name  string
		count int64
	}{
		{"requests blocked behind the head of a queue", a.HeadOfLineBlocking}, {"priority inversions", a.PriorityInversion}, {"class inversions", a.ClassInversion},
		{"instances with an unbalanced queue", a.QueueImbalance}, {"preemption storms", a.PreemptionStorm}, {"scale oscillations", valueOf(a.ScaleOscillation)},
		{"requests whose cached prefix the router misjudged", valueOf(a.ShadowDivergence)}, {"SLO violations", a.SLOViolation.Total()},
	} {
		if n.count > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", n.name, n.count))
		}
	}
	if parts == nil {
		return ""
	}
	return "Anomalies there: " + strings.Join(parts, ", ") + "."
}

func valueOf(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// remedies say what to write instead, by kind of fault.
var remedies = map[FaultKind]string{
	SyntaxFault:    "The text cannot be read. Write a policy bundle: a YAML mapping like {routing: {type: weighted, params: {prefix-affinity: 3, queue-depth: 2}}}, or a program in Starlark.",
	PolicyFault:    "The policies are not allowed. Write types, parameters and ranges as the message has them; what is left out has its default.",
	StepsFault:     "The program takes too many steps. Use vector operations over instances in place of loops, and bound every loop.",
	ExceptionFault: "The run failed because of the policies. Check lengths, types and indices at the line named; return an instance that there is.",
	EventsFault:    "A run took too many requests and steps of instances. Do not delay, preempt or send requests again without end.",
	WallFault:      "The candidate took too long. Do less work per decision.",
	MemoryFault:    "The candidate used too much memory. Keep no growing state.",
	CrashFault:     "The process that ran the candidate ended. Do less per decision, and keep no growing state.",
}

// failureFeedback tells why a candidate has no score, and what to write instead.
func failureFeedback(c *Candidate, f *Fault) string {
	where := ""
	if f.Line > 0 {
		where = fmt.Sprintf(" at line %d", f.Line)
		if f.Column > 0 {
			where += fmt.Sprintf(", column %d", f.Column)
		}
	}
	message := clip(f.Message, maxMessage)
	return fit([]string{fmt.Sprintf("Score 0: the candidate failed (%s)%s.", f.Kind, where), message, c.quoted(f), remedies[f.Kind]})
}

// quoted is the line of the candidate that a fault is in; empty where that is not known.
func (c *Candidate) quoted(f *Fault) string {
	lines := strings.Split(string(c.Text), "\n")
	if f.Line < 1 || f.Line > len(lines) || !strings.Contains(f.Message, fmt.Sprintf("%s:%d:", c.name(), f.Line)) {
		return ""
	}
	return fmt.Sprintf("Line %d is: %s", f.Line, clip(strings.TrimSpace(lines[f.Line-1]), maxLine))
}

// maxLine is how much of a line feedback has of a text, or of what it prints, in bytes.
const maxLine = 160
