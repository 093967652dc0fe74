package report

import (
	"io"
	"strings"

	"blis/report/plaintext"
	"blis/study"
)

// Comparison is the result of a comparison with the measures that its tables
// have.
type Comparison struct {
	*study.Result
	Rows []study.Measure // nil: those of usualMeasures that say anything
}

// usualMeasures are the rows of a table, unless others are asked for.
var usualMeasures = []string{
	"throughput", "goodput", "slo_attainment",
	"mean_ttft", "p50_ttft", "p99_ttft", "mean_tpot", "p99_itl", "mean_e2e", "p99_e2e",
	"completed_share", "cache_hit_rate", "preemption_rate", "replica_hours", "cost", "fitness",
}

// JSON implements Document: docs/compare.schema.json describes it. It has all
// measures.
func (c *Comparison) JSON(w io.Writer) error { return writeObject(w, newComparisonJSON(c.Result)) }

// Text implements Document: what ran, a ranking, a table of measures, verdicts
// in words, ranks.
func (c *Comparison) Text(w io.Writer, s plaintext.Style) error {
	var b strings.Builder
	t := &comparisonText{Writer: plaintext.NewWriter(&b, s), result: c.Result, rows: c.rows()}
	t.chooseDetails()
	t.what()
	t.ranking()
	t.tables()
	t.marks()
	t.verdicts()
	for _, note := range c.Notes {
		t.Line("note", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// rows are the places of the measures that a table has.
func (c *Comparison) rows() []int {
	var list []int
	if c.Rows == nil {
		for _, name := range usualMeasures {
			if i := measureNamed(c.Result, name); hasValues(c.Result, i) {
				list = append(list, i)
			}
		}
		return list
	}
	for _, row := range c.Rows {
		list = append(list, measureNamed(c.Result, row.Name))
	}
	return list
}

// hasValues reports whether a row has anything to say: some value, and for what
// instances cost in time an autoscaler.
func hasValues(r *study.Result, row int) bool {
	measured, scales := false, false
	for i := range r.Bundles {
		b := &r.Bundles[i]
		if b.Err == nil {
			measured = measured || b.Estimates[row].Missing < len(r.Replicates)
			scales = scales || b.Scales()
		}
	}
	return measured && (scales || r.Measures[row].Name != "replica_hours")
}
