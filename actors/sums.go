package actors

import (
	"fmt"
	"math"
	"slices"

	"blis/metrics"
	"blis/vtime"
)

// overhead is the client overhead per token or per request of a latency model.
func overhead(per string, micros float64) (vtime.Duration, error) {
	d, err := vtime.Truncate(micros)
	if err != nil || d < 0 || d > metrics.MaxOverhead {
		return 0, inputErrorf("the latency model's overhead per %s is %g µs: want 0 to %d (--alpha-coeffs)", per, micros, int64(metrics.MaxOverhead))
	}
	return d, nil
}

// noteCutSums notes sums over the instances that are cut off at 2⁶³−1.
func (r *Result) noteCutSums() {
	c := &r.Report.Overall.Resources.Counters
	for _, sum := range []struct {
		name  string
		value int64
	}{{"block_us", c.BlockMicros}, {"running_us", c.RunningMicros}, {"waiting_us", c.WaitingMicros}} {
		if sum.value == math.MaxInt64 {
			r.Setup.Notes = append(slices.Clone(r.Setup.Notes), fmt.Sprintf("%s of all instances passes 2⁶³−1 and is cut off there; those of single instances and of kv_use are exact", sum.name))
		}
	}
}
