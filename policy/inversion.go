package policy

import (
	"math"

	"blis/vtime"
	"blis/workload"
)

// urgency lists the SLO classes in the default order of slo-based, the most urgent
// first, each with all its names.
var urgency = [...][]string{{"critical", "realtime"}, {"standard", "interactive"}, {"batch"}, {"background"}, {"sheddable"}}

// urgencyOf returns the index of a class in urgency, len(urgency) for any other
// class and for none.
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

// ClassInversions finds class inversions. A request is one if its priority is
// strictly higher than the priority of a request of a more urgent class: of the last
// one of that class that got a priority, if it did not arrive later. Only the last
// one counts, because older ones may be long over. One that arrived later does not
// count, because a request that admission delayed may be due before it. Classes that
// are not in urgency take no part.
type ClassInversions struct {
	ranks byLabel[int] // urgencyOf
	last  [len(urgency)]prioritised
}

// prioritised is a request with the priority that it got.
type prioritised struct {
	request  int64
	arrival  vtime.Time
	priority float64
	exists   bool
}

// ClassInversion names the more urgent request with the lower priority: of several
// the one with the lowest, of equal ones the one of the most urgent class.
type ClassInversion struct {
	Urgent int64   // number of that request
	By     float64 // difference of the priorities, above 0 and finite
}

// NewClassInversions returns a ClassInversions for a run with these labels; nil:
// classes have no names.
func NewClassInversions(labels *workload.Labels) *ClassInversions {
	env := Env{Labels: labels}
	return &ClassInversions{ranks: byLabel[int]{names: env.classes(), value: urgencyOf}}
}

// Give notes that a request is given a priority, a finite number, and reports
// whether the request is a class inversion. Give is called once per request, in the
// order in which requests get their priorities.
func (c *ClassInversions) Give(req *Request, priority float64) (found ClassInversion, inverted bool) {
	rank := c.ranks.of(req.Class)
	if rank == len(urgency) {
		return found, false
	}
	lowest := priority
	for i := range c.last[:rank] {
		if u := &c.last[i]; u.exists && u.arrival <= req.Arrival && u.priority < lowest {
			lowest = u.priority
			found.Urgent, inverted = u.request, true
		}
	}
	if inverted {
		found.By = min(priority-lowest, math.MaxFloat64)
	}
	c.last[rank] = prioritised{req.ID, req.Arrival, priority, true}
	return found, inverted
}
