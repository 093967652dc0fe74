package report

import (
	"fmt"
	"strings"

	"blis/actors"
	"blis/metrics"
	"blis/report/plaintext"
)

// longTail is how many times the p99 TTFT of every instance that came later the
// overall one is, if it comes from the backlog of the first instances.
const longTail = 2

// scalingWarnings are what a reader of a run with an autoscaler must know.
func scalingWarnings(r *actors.Result) []string {
	var list []string
	for i := range r.PoolScaling {
		if text := signalBelowThreshold(r, &r.PoolScaling[i]); text != "" {
			list = append(list, text)
		}
	}
	if r.Scaling == nil {
		return list
	}
	if text := firstBacklog(r); text != "" {
		list = append(list, text)
	}
	return list
}

// signalBelowThreshold warns that the signal of the autoscaler never passed its
// threshold, while the queue grew; it names what requests waited for.
func signalBelowThreshold(r *actors.Result, s *actors.PoolScaling) string {
	w, of := s.Watch, ""
	if s.Pool != "" {
		of = " of " + s.Pool
	}
	if w.Signal == "" || w.Passed || !unsteady(r.Report) {
		return ""
	}
	limit := r.Report.Overall.Resources.Limit
	if !w.Known {
		return fmt.Sprintf("autoscaling%s: signal %s could not be measured, while the queue grew and requests waited for %s; see autoscale.params.signal", of, w.Signal, limit)
	}
	return fmt.Sprintf("autoscaling%s: signal %s never passed its threshold of %.3g (it came to %.3g), while the queue grew and requests waited for %s; see autoscale.params.signal",
		of, w.Signal, w.Limit, w.Nearest, limit)
}

// firstBacklog warns that the tail of TTFT comes from the first instances:
// requests were sent there while there were too few instances, and requests
// stay where they were routed.
func firstBacklog(r *actors.Result) string {
	all := r.Report.Overall.TTFT
	first := int(r.Scaling.First) * max(1, r.Setup.Ranks) // scopes are ranks
	if all == nil || len(r.Report.PerInstance) <= first {
		return ""
	}
	var behind []string // the first instances with a backlog
	for i := range r.Report.PerInstance[:first] {
		s := &r.Report.PerInstance[i]
		if s.TTFT != nil && s.TTFT.P99 >= all.P99/longTail && s.QueueWait != nil && s.QueueWait.P99 >= s.TTFT.P99/2 {
			behind = append(behind, s.Name)
		}
	}
	later, n := largestP99(r.Report.PerInstance[first:])
	if len(behind) == 0 || n == 0 || all.P99 < longTail*later {
		return ""
	}
	return fmt.Sprintf("p99 TTFT of %s ms is the backlog of %s from when there were too few instances: requests stay where they were routed; on the instances added later it is at most %s ms",
		plaintext.Significant(all.P99/1e3), several(behind), plaintext.Significant(later/1e3))
}

// largestP99 returns the largest p99 TTFT of some instances, µs, and their
// number of requests.
func largestP99(list metrics.Scopes) (most float64, n int64) {
	for i := range list {
		if s := list[i].TTFT; s != nil {
			most, n = max(most, s.P99), n+s.N
		}
	}
	return most, n
}

// several lists names, the first few if they are many.
func several(names []string) string {
	const shown = 3
	if len(names) > shown {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
	}
	return strings.Join(names, ", ")
}
