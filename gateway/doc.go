// Package gateway is the queue in front of the routing policy: requests wait there until the instances
// have room, and leave it by priority and fairly among tenants, as in the flow control of llm-d's
// endpoint picker.
//
//	rules.go     how a queue orders, limits and refuses
//	ceilings.go  up to which saturation each band is served
//	demand.go    how many requests in flight should end for those that wait
//	queue.go     entry, the cycle that dispatches, leaving without dispatch
//	band.go      the requests of one priority; flow.go those of one tenant in it
//	fairness.go  which flow of a band is served next
//	indexed.go   a heap whose elements know their places
//
// A band is a priority, a flow is a tenant in a band:
//
//	band  4  │ flow "blue"  r7 r9
//	         │ flow "red"   r8
//	band  3  │ (empty)
//	band −1  │ flow "blue"  r2 r3 r4      below 0: may be shed
//
// Each [Queue.Cycle] looks at the bands from above. A band whose ceiling the saturation of the
// instances has reached ends it, whether anything waits there or not: no lower band overtakes. The
// first band with requests below its ceiling is served one.
//
// The package knows neither instances nor time: package actors asks it at entries and ticks.
package gateway
