package draw

import (
	"testing"

	"blis/vtime"
	"blis/workload"
)

func TestArrivalsPastTheEndOfTimeAreAnError(t *testing.T) {
	slow := Flat(1e-13)
	a := NewArrivals(ArrivalProcess{Kind: Poisson}, &slow, vtime.NewStream(1, "x"))
	var err error
	last := vtime.Time(0)
	for i := 0; i < 100 && err == nil; i++ {
		var at vtime.Time
		if at, _, err = a.Next(); err == nil && (at < last || at > workload.Latest) {
			t.Fatalf("arrival %v after %v", at, last)
		}
		last = max(last, at)
	}
	if err == nil {
		t.Error("a hundred gaps of 10¹⁹ µs fit into 2⁶² µs")
	}
}
