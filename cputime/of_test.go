package cputime

import (
	"testing"
	"time"
)

var sum int

// Waiting takes none.
func TestOf(t *testing.T) {
	slept := Of(func() { time.Sleep(20 * time.Millisecond) })
	worked := Of(func() {
		for i := range 100_000_000 {
			sum += i
		}
	})
	if slept > worked || slept > 10*time.Millisecond {
		t.Errorf("sleep takes %v, work %v", slept, worked)
	}
}
