package certify

import "blis/vtime"

// use is what windows are for. Windows of different uses share no seed.
type use uint64

const (
	searching use = iota
	lowerEnd
	upperEnd
)

// seedOf returns the seed of window i of an attempt. The search has attempt 0 at every rung,
// so that all rungs are tried with the same seeds. Seeds are below 2⁵², so that every reader
// of JSON keeps them.
func seedOf(seed uint64, u use, attempt, i int) uint64 {
	h := vtime.Mix(seed)
	for _, part := range [...]uint64{uint64(u), uint64(attempt), uint64(i)} {
		h = vtime.Mix(h ^ part)
	}
	return h >> 12
}

// PilotSeed returns the i-th seed for windows before the search, which differs from those of
// the search and of the certificate.
func PilotSeed(seed uint64, i int) uint64 { return seedOf(seed, upperEnd+1, 0, i) }
