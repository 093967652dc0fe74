package traces

import (
	"math"
	"strings"
	"testing"

	"blis/workload"
)

// A trace is stretched as a whole: the gaps keep their proportions.
func TestRescaledTraceHasTheRate(t *testing.T) {
	const text = "arrival_us,input_tokens,output_tokens\n5000000,1,1\n6000000,1,1\n9000000,1,1\n"
	for _, c := range []struct{ rate, second, third float64 }{{0.5, 1e6, 4e6}, {1, 0.5e6, 2e6}, {0.25, 2e6, 8e6}} {
		trace, err := Open("t", strings.NewReader(text), Options{})
		if err != nil || trace.Rate() != 0.5 {
			t.Fatal(trace.Rate(), err)
		}
		if err := trace.Rescale(c.rate); err != nil || math.Abs(trace.Rate()/c.rate-1) > 1e-6 {
			t.Errorf("rate %v, want %v: %v", trace.Rate(), c.rate, err)
		}
		var at []float64
		for r := (workload.Request{}); ; {
			more, err := trace.Pull(&r)
			if err != nil || !more {
				break
			}
			at = append(at, float64(r.Arrival))
		}
		if at[1]-at[0] != c.second || at[2]-at[0] != c.third {
			t.Errorf("rate %v: arrivals %v", c.rate, at)
		}
	}
	once, err := Open("t", strings.NewReader("arrival_us,input_tokens,output_tokens\n5,1,1\n5,1,1\n"), Options{})
	if err != nil || once.Rate() != 0 {
		t.Errorf("rate %v of requests that arrive at once", once.Rate())
	}
	slow, err := Open("t", strings.NewReader(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := slow.Rescale(1e-15); err == nil || !strings.Contains(err.Error(), "want a higher rate") {
		t.Errorf("%v", err)
	}
}
