package actors

import "fmt"

// TooManyEvents is the error of a run that needs more events than Execution.MaxEvents.
type TooManyEvents struct{ Limit int64 }

// Error says how many were allowed.
func (e *TooManyEvents) Error() string {
	return fmt.Sprintf("more than %d events (requests and steps)", e.Limit)
}

// events counts the requests that arrived and the steps that instances made. The count
// at the end of a run is the same for every execution.
func (c *cluster) events() int64 {
	n := c.router.arrivals.arrived
	for _, i := range c.instances {
		for _, e := range i.engines.all() {
			n += e.Counters.Steps
		}
	}
	return n
}

// watchEvents ends a run on one goroutine soon after it has had too many events; on several
// the counts may not be read before the end. stop cancels the run.
func (c *cluster) watchEvents(stop func()) {
	if c.execution.MaxEvents > 0 && (c.execution.Workers == 1 || c.execution.Sequential) {
		c.watch = func() {
			if c.events() > c.execution.MaxEvents {
				stop()
			}
		}
	}
}

// checkEvents is the error of too many events.
func (c *cluster) checkEvents() error {
	if most := c.execution.MaxEvents; most > 0 && c.events() > most {
		return &TooManyEvents{most}
	}
	return nil
}
