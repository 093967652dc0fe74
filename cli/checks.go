package cli

import (
	"fmt"
	"io"
	"strings"

	"blis/actors"
	"blis/metrics"
)

// checks is what became of the bounds of --check.
type checks []metrics.ConstraintResult

// bounds reads --check.
func (o *outputs) bounds() ([]metrics.Constraint, error) {
	var list []metrics.Constraint
	for _, text := range o.Check {
		some, err := metrics.ParseConstraints(text)
		if err != nil {
			return nil, &inputError{"--check: " + err.Error()}
		}
		list = append(list, some...)
	}
	return list, nil
}

// checksOf judges a run.
func checksOf(bounds []metrics.Constraint, r *actors.Result) checks {
	if r == nil {
		return nil
	}
	var list checks
	run := r.Figures()
	for i := range bounds {
		list = append(list, bounds[i].Of(run))
	}
	return list
}

// err ends a command when a bound was not kept; what failed has been printed.
func (c checks) err() error {
	for i := range c {
		if !c[i].Pass {
			return errCheck
		}
	}
	return nil
}

// writeChecks prints a line for each bound.
func writeChecks(w io.Writer, list checks, s style) {
	var b strings.Builder
	t := newTextWriter(&b, s)
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
		t.line("check", fmt.Sprintf("%s %s %s %s: %s", verdict, c.Measure, c.Operator, inUnit(&m, &c.Bound), value))
	}
	io.WriteString(w, b.String())
}
