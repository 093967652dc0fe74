package policy

import (
	"math/bits"

	"blis/vtime"
)

// Draws is where routing policies get their chance from. A draw is a hash of
// the run's seed, the number of the request and the attempt to route it, not
// the next value of a stream. So another decision before it shifts nothing: a
// choice that was forced, a tie that another policy did not have.
//
// The zero Draws are those of seed 0.
type Draws struct{ seed uint64 }

// NewDraws returns the draws of a run with that seed.
func NewDraws(seed uint64) Draws { return Draws{vtime.Mix(seed + drawsSalt)} }

// drawsSalt keeps draws apart from whatever else is made of the seed.
const drawsSalt = 0x726f757465722121

// IntN is a number from 0 to n−1 for this attempt to route the request, each as
// likely as any other. turn tells several draws of one decision apart. n is at
// least 1.
func (d Draws) IntN(req *Request, turn uint32, n int) int {
	h := vtime.Mix(vtime.Mix(d.seed^uint64(req.ID)) ^ (uint64(uint32(req.Attempt))<<32 | uint64(turn)))
	high, _ := bits.Mul64(h, uint64(n))
	return int(high)
}
