package report

import (
	"fmt"
	"strconv"
	"strings"

	"blis/report/plaintext"
	"blis/setup"
	"blis/study"
)

// capacityText writes the text of a capacity.
type capacityText struct {
	plaintext.Writer
	of *Capacity
}

// what says what was searched.
func (t *capacityText) what() {
	c := t.of
	shown := c.Holds
	if shown == nil {
		shown = c.Fails
	}
	if c.Partial {
		t.Line("PARTIAL", "interrupted: what follows is what was known, and not certified")
	}
	if shown == nil {
		t.Line("model", c.Setup.Model)
		t.Line("latency", c.Setup.Latency)
		return
	}
	writeCluster(&t.Writer, &shown.Setup, &shown.Config)
	t.Line("policies", shown.Setup.Policies)
	t.Line("workload", withoutCount(shown.Setup.Workload))
	t.Gap()
}

// headline is the answer in a line.
func (t *capacityText) headline() {
	c, axis := t.of, &t.of.Asked.Over
	switch {
	case c.Outcome == study.CapacityFound && c.Fails != nil:
		t.Line("capacity", fmt.Sprintf("%s   (%s it no longer holds)", axisText(axis, c.Holds.Value), atAxis(axis, c.Fails.Value)))
	case c.Outcome == study.CapacityFound:
		t.Line("capacity", fmt.Sprintf("%s   (the least there is)", axisText(axis, c.Holds.Value)))
	case c.Outcome == study.EveryLoadHolds:
		t.Line("capacity", fmt.Sprintf("more than the range: %s it still holds; give --over a wider one", atAxis(axis, c.Holds.Value)))
	case c.Outcome == study.NoLoadHolds:
		t.Line("capacity", fmt.Sprintf("none in the range: not even %s", atAxis(axis, axis.Values[0])))
	default:
		t.Line("capacity", "NOT CERTIFIED: "+t.bracket())
	}
}

// bracket is what is known of both ends.
func (t *capacityText) bracket() string {
	c, axis := t.of, &t.of.Asked.Over
	var parts []string
	for _, end := range []struct {
		of   *study.CapacityEnd
		text string
	}{{c.Holds, "it seems to hold"}, {c.Fails, "it seems not to hold"}} {
		if end.of == nil {
			continue
		}
		text := atAxis(axis, end.of.Value) + " " + end.text
		if end.of.Certified {
			text = strings.Replace(text, "seems to hold", "holds", 1)
			text = strings.Replace(text, "seems not to hold", "does not hold", 1)
		}
		parts = append(parts, text)
	}
	if parts == nil {
		return "nothing is known"
	}
	return strings.Join(parts, ", ")
}

// claims says in sentences what each end claims, and what is not in it.
func (t *capacityText) claims() {
	c, axis := t.of, &t.of.Asked.Over
	t.sentence(t.claimText())
	if !c.Exact && c.Outcome != study.CapacityNotKnown {
		t.sentence(t.chanceText())
	}
	if c.Longer != nil && c.Longer.Certified {
		t.sentence(fmt.Sprintf("Windows of twice the length hold %s as well: %d of %d.", atAxis(axis, c.Holds.Value), c.Longer.Passes, c.Longer.Windows))
	}
	t.sentence(t.errorText())
	t.Gap()
}

// sentence writes prose, indented.
func (t *capacityText) sentence(text string) {
	if text == "" {
		return
	}
	for _, line := range plaintext.Wrap(text, min(t.Width, plaintext.WidestProse)-2) {
		fmt.Fprintf(t, "  %s\n", line)
	}
}

// claimText is what both ends claim.
func (t *capacityText) claimText() string {
	c, axis := t.of, &t.of.Asked.Over
	var slos []string
	for i := range c.Asked.SLOs {
		slos = append(slos, sloText(&c.Asked.SLOs[i]))
	}
	all := strings.Join(slos, ", ")
	if c.Exact {
		return t.exactText(all)
	}
	var parts []string
	if c.Holds != nil && c.Holds.Certified {
		parts = append(parts, fmt.Sprintf("%s at least %s windows of %s%s meet %s.", capital(atAxis(axis, c.Holds.Value)), shareText(c.Asked.Share), plaintext.Grouped(c.Holds.Requests)+" requests", t.windowText(), all))
	}
	if c.Fails != nil && c.Fails.Certified {
		if parts == nil {
			parts = append(parts, fmt.Sprintf("%s fewer than %s windows of %s%s meet %s.", capital(atAxis(axis, c.Fails.Value)), shareText(c.Asked.Share), plaintext.Grouped(c.Fails.Requests)+" requests", t.windowText(), all))
		} else {
			parts = append(parts, fmt.Sprintf("%s fewer than %s do.", capital(atAxis(axis, c.Fails.Value)), shareText(c.Asked.Share)))
		}
	}
	return strings.Join(parts, " ")
}

