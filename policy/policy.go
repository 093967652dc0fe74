package policy

import "blis/workload"

// Request is what the control plane and the schedulers may know of a request. They
// do not know the true output length.
type Request struct {
	workload.Identity
	workload.Terms // Spans are valid during the call; Hint is 0 when an instance gave the request back

	Delays  int32 // decisions of admission that delayed it
	Attempt int32 // earlier routings: 0 unless an instance handed it back
}
