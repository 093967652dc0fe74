package latency

import (
	"fmt"
	"math"
	"strings"
)

// problems collects what is wrong with an input, field by field, so that the
// user hears of everything at once. The first problem of a field wins: a value
// of the wrong type is not also reported as too small.
type problems struct {
	fields []string
	texts  []string
}

func (p *problems) add(field, format string, args ...any) {
	for _, f := range p.fields {
		if f == field {
			return
		}
	}
	p.fields = append(p.fields, field)
	p.texts = append(p.texts, field+" "+fmt.Sprintf(format, args...))
}

// between records an integer outside [low, high].
func (p *problems) between(field string, v, low, high int64) {
	if v < low || v > high {
		p.add(field, "is %d, want %d to %d", v, low, high)
	}
}

// positive records a number that is not finite or not above 0.
func (p *problems) positive(field string, v float64) {
	if !(v > 0) || math.IsInf(v, 0) {
		p.add(field, "is %v, want a finite number above 0", v)
	}
}

// notNegative records a number that is not finite or below 0.
func (p *problems) notNegative(field string, v float64) {
	if !(v >= 0) || math.IsInf(v, 0) {
		p.add(field, "is %v, want a finite number, 0 or more", v)
	}
}

// share records a number outside (0, 1].
func (p *problems) share(field string, v float64) {
	if !(v > 0 && v <= 1) {
		p.add(field, "is %v, want above 0 and at most 1", v)
	}
}

// err is nil or one line: where, then every problem.
func (p *problems) err(where string) error {
	if len(p.texts) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", where, strings.Join(p.texts, "; "))
}
