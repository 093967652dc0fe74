package traces

import (
	"fmt"

	"blis/workload"
)

// Rate is the mean number of arrivals per second of the requests that are
// replayed, (n − 1) / (last − first arrival); 0 when they are one or arrive at
// once.
func (t *Trace) Rate() float64 {
	first, last := t.arrival(t.table.at(t.first)), t.arrival(t.table.at(t.end-1))
	if last <= first {
		return 0
	}
	return float64(t.end-t.first-1) / last.Sub(first).Seconds()
}

// Rescale divides the times between arrivals by one factor, so that they have a
// mean rate above 0. It is called before the first Pull, on a trace whose Rate is
// not 0.
func (t *Trace) Rescale(rate float64) error {
	t.options.Speedup = float64(t.options.Speedup * (rate / t.Rate()))
	if last := t.arrival(t.table.at(t.end - 1)); last > workload.Latest {
		return fmt.Errorf("rate: %v: the last arrival would pass the end of virtual time, 2⁶² µs; want a higher rate", rate)
	}
	return nil
}
