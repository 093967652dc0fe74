package actors

import (
	"math/rand/v2"
	"testing"

	"blis/vtime"
)

// TestSnapshotsKeepAValueUntilItIsRead lets an instance run as far ahead of the
// router as the kernel allows, and compares with every reading ever written.
func TestSnapshotsKeepAValueUntilItIsRead(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		b := newSnapshots[load](1, cadence(1+r.IntN(100)))
		all := []load{{}} // all[k+1] is what refresh k must show
		for k := int64(0); k < 60; k++ {
			if r.IntN(3) == 0 { // nobody decided in between
				k += r.Int64N(5)
			}
			for written := int64(len(all)) - 1; written <= k+2; written++ {
				all = append(all, all[written])
				for range r.IntN(3) { // the instance did something, once or twice
					all[written+1] = load{waiting: int32(r.IntN(1000) + 1)}
					b.publish(0, written, all[written+1])
				}
			}
			if got := b.at(0, k); got != all[k+1] {
				t.Fatalf("seed %d: refresh %d shows %+v, want %+v", seed, k, got, all[k+1])
			}
		}
	}
}

// TestRefreshesSeeWhatCameBefore: a decision sees the last refresh before it,
// a refresh every event at its own instant.
func TestRefreshesSeeWhatCameBefore(t *testing.T) {
	b := newSnapshots[load](1, 100)
	for _, c := range []struct {
		at            vtime.Time
		after, before int64
	}{{0, 0, -1}, {1, 1, 0}, {99, 1, 0}, {100, 1, 0}, {101, 2, 1}, {200, 2, 1}} {
		if after, before := b.after(c.at), b.before(c.at); after != c.after || before != c.before {
			t.Errorf("around %v: refreshes %d and %d, want %d after and %d before", c.at, after, before, c.after, c.before)
		}
	}
}
