package report

import (
	"testing"

	"blis/calibrate"
)

// A server that completed nothing has no relative error.
func TestThroughputInWords(t *testing.T) {
	for _, c := range []struct {
		t    calibrate.Throughput
		want string
	}{
		{calibrate.Throughput{Measured: 2, Predicted: 2.5}, "2.00 completed/s, predicted 2.50 (+25.0 %)"},
		{calibrate.Throughput{Measured: 0, Predicted: 2.5}, "0.00 completed/s, predicted 2.50"},
	} {
		if got := throughput(&c.t); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
