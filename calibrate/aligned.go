package calibrate

import (
	"math"

	"blis/calibrate/measured"
	"blis/vtime"
)

// align turns the times that an engine stamped into what a client would have
// measured: TTFT and E2E from arrival on. The clocks of arrivals and of the
// engine have unknown origins; they are laid so that the request that reached
// the queue fastest was queued as it arrived. Runs without such times stay as
// they are.
func align(r *measured.Run) {
	offset := vtime.Duration(math.MaxInt64)
	for i := range r.Requests {
		if q := &r.Requests[i]; q.HasEngineTimes {
			offset = min(offset, q.Queued.Sub(q.Arrival))
		}
	}
	for i := range r.Requests {
		if q := &r.Requests[i]; q.HasEngineTimes && !q.Failed {
			q.TTFT = q.FirstToken.Sub(q.Arrival) - offset
			q.E2E = q.LastToken.Sub(q.Arrival) - offset
		}
	}
}
