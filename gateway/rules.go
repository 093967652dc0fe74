package gateway

import "blis/vtime"

// Rules are how a queue orders, limits and refuses.
type Rules struct {
	Order    Order
	Fairness Fairness
	// Weight returns the weight of a flow for VTC, above 0; nil: 1 for each.
	Weight func(flow string) float64

	Total, PerBand int64 // requests that may wait at most, in all and in a band; 0: no limit
	// Shed makes room where Total is reached: a request of a band below 0, and below that of the
	// newcomer, leaves.
	Shed bool
	TTL  vtime.Duration // a request waits for so long at most; 0: for ever

	Ceilings Ceilings
}

// Order is the order of the requests of a flow. Ties are broken by their numbers.
type Order uint8

// Orders.
const (
	FCFS        Order = iota // by time of entry
	EDF                      // by the time at which they expire, then of entry
	SLODeadline              // by arrival + TTFT target, those without target last, then by arrival
)

// Fairness chooses among the flows of a band.
type Fairness uint8

// Ways to choose.
const (
	// GlobalStrict serves the flow whose first request comes first by the order of requests.
	GlobalStrict Fairness = iota
	// RoundRobin serves flows in the byte order of their names, from the one after the one served last.
	RoundRobin
	// VTC serves the flow that was given least: a virtual token counter, in 1/65,536 prompt tokens by
	// weight, ties by name (Sheng et al., Fairness in Serving Large Language Models, OSDI 2024). A
	// flow that was empty begins with no less than the least of those that wait, or where none waits
	// than the one served last.
	VTC
)

// Request is what a queue knows of a request.
type Request struct {
	Number   int64 // of the request in the run
	Band     int   // its priority: higher first; below 0: may be shed
	Flow     string
	Arrival  vtime.Time
	Deadline vtime.Time     // of its client; vtime.Never: none
	Target   vtime.Duration // of its first token, from arrival; 0: none
	Tokens   int32          // of its prompt
}

// BandOf returns the priority of the band of an SLO class by its name, as llm-d's users give them to
// InferenceObjectives: below 0 for work that may be shed.
func BandOf(class string) int {
	switch class {
	case "critical", "realtime":
		return 4
	case "batch":
		return -1
	case "sheddable":
		return -2
	case "background":
		return -3
	}
	return 3 // standard, interactive, and those that are not known
}
