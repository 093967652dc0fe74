package openmetrics

import (
	"blis/actors"
	"blis/metrics"
	"blis/vtime"
)

// Requests takes in the requests of a run, in any order, for the metrics that are about requests. Its memory
// grows with the instances and with virtual time, not with the requests.
type Requests struct {
	step      vtime.Duration
	instances []*ofInstance // by number
}

// NewRequests returns one for samples at multiples of step, above 0.
func NewRequests(step vtime.Duration) *Requests { return &Requests{step: step} }

// ofInstance is what the requests of one instance add up to.
type ofInstance struct {
	histograms     [histogramKinds]growth // of buckets, and of the sum in µs
	prompt, tokens growth                 // tokens of prompts and first tokens
	finished       [len(reasons)]growth
}

// reasons are why requests finished, as vLLM names them.
var reasons = [...]string{"abort", "length", "stop"}

// Indices of reasons.
const (
	aborted = iota
	lengthLimit
	stopped
)

// growth is by how much counters grew between two samples. Row k is of [k·step, (k+1)·step).
type growth struct{ rows [][]int64 }

// at returns the row of sample k, of so many counters.
func (g *growth) at(k, counters int) []int64 {
	for len(g.rows) <= k {
		g.rows = append(g.rows, nil)
	}
	if g.rows[k] == nil {
		g.rows[k] = make([]int64, counters)
	}
	return g.rows[k]
}

// row is the growth of a single counter up to sample i+1.
func (g *growth) row(i int) int64 {
	if i >= len(g.rows) || g.rows[i] == nil {
		return 0
	}
	return g.rows[i][0]
}

// Add takes in a request. Those that are not measured, and those that no instance had, are in no metric.
func (q *Requests) Add(r *actors.Row) {
	if r.Instance < 0 || !r.Measured() {
		return
	}
	for len(q.instances) <= int(r.Instance) {
		q.instances = append(q.instances, &ofInstance{})
	}
	of := q.instances[r.Instance]
	if d, ok := r.TTFT(); ok {
		q.observe(of, ttftOf, r.FirstToken, d)
		k := q.bin(r.FirstToken)
		of.prompt.at(k, 1)[0] += int64(r.Input)
		of.tokens.at(k, 1)[0]++
	}
	if r.Finished == vtime.Never || r.State == metrics.Dropped || r.State == metrics.Rejected {
		return
	}
	reason := aborted
	if r.State == metrics.Completed {
		reason = stopped
		if r.Reason == metrics.LengthCapped {
			reason = lengthLimit
		}
	}
	of.finished[reason].at(q.bin(r.Finished), 1)[0]++
	if d, ok := r.E2E(); ok {
		q.observe(of, e2eOf, r.Finished, d)
	}
	if r.State != metrics.Completed || r.FirstToken == vtime.Never {
		return
	}
	q.observe(of, queueOf, r.Finished, r.Scheduled.Sub(r.Queued))
	q.observe(of, prefillOf, r.Finished, r.FirstToken.Sub(r.Scheduled))
	q.observe(of, decodeOf, r.Finished, r.LastToken.Sub(r.FirstToken))
	q.observe(of, inferenceOf, r.Finished, r.LastToken.Sub(r.Scheduled))
}

// bin is the row of what happens at t.
func (q *Requests) bin(t vtime.Time) int { return int(int64(t) / int64(q.step)) }

// observe adds an observation made at t to a histogram.
func (q *Requests) observe(of *ofInstance, kind int, t vtime.Time, d vtime.Duration) {
	bounds := requestHistograms[kind].bounds
	row := of.histograms[kind].at(q.bin(t), len(bounds)+2)
	bucket := 0
	for bucket < len(bounds) && int64(d) > bounds[bucket] {
		bucket++
	}
	row[bucket]++
	row[len(bounds)+1] += int64(d)
}
