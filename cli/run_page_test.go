package cli

import (
	"encoding/json"
	"testing"
)

// --details adds exact points of the distributions, whose percentiles are those of the result.
func TestDetailsAreThoseOfTheResult(t *testing.T) {
	type curve struct {
		N     int64
		Share []float64
		Us    []int64
	}
	var r struct {
		Overall struct {
			TTFT struct {
				N        int64
				Min, Max int64
				P50, P99 float64
			} `json:"ttft_us"`
		}
		Distributions *struct {
			Overall struct {
				TTFT curve `json:"ttft_us"`
			}
			PerClass map[string]json.RawMessage `json:"per_class"`
		}
		Worst []struct {
			Outcome struct {
				Request int64
				TTFT    int64 `json:"ttft_us"`
			}
			Routing struct {
				Request    int64
				Candidates []any
			}
		} `json:"worst_requests"`
	}
	text := done(t, small("--num-requests", "500", "--details", "--format", "json")...).out
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	for _, bad := range loadSchema(t).check(text) {
		t.Error(bad)
	}
	c, s := r.Distributions.Overall.TTFT, r.Overall.TTFT
	last := len(c.Us) - 1
	if c.N != s.N || c.Us[0] != s.Min || c.Us[last] != s.Max || c.Share[last] != 1 {
		t.Errorf("%d samples from %d to %d, want %d from %d to %d", c.N, c.Us[0], c.Us[last], s.N, s.Min, s.Max)
	}
	for i, share := range c.Share { // an order statistic on each side of the percentile
		if share <= 0.5 && float64(c.Us[i]) > s.P50 || share >= 0.51 && float64(c.Us[i]) < s.P50 || share <= 0.99 && float64(c.Us[i]) > s.P99 {
			t.Errorf("share %v at %d µs, p50 %v, p99 %v", share, c.Us[i], s.P50, s.P99)
		}
	}
	if len(r.Worst) != worstRequests || r.Worst[0].Outcome.TTFT != s.Max {
		t.Errorf("%d requests, the first with a TTFT of %d µs, want %d with %d", len(r.Worst), r.Worst[0].Outcome.TTFT, worstRequests, s.Max)
	}
	for i, w := range r.Worst {
		if w.Routing.Request != w.Outcome.Request || len(w.Routing.Candidates) != 2 || i > 0 && w.Outcome.TTFT > r.Worst[i-1].Outcome.TTFT {
			t.Errorf("request %d: %+v", i, w)
		}
	}
	if len(r.Distributions.PerClass) != 1 {
		t.Errorf("%d classes", len(r.Distributions.PerClass))
	}
	text = done(t, small("--format", "json")...).out
	r.Distributions = nil
	if err := json.Unmarshal([]byte(text), &r); err != nil || r.Distributions != nil {
		t.Errorf("distributions without --details; %v", err)
	}
}
