package policy

import (
	"math/bits"

	"blis/vtime"
)

// Draws is the randomness of routing policies. A draw is a hash of the run's seed,
// the number of the request and the attempt to route it, not the next value of a
// stream. So the draws of one request do not depend on earlier decisions: a forced
// choice, or a tie that another policy did not have.
//
// The zero Draws have seed 0.
type Draws struct{ seed uint64 }

// NewDraws returns the draws of a run with that seed.
func NewDraws(seed uint64) Draws { return Draws{vtime.Mix(seed + drawsSalt)} }

// drawsSalt makes draws differ from all other uses of the seed.
const drawsSalt = 0x726f757465722121

// IntN returns a number from 0 to n−1 for this attempt to route the request, all
// with equal probability. turn numbers the draws of one decision. n is at least 1.
func (d Draws) IntN(req *Request, turn uint32, n int) int {
	h := vtime.Mix(vtime.Mix(d.seed^uint64(req.ID)) ^ (uint64(uint32(req.Attempt))<<32 | uint64(turn)))
	high, _ := bits.Mul64(h, uint64(n))
	return int(high)
}
