package engine

import (
	"testing"

	"blis/vtime"
)

// What a station will move after a time: the rest of one transfer and all of the next.
func TestStationAfter(t *testing.T) {
	s := station{link: Link{Base: 10, PerBlock: 5}}
	s.submit(0, 2, 100, 0)   // 100 to 120
	s.submit(1, 4, 101, 0)   // 120 to 150
	s.submit(2, 1, 102, 200) // 200 to 215
	for now, want := range map[int64]int64{90: 65, 100: 65, 110: 55, 120: 45, 149: 16, 150: 15, 170: 15, 201: 14, 215: 0, 300: 0} {
		if d := s.after(vtime.Time(now)); int64(d) != want {
			t.Errorf("after %d: %d µs, want %d", now, d, want)
		}
	}
}
