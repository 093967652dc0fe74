package actors

import (
	"math/rand/v2"
	"slices"
	"testing"

	"blis/vtime"
)

// A schedule yields what was filed in order of (time, request), whenever it
// was filed.
func TestScheduleIsInOrder(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 4))
		var s schedule
		var twin []entry
		now := vtime.Time(0)
		for n := range int64(2000) {
			if random.IntN(3) > 0 || len(twin) == 0 {
				e := entry{now + vtime.Time(random.IntN(5)), n, int32(n)}
				if random.IntN(4) == 0 {
					e.at += vtime.Time(random.IntN(300))
				}
				s.push(e)
				twin = append(twin, e)
				continue
			}
			slices.SortFunc(twin, func(a, b entry) int {
				if a.Before(&b) {
					return -1
				}
				return 1
			})
			now = twin[0].at
			if s.len() != len(twin) || s.at() != now || s.pop() != twin[0].slot {
				t.Fatalf("seed %d: step %d: not request %d at %v", seed, n, twin[0].request, now)
			}
			twin = twin[1:]
		}
	}
}
