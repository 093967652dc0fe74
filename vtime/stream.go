package vtime

import (
	"math/rand/v2"

	"github.com/cespare/xxhash/v2"
)

// Stream is a random stream with a name: "workload/chat/arrivals", "router",
// "instance/7". Streams with different names are independent, so a draw added
// to one changes no other. A Stream belongs to one process of the simulation
// and is not safe for concurrent use.
type Stream struct {
	*rand.Rand
	pcg *rand.PCG
}

// NewStream returns the stream called name under the run's seed. Equal
// arguments give equal streams on every machine.
func NewStream(seed uint64, name string) *Stream {
	pcg := rand.NewPCG(seed, xxhash.Sum64String(name))
	return &Stream{Rand: rand.New(pcg), pcg: pcg}
}

// Restart makes the stream the one called name under seed, as NewStream would,
// without a new one.
func (s *Stream) Restart(seed uint64, name []byte) {
	s.pcg.Seed(seed, xxhash.Sum64(name))
}

// Fold returns a hash of the stream's state: two streams that have drawn the
// same values fold to the same number. It draws and allocates nothing.
func (s *Stream) Fold() uint64 {
	var memory [32]byte
	state, err := s.pcg.AppendBinary(memory[:0])
	if err != nil { // rand.PCG documents no failure; a change there must not pass silently.
		panic("vtime: random stream state: " + err.Error())
	}
	return xxhash.Sum64(state)
}
