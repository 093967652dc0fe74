package latency

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is an amount of memory, 0 or more. Flags and files read and print it
// as 1GB (powers of ten), 8GiB (of two) or a number of bytes.
type Bytes int64

// byteUnits from the largest to the smallest.
var byteUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"TB", 1e12}, {"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"kB", 1e3}, {"B", 1}}

// ParseBytes reads "1GB", "1.5GiB", "800 MiB" or a bare number of bytes; case
// does not count. It refuses what is negative, no finite number, or above 1 EiB.
func ParseBytes(s string) (Bytes, error) {
	number, scale := strings.ToLower(strings.TrimSpace(s)), int64(1)
	for _, unit := range byteUnits {
		if rest, ok := strings.CutSuffix(number, strings.ToLower(unit.name)); ok {
			number, scale = strings.TrimSpace(rest), unit.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	v = math.Round(v * float64(scale)) // 1.1GB is 1100000000 however it is stored
	if err != nil || !(v >= 0 && v <= 1<<60) {
		return 0, fmt.Errorf("%q is not an amount of memory: want 1GB, 1.5GiB, 800MiB or a number of bytes, not negative", s)
	}
	return Bytes(v), nil
}

// String is the amount in the largest unit that makes it a whole number.
func (b Bytes) String() string {
	for _, unit := range byteUnits {
		if b != 0 && int64(b)%unit.bytes == 0 && unit.bytes > 1 {
			return strconv.FormatInt(int64(b)/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// MarshalText prints the amount as ParseBytes reads it.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText is ParseBytes, for flags and files.
func (b *Bytes) UnmarshalText(text []byte) error {
	v, err := ParseBytes(string(text))
	if err == nil {
		*b = v
	}
	return err
}
