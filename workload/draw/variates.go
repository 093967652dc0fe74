package draw

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"

	"blis/vtime"
)

// Variates turns a uniform stream into standard normal and exponential draws,
// with the same bits on every machine (see exact.go; rand's own methods use
// package math in their tails).
type Variates struct {
	stream *vtime.Stream
	spare  float64 // the second normal of the last pair
	full   bool    // whether spare is there
}

// NewVariates returns draws from stream, which must have no other user.
func NewVariates(stream *vtime.Stream) Variates { return Variates{stream: stream} }

// Fold returns a hash of the state: of the stream, and of a normal in reserve.
func (n *Variates) Fold() uint64 {
	var state [16]byte
	binary.LittleEndian.PutUint64(state[:], n.stream.Fold())
	if n.full {
		binary.LittleEndian.PutUint64(state[8:], math.Float64bits(n.spare))
	}
	return xxhash.Sum64(state[:])
}

// Normal draws by Marsaglia's polar method, which yields pairs.
func (n *Variates) Normal() float64 {
	if n.full {
		n.full = false
		return n.spare
	}
	for {
		u, v := float64(2*n.Uniform())-1, float64(2*n.Uniform())-1
		s := float64(u*u) + float64(v*v)
		if s >= 1 || s == 0 {
			continue
		}
		f := math.Sqrt(-2 * Log(s) / s)
		n.spare, n.full = float64(v*f), true
		return float64(u * f)
	}
}

// Exponential draws with mean 1 by inversion; it may be 0.
func (n *Variates) Exponential() float64 { return -Log(1 - n.Uniform()) }

// Uniform draws from [0, 1). The conversion keeps the product inside rand's
// method, once inlined, out of a fused operation.
func (n *Variates) Uniform() float64 { return float64(n.stream.Float64()) }
