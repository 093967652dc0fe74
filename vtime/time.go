package vtime

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Time is an instant of virtual time in microseconds since the start of the
// run. Never is later than every instant that a run can reach.
type Time int64

// Duration is a length of virtual time in microseconds.
type Duration int64

// Never is the instant that does not come. Arithmetic that would pass it
// saturates there, see Time.Add.
const Never Time = math.MaxInt64

// Lengths of time that read better than their count of microseconds.
const (
	Microsecond Duration = 1
	Millisecond          = 1000 * Microsecond
	Second               = 1000 * Millisecond
	Minute               = 60 * Second
	Hour                 = 60 * Minute
)

// Add returns t+d, saturating at Never. Never plus anything is Never.
func (t Time) Add(d Duration) Time {
	if t == Never || (d > 0 && t > Never-Time(d)) {
		return Never
	}
	return t + Time(d)
}

// Sub returns t-u. Neither may be Never.
func (t Time) Sub(u Time) Duration { return Duration(t - u) }

// Seconds returns t as seconds, for output only: results are summed in ticks.
func (t Time) Seconds() float64 { return float64(t) / 1e6 }

// Seconds returns d in seconds, for output only.
func (d Duration) Seconds() float64 { return float64(d) / 1e6 }

// Milliseconds returns d in milliseconds, for output only.
func (d Duration) Milliseconds() float64 { return float64(d) / 1e3 }

// String prints the instant as microseconds, or "never".
func (t Time) String() string {
	if t == Never {
		return "never"
	}
	return strconv.FormatInt(int64(t), 10) + "µs"
}

// String prints the duration in the largest unit that keeps it readable.
func (d Duration) String() string {
	switch {
	case d%Second == 0 && d != 0:
		return strconv.FormatInt(int64(d/Second), 10) + "s"
	case d%Millisecond == 0 && d != 0:
		return strconv.FormatInt(int64(d/Millisecond), 10) + "ms"
	}
	return strconv.FormatInt(int64(d), 10) + "µs"
}

// Truncate turns a number of microseconds into ticks: toward zero, saturating
// at the ends of int64. NaN is an error. This is the only way by which a
// float becomes time.
func Truncate(us float64) (Duration, error) {
	switch {
	case us != us:
		return 0, fmt.Errorf("a duration is NaN")
	case us >= math.MaxInt64:
		return math.MaxInt64, nil
	case us <= math.MinInt64:
		return math.MinInt64, nil
	}
	return Duration(us), nil
}

// ParseDuration reads "50ms", "1.5s", "2m", "1h", "20us", "20µs" or a bare
// number of microseconds. It refuses negative and non-finite values.
func ParseDuration(s string) (Duration, error) {
	text := strings.TrimSpace(s)
	number, scale := text, 1.0
	for _, unit := range []struct {
		suffix string
		scale  float64
	}{{"us", 1}, {"µs", 1}, {"ms", 1e3}, {"s", 1e6}, {"m", 60e6}, {"h", 3600e6}} {
		if strings.HasSuffix(text, unit.suffix) {
			number, scale = strings.TrimSuffix(text, unit.suffix), unit.scale
			break
		}
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil && n >= 0 && n <= math.MaxInt64/int64(scale) {
		return Duration(n * int64(scale)), nil // exact, where a float may round
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0, fmt.Errorf("%q is not a duration: want 50ms, 1.5s, 2m or a number of microseconds, not negative", s)
	}
	// Rounded, not truncated: 0.1s is 100000 µs however it is stored.
	return Truncate(math.Round(v * scale))
}

// MarshalText prints the duration as ParseDuration reads it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is ParseDuration, for flags and files.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := ParseDuration(string(text))
	if err == nil {
		*d = v
	}
	return err
}
