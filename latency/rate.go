package latency

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Rate is bytes per second of a link. As text it is an amount of memory and "/s":
// "48GB/s". A number without a unit is refused: other simulators count blocks or
// tokens per unit of time.
type Rate float64

// String is the rate in the largest decimal unit of which it is at least one.
func (r Rate) String() string {
	if r == 0 {
		return "0"
	}
	for _, unit := range byteUnits {
		if !strings.Contains(unit.name, "i") && float64(r) >= float64(unit.bytes) {
			return strconv.FormatFloat(float64(r)/float64(unit.bytes), 'g', -1, 64) + unit.name + "/s"
		}
	}
	return strconv.FormatFloat(float64(r), 'g', -1, 64) + "B/s"
}

// MarshalText prints the rate as UnmarshalText reads it.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads "48GB/s", "30 GiB/s" or 0, which stands for a rate to derive.
// It refuses negative rates, those below 1 kB/s, and those above 1 EiB/s.
func (r *Rate) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	if s == "0" {
		*r = 0
		return nil
	}
	want := fmt.Errorf("%q is not a rate: want 48GB/s, 30GiB/s or 500MB/s, at least 1kB/s", s)
	amount, ok := strings.CutSuffix(s, "/s")
	if _, err := strconv.ParseFloat(strings.TrimSpace(amount), 64); !ok || err == nil {
		return want
	}
	number, scale := strings.ToLower(strings.TrimSpace(amount)), 0.0
	for _, unit := range byteUnits {
		if rest, found := strings.CutSuffix(number, strings.ToLower(unit.name)); found {
			number, scale = strings.TrimSpace(rest), float64(unit.bytes)
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	v = float64(v * scale)
	if err != nil || math.IsNaN(v) || v < 1e3 || v > 1<<60 {
		return want
	}
	*r = Rate(v)
	return nil
}
