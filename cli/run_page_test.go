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
	}
	text := done(t, small("--num-requests", "500", "--details", "--format", "json")...).out
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
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
	if len(r.Distributions.PerClass) != 1 {
		t.Errorf("%d classes", len(r.Distributions.PerClass))
	}
	text = done(t, small("--format", "json")...).out
	r.Distributions = nil
	if err := json.Unmarshal([]byte(text), &r); err != nil || r.Distributions != nil {
		t.Errorf("distributions without --details; %v", err)
	}
}
