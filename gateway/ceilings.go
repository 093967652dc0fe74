package gateway

import (
	"fmt"
	"math"
)

// Ceilings say up to which saturation bands are served.
type Ceilings struct {
	Kind     CeilingKind
	Min, Max float64 // above 0 and at most 1; Static has Max alone
}

// CeilingKind is how the ceilings of bands follow from their priorities.
type CeilingKind uint8

// Kinds of ceilings, for bands 0 … m−1 in descending priority.
const (
	Static         CeilingKind = iota // Max for each
	Holdback                          // from Max for the first down to Min for the last, in equal steps by rank
	HoldbackValue                     // the same, in proportion to the priorities
	SoftReflective                    // 1 for the first, below it 1 while saturation is low; then at some ticks alone
)

// of returns the ceiling of band i of m at saturation s. p returns the priority of a band. tick is the
// number of the tick, 0 at entries.
func (c *Ceilings) of(i, m int, s float64, tick int64, p func(i int) int) float64 {
	if i == 0 {
		if c.Kind == SoftReflective {
			return 1
		}
		if c.Kind != HoldbackValue || m == 1 {
			return c.Max
		}
	}
	switch c.Kind {
	case Static:
		return c.Max
	case Holdback:
		return c.Max - float64(float64(i)*(c.Max-c.Min))/float64(m-1)
	case HoldbackValue:
		last := p(m - 1)
		return c.Min + float64((c.Max-c.Min)*float64(p(i)-last))/float64(p(0)-last)
	}
	switch {
	case s < 1-float64(float64(i)*s)/float64(m-1):
		return 1
	case s >= 1 || tick == 0 || tick%softPeriod(s) != 0:
		return 0
	}
	return 1
}

// softPeriod is the number of ticks from one at which SoftReflective serves bands that it holds back to
// the next, at a saturation below 1.
func softPeriod(s float64) int64 {
	return int64(max(1, math.Round(s/(1-s+1e-9))))
}

// Counts reports whether ceilings depend on the number of the tick.
func (c *Ceilings) Counts() bool { return c.Kind == SoftReflective }

// Check returns an error that says what is wrong with the bounds, or nil.
func (c *Ceilings) Check() error {
	for _, x := range []float64{c.Min, c.Max} {
		if !(x > 0 && x <= 1) {
			return fmt.Errorf("a ceiling is %g: want a saturation above 0 and at most 1", x)
		}
	}
	if c.Min > c.Max {
		return fmt.Errorf("the ceilings go from %g to %g: want the first not to be below the last", c.Max, c.Min)
	}
	return nil
}
