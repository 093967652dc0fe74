package gateway

import "math"

// Demand is how many requests in flight should end for the requests that wait, and of which band these are.
type Demand struct {
	Band     int
	Requests int64
}

// Demand returns what the queue wants after a cycle that ended at a ceiling, at saturation s. lowest is the band of
// the request that would be evicted first: no band wants anything that is not above it. Of the others the first one
// wants as many as bring saturation down to its ceiling, where requests wait and the ceiling, if above 0, is reached;
// share is what a request in flight contributes to saturation.
func (q *Queue) Demand(s float64, tick int64, lowest int, share float64) Demand {
	priority := func(i int) int { return q.bands[i].priority }
	for i, b := range q.bands {
		if b.priority <= lowest {
			break
		}
		c := q.rules.Ceilings.of(i, len(q.bands), s, tick, priority)
		if c <= 0 || s < c || b.waiting == 0 {
			continue
		}
		n := int64(1)
		if wanted := math.Ceil((s - c) / share); wanted > 1 {
			n = int64(min(wanted, mostDemand))
		}
		return Demand{b.priority, n}
	}
	return Demand{}
}

// mostDemand is the most requests that are evicted at a time.
const mostDemand = 2
