package traffic

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// Fold implements workload.Source: the streams that arrivals draw from. What
// sessions draw depends on nothing but their numbers.
//
// It is the sum of a hash per client, so that asking after each request costs
// what that request drew, however many clients there are.
func (s *Source) Fold() uint64 {
	for _, i := range s.drawn {
		c := &s.clients[i]
		s.fold -= c.fold
		c.fold, c.drawn = c.hashed(uint64(i)), false
		s.fold += c.fold
	}
	s.drawn = s.drawn[:0]
	return s.fold
}

// draws notes that a client is about to draw from a stream of its own.
func (s *Source) draws(c *client) {
	if !c.drawn {
		c.drawn = true
		s.drawn = append(s.drawn, int32(c.number()))
	}
}

// hashed hashes the client's streams with its number.
func (c *client) hashed(number uint64) uint64 {
	var words [16]byte
	binary.LittleEndian.PutUint64(words[:], number)
	binary.LittleEndian.PutUint64(words[8:], c.state())
	return xxhash.Sum64(words[:])
}

// state hashes the client's streams.
func (c *client) state() uint64 {
	var words [40]byte
	arrivals := uint64(c.times)
	if c.Times == nil && c.Users == 0 {
		arrivals = c.arrivals.Fold()
	}
	for i, w := range []uint64{arrivals, c.kinds.Fold(), c.prefixes.Fold(), c.input.Fold(), c.output.Fold()} {
		binary.LittleEndian.PutUint64(words[8*i:], w)
	}
	return xxhash.Sum64(words[:])
}
