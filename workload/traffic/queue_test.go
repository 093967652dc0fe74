package traffic

import (
	"math/rand/v2"
	"slices"
	"testing"

	"blis/vtime"
)

// A queue forgets the entries of a session and keeps all others, in their order.
func TestQueueForgets(t *testing.T) {
	const seed = 20269928
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 500 {
		var q queue
		var want []entry
		slot, root := int32(r.IntN(4)), r.IntN(3)
		for i := range r.IntN(40) {
			e := entry{vtime.Time(r.IntN(10)), uint32(r.IntN(3)), uint64(i)<<stepBits | uint64(r.IntN(3)), int32(r.IntN(4))}
			q.push(e)
			if e.slot != slot || e.step() == root {
				want = append(want, e)
			}
		}
		q.forget(slot, func(step int) bool { return step == root })
		slices.SortFunc(want, func(a, b entry) int {
			if a.Before(&b) {
				return -1
			}
			return 1
		})
		var got []entry
		for q.len() > 0 {
			got = append(got, q.pop())
		}
		if !slices.Equal(got, want) {
			t.Fatalf("forget(%d) but step %d leaves %v, want %v", slot, root, got, want)
		}
	}
}