// exactText is what one run of each end says.
func (t *capacityText) exactText(slos string) string {
	c, axis := t.of, &t.of.Asked.Over
	what := "a window of such requests"
	if c.Length == 0 {
		what = "the trace"
	}
	text := ""
	switch {
	case c.Holds != nil && c.Fails != nil:
		text = fmt.Sprintf("%s %s keeps %s; %s it does not.", capital(atAxis(axis, c.Holds.Value)), what, slos, atAxis(axis, c.Fails.Value))
	case c.Holds != nil:
		text = fmt.Sprintf("%s %s keeps %s.", capital(atAxis(axis, c.Holds.Value)), what, slos)
	case c.Fails != nil:
		text = fmt.Sprintf("%s %s does not keep %s.", capital(atAxis(axis, c.Fails.Value)), what, slos)
	}
	return text + " It is the same every time, so this is exact for it. It says nothing of other requests."
}

// windowText is the length of a window and its warm-up.
func (t *capacityText) windowText() string {
	c := t.of
	if c.Length == 0 {
		return " (the whole trace, other decisions)"
	}
	return fmt.Sprintf(" (%s, after %s of warm-up)", plaintext.Duration(c.Length), plaintext.Duration(c.Warmup))
}

// chanceText is how likely it is that a claim is wrong.
func (t *capacityText) chanceText() string {
	c := t.of
	wrong := strconv.FormatFloat(float64(100*(1-c.Asked.Confidence)), 'g', 3, 64) + " %"
	var tested []string
	for _, end := range []*study.CapacityEnd{c.Holds, c.Fails} {
		if end != nil && end.Certified {
			tested = append(tested, fmt.Sprint(end.Windows))
		}
	}
	switch len(tested) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("The claim was tested on %s fresh windows; the chance that it is wrong is at most %s.", tested[0], wrong)
	}
	return fmt.Sprintf("Each claim was tested on %s fresh windows; the chance that either is wrong is at most %s.", strings.Join(tested, " and "), wrong)
}

// errorText is what the answer leaves out: the error of the latency model.
func (t *capacityText) errorText() string {
	c := t.of
	what := "This is chance in the traffic only. How far the latency model is off is not in it"
	if c.Exact {
		what = "How far the latency model is off is not in it"
	}
	of := &c.Setup
	if c.Holds != nil {
		of = &c.Holds.Setup
	}
	if of.Accuracy == nil || of.Accuracy.Stated == nil {
		return what + ", and not stated for this run."
	}
	return what + ": " + statedText(of.Accuracy.Stated) + "."
}

