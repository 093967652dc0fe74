package measured

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"blis/input/textio"
)

func TestScaledGoesByTheDigits(t *testing.T) {
	for _, c := range []struct {
		text   string
		digits int
		want   int64
		ok     bool
	}{
		{"0", 6, 0, true},
		{"0.000", 6, 0, true},
		{"1", 6, 1_000_000, true},
		{"1712345678.1234567", 9, 1_712_345_678_123_456_700, true},
		{"31415.926535897", 9, 31_415_926_535_897, true},
		{"0.00001618033988749895", 6, 16, true},
		{"1.618033988749895e-05", 6, 16, true},
		{"2.5E+2", 6, 250_000_000, true},
		{".5", 0, 0, true}, // half to even
		{"1.5", 0, 2, true},
		{"2.5", 0, 2, true},
		{"2.50000000000000000000001", 0, 3, true},
		{"0.0000005", 6, 0, true},
		{"0.00000051", 6, 1, true},
		{"0.0000015", 6, 2, true},
		{"4.9999999999", 0, 5, true},
		{"0.04", 0, 0, true},
		{"000123.", 0, 123, true},
		{"1e-99", 9, 0, true},
		{"0e99", 9, 0, true},
		{"4611686018427387904", 0, latest, true},
		{"4611686018427387904.5", 0, latest, true},
		{"4611686018427387905", 0, 0, false},
		{"9223372036854775807", 0, 0, false},
		{"99999999999999999999", 0, 0, false},
		{"1e99", 0, 0, false},
		{"1e100", 0, 0, false},
		{"1e", 0, 0, false},
		{"e5", 0, 0, false},
		{"", 0, 0, false},
		{".", 0, 0, false},
		{"-1", 0, 0, false},
		{"+1", 0, 0, false},
		{"1.2.3", 0, 0, false},
		{"1,5", 0, 0, false},
		{"0x10", 0, 0, false},
		{"1_000", 0, 0, false},
		{"NaN", 0, 0, false},
		{"Infinity", 0, 0, false},
	} {
		got, ok := textio.Scaled(c.text, c.digits, latest)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%q with %d digits: %d, %v, want %d, %v", c.text, c.digits, got, ok, c.want, c.ok)
		}
	}
}

// exactly is the dumb twin of scaled.
func exactly(text string, digits int) int64 {
	x, ok := new(big.Rat).SetString(text)
	if !ok {
		return -1
	}
	x.Mul(x, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)))
	n := new(big.Int).Div(x.Num(), x.Denom())
	rest := new(big.Rat).Sub(x, new(big.Rat).SetInt(n))
	if c := rest.Cmp(big.NewRat(1, 2)); c > 0 || c == 0 && n.Bit(0) == 1 {
		n.Add(n, big.NewInt(1))
	}
	return n.Int64()
}

func TestScaledIsExact(t *testing.T) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, 0))
	for range 20_000 {
		text := strconv.Itoa(random.IntN(1_000_000)) + "." + strings.Repeat("0", random.IntN(4)) + strconv.Itoa(random.IntN(10_000)) + strings.Repeat("5", random.IntN(3))
		if random.IntN(3) == 0 {
			text += "e" + strconv.Itoa(random.IntN(12)-8)
		}
		digits := random.IntN(8)
		if got, ok := textio.Scaled(text, digits, latest); !ok || got != exactly(text, digits) {
			t.Fatalf("seed %d: %q with %d digits: %d, %v, want %d", seed, text, digits, got, ok, exactly(text, digits))
		}
	}
}

func TestMicrosRoundHalfToEven(t *testing.T) {
	for ns, want := range map[int64]int64{0: 0, 499: 0, 500: 0, 501: 1, 1500: 2, 2500: 2, 2501: 3, -499: 0, -500: 0, -501: -1, -1500: -2, -2500: -2, math.MaxInt64: 9223372036854776, math.MinInt64 + 1: -9223372036854776} {
		if got := micros(ns); int64(got) != want {
			t.Errorf("%d ns: %d µs, want %d", ns, int64(got), want)
		}
	}
}

func TestDecimalIsFinite(t *testing.T) {
	for _, text := range []string{"", "NaN", "Inf", "-1", "1e400", "0x1p3", "1_0", "2", "1e", "--1"} {
		if x, ok := decimal(text, 1); ok {
			t.Errorf("%q is %v", text, x)
		}
	}
	for text, want := range map[string]float64{"0": 0, "1": 1, "0.25": 0.25, "1e-3": 0.001} {
		if x, ok := decimal(text, 1); !ok || x != want {
			t.Errorf("%q is %v, %v", text, x, ok)
		}
	}
}

// Lines are right however the text arrives.
func TestLinesAreCounted(t *testing.T) {
	const text = "{\"a\":1}\n\n{\"a\":\n2}\n{\"a\":3}"
	j, err := openJSON("t", iotest.OneByteReader(strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 4, 5} {
		leaves, err := j.leaves([]string{"a"})
		if err != nil || leaves[0].line != want {
			t.Errorf("%+v, %v, want line %d", leaves, err, want)
		}
	}
}
