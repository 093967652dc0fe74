package report

import (
	"fmt"
	"io"

	"blis/actors"
	"blis/metrics"
	"blis/report/plaintext"
)

// Check says which bounds a run kept.
func Check(r *actors.Result, bounds []metrics.Constraint) []metrics.ConstraintResult {
	var list []metrics.ConstraintResult
	run := r.Figures()
	for i := range bounds {
		list = append(list, bounds[i].Of(run))
	}
	return list
}

// writeChecks writes a line for each bound.
func writeChecks(w io.Writer, list []metrics.ConstraintResult, s plaintext.Style) {
	t := plaintext.NewWriter(w, s)
	for i := range list {
		c := &list[i]
		m, err := metrics.FindMeasure(c.Measure)
		if err != nil {
			panic(err) // it was measured by it
		}
		verdict := "PASS"
		if !c.Pass {
			verdict = "FAIL"
		}
		value := "not measured"
		if c.Value != nil {
			value = inUnit(&m, c.Value)
		}
		t.Line("check", fmt.Sprintf("%s %s %s %s: %s", verdict, c.Measure, c.Operator, inUnit(&m, &c.Bound), value))
	}
}
