package vtime

// IMPORTANT: The order of these classes is semantics. Events of one microsecond
// act in the order of their classes, whatever process they belong to, so a
// class moved or inserted changes results. A kind of event that is new takes a
// number of its own, and only the events of that kind may change.
//
// In the order of one microsecond: requests arrive, are admitted, routed and
// delivered; what a transfer brings is there before requests are queued, and
// those are queued before a step forms its batch; a step that completes a
// request at its deadline comes before the time-out; the router hears of all
// that before instances are scaled, and what is published shows the end of the
// microsecond.
const (
	ClassArrival     uint8 = iota // a request reaches the router
	ClassAdmission                // the router admits it, or not
	ClassRouting                  // the router chooses an instance
	ClassDelivery                 // a request, or the order to stop, reaches its instance
	ClassTransfer                 // an instance hears that a shared storage tier has moved entries
	ClassQueued                   // a request enters the wait queue of its instance
	ClassStep                     // a step ends, and the next one is formed
	ClassTimeout                  // the deadline of a request passes
	ClassNotice                   // the router hears what became of a request, or of a cache
	ClassScale                    // the autoscaler evaluates
	ClassScaleAction              // the router carries out what the autoscaler decided
	ClassReady                    // an instance has started
	ClassRefresh                  // instances publish their state
)
