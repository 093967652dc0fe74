package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"blis/report/plaintext"
	"blis/study/evaluate"
)

// Evaluation is what a candidate of a search program is worth.
type Evaluation struct {
	*evaluate.Answer
	Suite string // its name
}

// JSON implements Document: one line, as programs read many of them.
func (e *Evaluation) JSON(w io.Writer) error {
	return json.NewEncoder(w).Encode(e.Answer)
}

// Text implements Document.
func (e *Evaluation) Text(w io.Writer, s plaintext.Style) error {
	t := plaintext.NewWriter(w, s)
	t.Line("suite", e.Suite)
	if f := e.Error; f != nil {
		where := ""
		if f.Line > 0 {
			where = fmt.Sprintf(", line %d", f.Line)
		}
		t.Line("score", "0: the candidate failed ("+string(f.Kind)+where+")")
		t.Line("error", f.Message)
		return nil
	}
	t.Line("score", fmt.Sprintf("%.4f; the baseline has 0.5, and more is better", e.Score))
	t.Gap()
	fmt.Fprint(t, plaintext.Columns(evaluationTable(&e.Result), s.Width))
	if h := e.HeldOut; h != nil {
		t.Gap()
		if h.Error != nil {
			t.Line("held out", "failed: "+h.Error.Message)
		} else {
			t.Line("held out", fmt.Sprintf("%.4f; not in the score", h.Score))
			fmt.Fprint(t, plaintext.Columns(evaluationTable(&h.Result), s.Width))
		}
	}
	t.Gap()
	t.Line("feedback", strings.Join(strings.Fields(e.Feedback), " "))
	for _, note := range e.Notes {
		t.Line("note", note)
	}
	for _, warning := range e.Warnings {
		t.Line("warning", warning)
	}
	t.Line("ids", fmt.Sprintf("policy %.12s, workload %.12s, cluster %.12s, digest %s", e.Outputs.Policy, e.Outputs.Workload, e.Outputs.Cluster, e.Outputs.Digest))
	return nil
}

// evaluationTable has a row per scenario: its score and the score of each measure.
func evaluationTable(r *evaluate.Result) string {
	var names []string
	for i := range r.PerScenario {
		for name := range r.PerScenario[i].Objectives { // any order: they are sorted
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	var b strings.Builder
	fmt.Fprintf(&b, "scenario\tscore\t%s\n", strings.Join(names, "\t"))
	for i := range r.PerScenario {
		one := &r.PerScenario[i]
		fmt.Fprintf(&b, "%s\t%.4f", one.ID, one.Score)
		for _, name := range names {
			if u, measured := one.Objectives[name]; measured {
				fmt.Fprintf(&b, "\t%.4f", u)
			} else {
				b.WriteString("\t–")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
