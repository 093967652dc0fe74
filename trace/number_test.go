package trace

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestAppendIntEqualsStrconv(t *testing.T) {
	check := func(v int64) {
		t.Helper()
		if got, want := string(AppendInt([]byte("x"), v)), "x"+strconv.FormatInt(v, 10); got != want {
			t.Fatalf("%d prints as %q, want %q", v, got, want)
		}
	}
	for v := int64(-5); v <= 200_000; v++ {
		check(v)
	}
	for p := int64(1); p < math.MaxInt64/10; p *= 10 {
		for d := int64(-2); d <= 2; d++ {
			check(p + d)
			check(9*p + d)
			check(-p + d)
		}
	}
	rng := rand.New(rand.NewPCG(1, 41))
	for range 2_000_000 {
		check(int64(rng.Uint64() >> rng.IntN(64)))
	}
	check(math.MaxInt64)
	check(math.MinInt64)
}

// TestPlainEqualsByteByByte has every byte at every place of strings of up to two
// words and a bit.
func TestPlainEqualsByteByByte(t *testing.T) {
	for length := range 20 {
		for at := range length {
			for c := range 256 {
				for _, fill := range []byte{'a', ' ', '~', '#', '!', ']', '['} {
					s := []byte(strings.Repeat(string(fill), length))
					s[at] = byte(c)
					if got, want := unescaped(string(s)), unescapedBytes(string(s)); got != want {
						t.Fatalf("%q: unescaped %v, want %v", s, got, want)
					}
				}
			}
		}
	}
	rng := rand.New(rand.NewPCG(2, 41))
	for range 300_000 {
		s := make([]byte, rng.IntN(30))
		for i := range s {
			if s[i] = byte(' ' + rng.IntN(96)); rng.IntN(20) == 0 {
				s[i] = byte(rng.IntN(256))
			}
		}
		if got, want := unescaped(string(s)), unescapedBytes(string(s)); got != want {
			t.Fatalf("%q: unescaped %v, want %v", s, got, want)
		}
	}
}
