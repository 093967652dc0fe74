package report

import (
	"fmt"
	"io"
	"strings"

	"blis/report/plaintext"
	"blis/setup"
	"blis/study"
)

// Size is the smallest cluster that keeps SLOs, with what was asked.
type Size struct {
	*study.SizeResult
	Asked study.Sizing
}

// Text implements Document: the smallest cluster in sentences, the table of all candidates, how
// to start its servers, and how to repeat the decisive runs.
func (s *Size) Text(w io.Writer, style plaintext.Style) error {
	var b strings.Builder
	t := &capacityText{Writer: plaintext.NewWriter(&b, style), of: s.winner()}
	if t.of != nil {
		t.what()
	}
	if s.Partial {
		t.Line("PARTIAL", "interrupted: what follows is of the candidates that were done, and not certified")
	}
	t.Line("size", s.headline())
	if t.of != nil {
		t.claims()
	} else {
		t.Gap()
	}
	s.table(t)
	if t.of != nil {
		t.commands()
		t.remarks()
	}
	s.remarks(t)
	_, err := io.WriteString(w, b.String())
	return err
}

// winner is the answer for the best candidate, nil if there is none.
func (s *Size) winner() *Capacity {
	if s.Winner == nil || s.Winner.Holds == nil {
		return nil
	}
	return &Capacity{CapacityResult: s.Winner, Asked: s.SizeResult.Asked}
}

// headline is the answer in a line.
func (s *Size) headline() string {
	if len(s.Candidates) == 0 {
		return "no candidate was done"
	}
	best := &s.Candidates[0]
	if best.Instances == 0 {
		return fmt.Sprintf("no candidate keeps the SLOs with up to %s", plaintext.Plural(int64(s.Asked.MaxGPUs), "GPU"))
	}
	text := fmt.Sprintf("%s %s: %s at TP %d", plaintext.Grouped(int64(best.GPUs)), best.Hardware, plaintext.Plural(int64(best.Instances), "instance"), best.TP)
	if best.Ratio != (setup.PDRatio{}) {
		prefill, decode := best.Ratio.Share(best.Instances)
		text = fmt.Sprintf("%s %s: %d prefill and %s at TP %d", plaintext.Grouped(int64(best.GPUs)), best.Hardware, prefill, plaintext.Plural(int64(decode), "decode instance"), best.TP)
	}
	if best.Budget > 0 {
		text += ", max_num_batched_tokens " + plaintext.Grouped(int64(best.Budget))
	}
	if best.CostPerHour != nil {
		text += fmt.Sprintf("; %s per hour", plaintext.Decimal(best.CostPerHour, 2))
	}
	if best.CostPerMillion != nil {
		text += fmt.Sprintf(", %s per million output tokens", plaintext.Decimal(best.CostPerMillion, 3))
	}
	return text
}

// table shows all candidates, the best first.
func (s *Size) table(t *capacityText) {
	slos := s.Asked.Search.SLOs
	head := []string{"GPU", "TP", "tokens", "instances", "GPUs"}
	for i := range slos {
		head = append(head, measureText(slos[i].Measure.Name)+" (margin)")
	}
	priced, shared := false, false
	for i := range s.Candidates {
		priced = priced || s.Candidates[i].CostPerHour != nil
		shared = shared || s.Candidates[i].Ratio != setup.PDRatio{}
	}
	if shared {
		head[3] = "P + D"
	}
	if priced {
		head = append(head, "cost/h", "cost/Mtok out")
	}
	rows := []string{strings.Join(head, "\t")}
	edge := false
	for i := range s.Candidates {
		row, isEdge := s.row(&s.Candidates[i], priced)
		rows = append(rows, row)
		edge = edge || isEdge
	}
	if len(rows) == 1 {
		return
	}
	fmt.Fprint(t, plaintext.Columns(strings.Join(rows, "\n")+"\n", t.Width, "cost/Mtok out", "tokens"))
	t.Gap()
	if edge {
		t.Line("*", "a knife edge: the margin is within the stated error of the latency model, so a server may miss the bound")
	}
}

// row is a line of the table; edge says whether it has a mark.
func (s *Size) row(c *study.SizeCandidate, priced bool) (row string, edge bool) {
	slos := s.Asked.Search.SLOs
	instances, budget := fmt.Sprint(c.Instances), "–"
	if c.Ratio != (setup.PDRatio{}) && c.Instances > 0 {
		prefill, decode := c.Ratio.Share(c.Instances)
		instances = fmt.Sprintf("%d + %d", prefill, decode)
	}
	if c.Instances == 0 {
		instances = strings.TrimSpace(c.Ratio.String() + " too few")
	}
	if c.Budget > 0 {
		budget = plaintext.Grouped(int64(c.Budget))
	}
	cells := []string{c.Hardware, fmt.Sprint(c.TP), budget, instances, plaintext.Grouped(int64(c.GPUs))}
	for i, x := range c.Measured {
		mark := ""
		if c.Edge[i] {
			mark, edge = " *", true
		}
		cells = append(cells, fmt.Sprintf("%s (%s %%)%s", sloValue(&slos[i], x), plaintext.Signed(100*c.Margins[i], 0), mark))
	}
	if priced {
		cells = append(cells, plaintext.Decimal(c.CostPerHour, 2), plaintext.Decimal(c.CostPerMillion, 3))
	}
	return strings.Join(cells, "\t"), edge
}

// remarks are what a reader should know beside the table.
func (s *Size) remarks(t *capacityText) {
	if s.SizeResult.Latency.Model != "" {
		text := "one latency model for all candidates: " + strings.TrimSpace(s.SizeResult.Latency.Model+" "+s.SizeResult.Latency.Coefficients)
		if l := &s.SizeResult.Latency; l.Metric != "" {
			text += fmt.Sprintf("; its largest expected error among them is %s %s %%", l.Metric, percentage(l.Worst))
		}
		t.Line("note", text)
	}
	for i := range s.Candidates {
		if !s.Candidates[i].Certified {
			t.Line("note", "only the first is certified; the others are of one window for each number of instances")
			break
		}
	}
	for _, r := range s.Refused {
		t.Line("refused", r.Name+": "+ErrorLine(r.Err))
	}
}
