package policy

import (
	"math"

	"blis/vtime"
	"blis/workload"
)

// urgency are the SLO classes in the order that slo-based has by default, the
// most urgent first, each by all of its names.
var urgency = [...][]string{{"critical", "realtime"}, {"standard", "interactive"}, {"batch"}, {"background"}, {"sheddable"}}

// urgencyOf is the place of a class in that order; len(urgency) for any other,
// and for none.
func urgencyOf(class string) int {
	for i, names := range urgency {
		for _, name := range names {
			if name == class {
				return i
			}
		}
	}
	return len(urgency)
}

// ClassInversions finds class inversions: requests that are given a strictly
// higher priority than the last one before them of a more urgent class, if that
// one arrived no later. It looks at the last one, for what is long over blames
// nobody; and at none that arrived later, for one that admission put off may be
// due before it. Classes that have no place in the order take no part.
type ClassInversions struct {
	places byLabel[int]
	last   [len(urgency)]prioritised
}

// prioritised is a request with the priority that it got.
type prioritised struct {
	request  int64
	arrival  vtime.Time
	priority float64
	exists   bool
}

// ClassInversion says whom a request with a higher priority is put before: of
// more than one the one that is farthest below, of equal ones that of the most
// urgent class.
type ClassInversion struct {
	Urgent int64   // its number
	By     float64 // difference of the priorities, above 0 and finite
}

// NewClassInversions returns one for a run whose classes have these names,
// nil where nothing has one.
func NewClassInversions(labels *workload.Labels) *ClassInversions {
	env := Env{Labels: labels}
	return &ClassInversions{places: byLabel[int]{names: env.classes(), value: urgencyOf}}
}

// Give takes note of the priority that a request is given, a finite number, and
// reports whether it is a class inversion. Requests come in the order in which
// they get their priorities, each once.
func (c *ClassInversions) Give(req *Request, priority float64) (found ClassInversion, inverted bool) {
	place := c.places.of(req.Class)
	if place == len(urgency) {
		return found, false
	}
	lowest := priority
	for i := range c.last[:place] {
		if u := &c.last[i]; u.exists && u.arrival <= req.Arrival && u.priority < lowest {
			lowest = u.priority
			found.Urgent, inverted = u.request, true
		}
	}
	if inverted {
		found.By = min(priority-lowest, math.MaxFloat64)
	}
	c.last[place] = prioritised{req.ID, req.Arrival, priority, true}
	return found, inverted
}
