package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"blis/actors"
	"blis/metrics"
)

// labelWidth is the column in which the text of a line begins.
const labelWidth = 11

// style is how results look: how wide lines may be, and whether in colour.
type style struct {
	width  int
	colour bool
}

// textWriter writes lines that begin with a label and wrap behind it.
type textWriter struct {
	w      io.Writer
	colour bool
	width  int // of a line, columns
}

func newTextWriter(w io.Writer, s style) textWriter { return textWriter{w, s.colour, s.width} }

// writeText prints a result for a person: what ran, and what came of it.
func writeText(w io.Writer, r *actors.Result, s style) error {
	if err := writeHeader(w, &r.Setup, &r.Config, s); err != nil {
		return err
	}
	return writeOutcome(w, r, len(r.Setup.Notes), s)
}

// writeHeader prints what runs.
func writeHeader(w io.Writer, setup *actors.Setup, cfg *actors.Config, s style) error {
	var b strings.Builder
	t := newTextWriter(&b, s)
	t.what(setup, cfg)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeOutcome prints what came of a run: what became of the requests, rates,
// latencies, resources, what limited it, anomalies, notes that the header did not
// have, warnings.
func writeOutcome(w io.Writer, r *actors.Result, early int, s style) error {
	var b strings.Builder
	t := newTextWriter(&b, s)
	t.counts(r)
	t.latencies(&r.Report.Overall)
	t.targets(r.Report)
	t.resources(r)
	t.scaling(r)
	t.fitness(r)
	if text := anomalies(&r.Report.Anomalies); text != "" {
		t.line("anomalies", text)
	}
	for _, note := range r.Setup.Notes[early:] {
		t.line("note", note)
	}
	for _, warning := range warnings(r) {
		t.line("warning", warning)
	}
	if r.Digest != "" {
		t.line("digest", r.Digest)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line writes a line, wrapped at blanks.
func (t *textWriter) line(label, text string) {
	pad := strings.Repeat(" ", max(1, labelWidth-utf8.RuneCountInString(label)))
	head := label
	if t.colour {
		head = "\x1b[1m" + label + "\x1b[0m"
		if label == "warning" {
			head = "\x1b[1;33m" + label + "\x1b[0m"
		}
	}
	io.WriteString(t.w, head+pad)
	used := labelWidth
	for i, word := range words(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case used+1+n > t.width:
			io.WriteString(t.w, "\n"+strings.Repeat(" ", labelWidth))
			used = labelWidth
		default:
			io.WriteString(t.w, " ")
			used++
		}
		io.WriteString(t.w, word)
		used += n
	}
	io.WriteString(t.w, "\n")
}

// writeWrapped writes a line, wrapped at blanks. What does not fit goes on two
// columns further in than the line begins.
func writeWrapped(w io.Writer, line string, width int) {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	text := strings.Repeat(" ", indent)
	used := indent
	for i, word := range words(line[indent:]) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case used+1+n > width:
			text += "\n" + strings.Repeat(" ", indent+2)
			used = indent + 2
		default:
			text += " "
			used++
		}
		text += word
		used += n
	}
	io.WriteString(w, text+"\n")
}

// words are the parts of a text between which a line may end: a sign of percent
// stays with its number.
func words(text string) []string {
	var list []string
	for i, word := range strings.Split(text, " ") {
		if i > 0 && strings.HasPrefix(word, "%") {
			list[len(list)-1] += " " + word
			continue
		}
		list = append(list, word)
	}
	return list
}

func (t *textWriter) gap() { io.WriteString(t.w, "\n") }

func (t *textWriter) what(s *actors.Setup, cfg *actors.Config) {
	t.cluster(s, cfg)
	t.line("policies", s.Policies)
	t.line("workload", s.Workload)
	for _, note := range s.Notes {
		t.line("note", note)
	}
	t.gap()
}

