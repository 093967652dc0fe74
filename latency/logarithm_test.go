package latency

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestLog1pAgreesWithPackageMath(t *testing.T) {
	check := func(n int64) {
		if got, want := log1p(n), math.Log1p(float64(n)); math.Abs(got-want) > 1e-15*want {
			t.Fatalf("log1p(%d) = %v, package math has %v", n, got, want)
		}
	}
	for n := range int64(100_000) {
		check(n)
	}
	for shift := range 63 { // where the exponent changes
		for off := int64(-2); off <= 2; off++ {
			check(max(0, 1<<shift+off))
		}
		check(int64(math.Sqrt2 * float64(uint64(1)<<shift))) // and where the series is longest
	}
	check(math.MaxInt64)
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	for range 200_000 {
		check(r.Int64() >> r.IntN(63))
	}
	for _, n := range []int64{0, -1, -7, math.MinInt64} {
		if log1p(n) != 0 {
			t.Errorf("log1p(%d) = %v, want 0", n, log1p(n))
		}
	}
}

// Bits, not values: machines must agree. CI compiles for two.
func TestLog1pHasTheseBits(t *testing.T) {
	hash := uint64(0)
	for n := int64(1); n < 1<<40; n += 1 + n/97 {
		hash = hash*0x9e3779b97f4a7c15 + math.Float64bits(log1p(n))
	}
	if want := uint64(0xdd1fb27fceb95b3c); hash != want {
		t.Errorf("hash of the bits = %#x, want %#x", hash, want)
	}
}