// withoutCount is a workload without the number of its requests, which a window decides.
func withoutCount(workload string) string {
	count, rest, ok := strings.Cut(workload, " requests, ")
	if ok && strings.Trim(count, "0123456789") == "" {
		return rest
	}
	return workload
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// table shows both ends.
func (t *capacityText) table() {
	c, axis := t.of, &t.of.Asked.Over
	rows := []string{t.tableHead()}
	for _, end := range []struct {
		of    *study.CapacityEnd
		holds bool
	}{{c.Holds, true}, {c.Fails, false}} {
		e := end.of
		if e == nil {
			continue
		}
		verdict := "does not hold"
		if end.holds {
			verdict = "holds"
		}
		if !e.Certified && !c.Exact {
			verdict = "not certified"
		}
		cells := []string{axisText(axis, e.Value), verdict, fmt.Sprintf("%d of %d", e.Passes, e.Windows), plaintext.Grouped(e.Requests)}
		for i := range c.Asked.SLOs {
			value := "–"
			if e.Windows > 0 {
				value = sloValue(&c.Asked.SLOs[i], e.Measured[i])
				if e.Windows > 1 {
					value += " (" + sloValue(&c.Asked.SLOs[i], e.Worst[i]) + ")"
				}
			}
			cells = append(cells, value)
		}
		cells = append(cells, plaintext.Grouped(int64(e.GPUs)))
		if c.priced() {
			cells = append(cells, plaintext.Decimal(e.CostPerMillion, 3))
		}
		rows = append(rows, strings.Join(cells, "\t"))
	}
	if len(rows) > 1 {
		fmt.Fprint(t, plaintext.Columns(strings.Join(rows, "\n")+"\n", t.Width, "requests"))
		t.Gap()
	}
}

// priced reports whether an end has a cost.
func (c *Capacity) priced() bool {
	for _, e := range []*study.CapacityEnd{c.Holds, c.Fails} {
		if e != nil && e.CostPerMillion != nil {
			return true
		}
	}
	return false
}

func (t *capacityText) tableHead() string {
	c := t.of
	cells := []string{c.Asked.Over.Name, "", "passed", "requests"}
	for i := range c.Asked.SLOs {
		head := measureText(c.Asked.SLOs[i].Measure.Name)
		if class := c.Asked.SLOs[i].Class; class != "" {
			head += " of " + plaintext.Name(class)
		}
		if !c.Exact {
			head += " (worst)"
		}
		cells = append(cells, head)
	}
	cells = append(cells, "GPUs")
	if c.priced() {
		cells = append(cells, "cost/Mtok out")
	}
	return strings.Join(cells, "\t")
}

// commands are the line that starts a server of the answer, and those that repeat the decisive
// runs.
func (t *capacityText) commands() {
	c := t.of
	if c.Holds != nil && !setup.SeveralPools(&c.Holds.Config.Config) {
		what := "each of " + plaintext.Plural(int64(c.Holds.Config.NumInstances), "instance")
		if c.Holds.Config.NumInstances == 1 {
			what = "the instance"
		}
		t.command("start", setup.ServeArguments(&c.Holds.Config.Config, c.Holds.Setup.Model), what)
	}
	for _, end := range []*study.CapacityEnd{c.Holds, c.Fails} {
		if end != nil && end.Decisive != nil {
			t.command("repeat", c.repeat(end), "a window "+atAxis(&c.Asked.Over, end.Value)+map[bool]string{true: " that passes", false: " that does not"}[end.Decisive.Pass])
		}
	}
}

// command writes a command line that can be copied, with what it is for.
func (t *capacityText) command(label string, words []string, what string) {
	t.Line(label, what+":")
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, shellQuoted(w))
	}
	fmt.Fprintf(t, "  %s\n", strings.Join(quoted, " "))
}

// repeat are the words of the command that repeats the decisive run of an end. The targets that
// an SLO is about are checked.
func (c *Capacity) repeat(end *study.CapacityEnd) []string {
	words := append([]string{"blis", "run"}, setup.Flags(&end.Repeat)...)
	for i := range c.Asked.SLOs {
		if s := &c.Asked.SLOs[i]; s.Class == "" {
			words = append(words, "--check="+s.Text())
		}
	}
	return words
}

// shellQuoted is a word as a shell reads it.
func shellQuoted(word string) string {
	if strings.IndexFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,+@%", r))
	}) < 0 && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// remarks are what a reader should know beside the answer.
func (t *capacityText) remarks() {
	c, axis := t.of, &t.of.Asked.Over
	for _, r := range c.Refused {
		t.Line("refused", axisText(axis, r.Value)+": "+ErrorLine(r.Err))
	}
	for _, pair := range c.Contradictions {
		t.Line("warning", fmt.Sprintf("the search found that it does not hold %s and holds %s: more load is not always worse here, and between the ends nothing is claimed", atAxis(axis, pair[0]), atAxis(axis, pair[1])))
	}
	if e := c.Fails; e != nil && e.Grew > 0 {
		t.Line("note", fmt.Sprintf("%s the number of requests in the system grew in %d of %d windows; if it does so at every load, the traffic has not settled: want a longer --warmup or --window", atAxis(axis, e.Value), e.Grew, e.Windows))
	}
	if c.Latency.Model != "" && axis.Name == "tp" {
		t.Line("note", "one latency model for all of the range: "+strings.TrimSpace(c.Latency.Model+" "+c.Latency.Coefficients))
	}
	if c.Scale > 1 {
		t.Line("note", fmt.Sprintf("windows are %d times as long as the pilot had them: shorter ones held what longer ones did not", c.Scale))
	}
	for _, note := range c.Notes {
		t.Line("note", note)
	}
}