// cluster says what served the requests.
func (t *textWriter) cluster(s *actors.Setup, cfg *actors.Config) {
	t.line("model", s.Model)
	t.line("cluster", fmt.Sprintf("%s %s: %s at TP %d", grouped(int64(cfg.NumInstances)*int64(s.TP)), s.Hardware, plural(int64(cfg.NumInstances), "instance"), s.TP))
	t.line("latency", s.Latency)
	t.line("instance", fmt.Sprintf("%s KV blocks of %d tokens, max_num_seqs %s, max_num_batched_tokens %s, max_model_len %s",
		grouped(s.KVBlocks), cfg.BlockSizeInTokens, grouped(int64(cfg.MaxNumSeqs)), grouped(int64(cfg.MaxNumBatchedTokens)), grouped(int64(s.MaxModelLen))))
}

func (t *textWriter) counts(r *actors.Result) {
	report := r.Report
	all := &report.Overall
	unfinished := all.States[metrics.Running] + all.States[metrics.Queued] + all.States[metrics.Pending]
	text := grouped(report.Injected) + " injected"
	if m := newMeasured(r); m != nil {
		text += fmt.Sprintf(", %s of them measured (arrived from %s)", grouped(m.Requests), measuredSpan(r))
	}
	text += ": "
	for _, state := range []metrics.State{metrics.Completed, metrics.Rejected, metrics.Dropped, metrics.TimedOut, metrics.Aborted} {
		if n := all.States[state]; n > 0 || state != metrics.Aborted {
			text += fmt.Sprintf("%s %s%s, ", grouped(n), stateWords[state], reasonsOf(all, state))
		}
	}
	t.line("requests", text+grouped(unfinished)+" unfinished")
	t.sessions(r)
	t.line("tokens", fmt.Sprintf("%s in, %s out", grouped(all.InputTokens), grouped(all.OutputTokens)))
	rates := fmt.Sprintf("offered %s req/s, completed %s req/s, %s output tokens/s",
		decimal(report.OfferedPerSecond, 1), decimal(all.RequestsPerSecond, 1), decimal(all.TokensPerSecond, 0))
	if s := report.Window.Seconds; s != nil {
		rates += fmt.Sprintf(" over %s s", decimal(s, 2))
	}
	t.line("rates", rates)
	t.gap()
}

func measuredSpan(r *actors.Result) string {
	from := r.Config.MeasureFrom.String()
	if r.Config.MeasureTo == 0 {
		return from
	}
	return from + " to " + r.Config.MeasureTo.String()
}

func (t *textWriter) latencies(s *metrics.Scope) {
	row := func(label string, cells ...string) {
		text := ""
		for _, c := range cells {
			text += strings.Repeat(" ", max(1, 13-utf8.RuneCountInString(c))) + c
		}
		fmt.Fprintf(t.w, "%-*s%s\n", labelWidth-4, label, text)
	}
	row("ms", "mean", "p50", "p90", "p99", "n")
	for _, m := range []struct {
		name    string
		summary *metrics.Summary
	}{{"TTFT", s.TTFT}, {"TPOT", s.TPOT}, {"ITL", s.ITL}, {"E2E", s.E2E}} {
		if m.summary == nil {
			row(m.name, "–", "–", "–", "–", "0")
			continue
		}
		ms := func(us float64) string { us /= 1e3; return decimal(&us, 2) }
		row(m.name, ms(m.summary.Mean), ms(m.summary.P50), ms(m.summary.P90), ms(m.summary.P99), grouped(m.summary.N))
	}
	t.gap()
}

func (t *textWriter) targets(r *metrics.Report) {
	label := "targets"
	for _, class := range r.PerClass {
		if class.SLOAttainment == nil {
			continue
		}
		t.line(label, fmt.Sprintf("%s: %s of requests within them, goodput %s req/s", class.Name, percent(class.SLOAttainment), decimal(class.Goodput, 1)))
		label = ""
	}
}

