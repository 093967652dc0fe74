package report

import (
	"fmt"
	"strings"

	"blis/actors"
	"blis/metrics"
	"blis/report/plaintext"
	"blis/vtime"
)

// failures is what failed, and what became of the requests there.
type failures struct {
	Availability *float64          `json:"availability"`
	CutOff       int64             `json:"attempts_lost"`
	Refused      int64             `json:"attempts_refused"`
	PullFailed   int64             `json:"attempts_pull_failed,omitempty"`
	Redirected   int64             `json:"redirected"`
	Resent       int64             `json:"resent"`
	Retried      int64             `json:"retried_requests"`
	Recovered    int64             `json:"recovered_requests"`
	Failed       int64             `json:"failed_requests"`
	TimedOut     int64             `json:"timed_out_requests"`
	LostTokens   int64             `json:"lost_tokens"`
	Instances    instancesByOutage `json:"per_instance"`
}

// instanceOutage is how often an instance was down.
type instanceOutage struct {
	name      string
	Crashes   int64    `json:"crashes"`
	Up        int64    `json:"up_us"`
	Down      int64    `json:"down_us"`
	Detected  int64    `json:"crashes_detected"`
	Detection *float64 `json:"detection_mean_us"` // null: the router learnt of none
}

// instancesByOutage is by instance, in their order.
type instancesByOutage []instanceOutage

// MarshalJSON prints an object from instance to outage that keeps the order.
func (s instancesByOutage) MarshalJSON() ([]byte, error) {
	names := make([]string, len(s))
	for i := range s {
		names[i] = s[i].name
	}
	return metrics.Object(names, func(i int) any { return &s[i] })
}

// newFailures returns nil for a run in which nothing could fail.
func newFailures(r *actors.Result) *failures {
	f := r.Failures
	if f == nil {
		return nil
	}
	j := &failures{
		Availability: f.Availability, CutOff: f.CutOff, Refused: f.Refused, PullFailed: f.PullFailed, Redirected: f.Redirected, Resent: f.Resent, Retried: f.Retried,
		Recovered: f.Recovered, Failed: f.Failed, TimedOut: f.TimedOut, LostTokens: f.LostTokens,
	}
	for i := range f.Instances {
		x := &f.Instances[i]
		o := instanceOutage{r.Names.Servers[i], x.Crashes, int64(x.Up), int64(x.Down), x.Detected, nil}
		if x.Detected > 0 {
			mean := float64(x.Detection) / float64(x.Detected)
			o.Detection = &mean
		}
		j.Instances = append(j.Instances, o)
	}
	return j
}

// failures says how often instances were down, and what became of the requests there.
func (t *runText) failures(r *actors.Result) {
	f := r.Failures
	if f == nil {
		return
	}
	var crashes, detected int64
	var down, detection vtime.Duration
	for i := range f.Instances {
		x := &f.Instances[i]
		crashes, detected, down, detection = crashes+x.Crashes, detected+x.Detected, down+x.Down, detection+x.Detection
	}
	seconds := down.Seconds()
	times := "1 crash"
	if crashes != 1 {
		times = plaintext.Grouped(crashes) + " crashes"
	}
	text := fmt.Sprintf("availability %s; %s, %s instance-seconds down", plaintext.Percent(f.Availability), times, plaintext.Decimal(&seconds, 1))
	switch {
	case detected > 0 && detection == 0:
		text += "; the router knew at once"
	case detected > 0:
		mean := detection.Seconds() / float64(detected)
		text += fmt.Sprintf("; the router knew after %s s on average", plaintext.Decimal(&mean, 1))
	}
	t.Line("failures", text)
	if f.CutOff == 0 {
		return
	}
	parts := []string{fmt.Sprintf("%s with %s tokens in KV, %s of them refused while down", plaintext.Plural(f.CutOff, "attempt"), plaintext.Grouped(f.LostTokens), plaintext.Grouped(f.Refused))}
	if f.PullFailed > 0 {
		parts = append(parts, plaintext.Grouped(f.PullFailed)+" by a pull that failed")
	}
	for _, part := range []struct {
		n    int64
		what string
	}{{f.Redirected, "routed again"}, {f.Resent, "sent again by clients"}, {f.TimedOut, "timed out"}, {f.Failed, "failed"}} {
		if part.n > 0 {
			parts = append(parts, plaintext.Grouped(part.n)+" "+part.what)
		}
	}
	if f.Retried > 0 {
		parts = append(parts, fmt.Sprintf("%s tried again, %s of them completed", plaintext.Plural(f.Retried, "request"), plaintext.Grouped(f.Recovered)))
	}
	t.Line("lost", strings.Join(parts, "; "))
}