func (t *textWriter) resources(r *actors.Result) {
	all := &r.Report.Overall
	use := all.Resources
	hits := fmt.Sprintf("hit rate %s of prompt tokens", percent(use.CacheHitRate))
	if all.ExpectedHitRate != nil {
		hits += fmt.Sprintf(", the router expected %s", percent(all.ExpectedHitRate))
	}
	t.line("cache", hits)
	kv := fmt.Sprintf("mean use %s, peak %s, %s", percent(use.KVMean), percent(use.KVPeak), plural(all.Preemptions, "preemption"))
	if all.RecomputedTokens > 0 {
		kv += fmt.Sprintf(" (%s tokens recomputed)", grouped(all.RecomputedTokens))
	}
	t.line("KV", kv)
	if b, i := r.Report.Busiest, r.Report.Idlest; b != nil && i != nil && b.Name != i.Name {
		t.line("busy", fmt.Sprintf("busiest %s (a step was running %s of the time), least busy %s (%s)", b.Name, percent(&b.Utilisation), i.Name, percent(&i.Utilisation)))
	}
	if s := all.Split; s != nil {
		ms := func(us float64) string { us /= 1e3; return decimal(&us, 1) }
		t.line("E2E", fmt.Sprintf("%s ms = front end %s + queue %s + prefill %s + decode %s + recompute %s",
			ms(all.E2E.Mean), ms(s.FrontEnd), ms(s.Queue), ms(s.Prefill), ms(s.Decode), ms(s.Recompute)))
	}
	t.load(r)
}

// load says how much of the cluster's capacity was in use, what limited it, and
// how the backlog went.
func (t *textWriter) load(r *actors.Result) {
	use, l := r.Report.Overall.Resources, r.Load()
	text := "mean use: "
	if l.Share != nil {
		text = fmt.Sprintf("%s of the capacity for these lengths, about %s req/s; mean use: ", percent(l.Share), decimal(l.Capacity, 1))
	}
	t.line("load", text+fmt.Sprintf("max_num_seqs %s, KV %s, token budget %s", percent(l.MaxSeqs), percent(l.KV), percent(l.Budget)))
	line, most := sparkline(r.Report.Load.Backlog, t.width-labelWidth-30)
	t.line("backlog", fmt.Sprintf("%s up to %s in the system", line, plural(most, "request")))
	if use.Limit == "none" {
		t.line("limit", "none: requests did not wait for max_num_seqs, KV or token budget")
		return
	}
	t.line("limit", fmt.Sprintf("%s: requests waited for it %s of the time", limitNames[use.Limit], percent(limitShare(use))))
}

// limitNames are the limits as a user of vLLM sets them.
var limitNames = map[string]string{"seats": "max_num_seqs", "KV": "KV cache", "token budget": "token budget"}

// limitShare is the share of time behind Resources.Limit.
func limitShare(use *metrics.Resources) *float64 {
	switch use.Limit {
	case "seats":
		return use.LimitMaxSeqs
	case "KV":
		return use.LimitKV
	}
	return use.LimitBudget
}

// sparkline draws values as bars, joining neighbours by their maximum to fit
// the width, and returns the largest.
func sparkline(values []int64, width int) (line string, most int64) {
	bars := []rune("▁▂▃▄▅▆▇█")
	per := (len(values) + width - 1) / width
	var joined []int64
	for i, v := range values {
		if i%per == 0 {
			joined = append(joined, 0)
		}
		joined[len(joined)-1] = max(joined[len(joined)-1], v)
		most = max(most, v)
	}
	var b strings.Builder
	for _, v := range joined {
		b.WriteRune(bars[v*int64(len(bars)-1)/max(1, most)])
	}
	return b.String(), most
}

// decimal prints a number with the given decimals, "–" for a missing one.
func decimal(x *float64, decimals int) string {
	if x == nil {
		return "–"
	}
	text := strconv.FormatFloat(*x, 'f', decimals, 64)
	whole, rest, found := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n == 0 { // too large, or a sign that must stay
		return text
	}
	if whole = grouped(n); found {
		whole += "." + rest
	}
	return whole
}

// percent prints a share, "–" for a missing one.
func percent(share *float64) string {
	if share == nil {
		return "–"
	}
	return strconv.FormatFloat(100**share, 'f', 1, 64) + " %"
}

// significant is a number with three digits that count, or all of its whole
// part.
func significant(x float64) string { return decimal(&x, decimalsFor(&x)) }

// grouped prints a whole number with separators between thousands.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
