package measured

import (
	"math"
	"strconv"
	"strings"

	"blis/vtime"
)

// Bounds of what files may say.
const (
	most32 = math.MaxInt32
	latest = 1 << 62 // µs or ns: sums and differences of two fit
)

// whole parses a whole number from low to high, both at least 0, written in
// plain digits.
func whole(text string, low, high int64) (int64, bool) {
	n, err := strconv.ParseUint(text, 10, 63)
	return int64(n), err == nil && low <= int64(n) && int64(n) <= high
}

// decimal parses a finite decimal number from 0 to high. NaN, infinities and
// hexadecimal are none.
func decimal(text string, high float64) (float64, bool) {
	if strings.Trim(text, "0123456789.eE+-") != "" {
		return 0, false
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && 0 <= x && x <= high
}

// truth parses a yes or no as tables have it.
func truth(text string) (yes, ok bool) {
	switch strings.ToLower(text) {
	case "1", "true":
		return true, true
	case "0", "false":
		return false, true
	}
	return false, false
}

// scaled parses a decimal number of at least 0, with or without exponent, and
// returns it times 10^digits, rounded half to even. It goes by the digits of
// the text, since a float of seconds since 1970 has no microseconds to spare.
func scaled(text string, digits int, high int64) (int64, bool) {
	mantissa, exponent, ok := cutExponent(text)
	if !ok {
		return 0, false
	}
	integer, fraction, _ := strings.Cut(mantissa, ".")
	all := integer + fraction
	if all == "" || strings.Trim(all, "0123456789") != "" {
		return 0, false
	}
	point := len(integer) + exponent + digits // so many of all are before the point
	significant := strings.TrimLeft(all, "0")
	point -= len(all) - len(significant)
	switch {
	case significant == "" || point < 0:
		return 0, true
	case point > 19:
		return 0, false
	case point > len(significant):
		significant += strings.Repeat("0", point-len(significant))
	}
	n, rest := int64(0), significant[point:]
	if point > 0 {
		if n, ok = whole(significant[:point], 0, math.MaxInt64-1); !ok {
			return 0, false
		}
	}
	if roundsUp(rest, n) {
		n++
	}
	return n, n <= high
}

// cutExponent splits 1.5e-3 into 1.5 and −3. Exponents beyond two digits are
// no numbers of a measurement.
func cutExponent(text string) (mantissa string, exponent int, ok bool) {
	i := strings.IndexAny(text, "eE")
	if i < 0 {
		return text, 0, true
	}
	sign, power := 1, text[i+1:]
	if strings.HasPrefix(power, "-") {
		sign = -1
	}
	if strings.HasPrefix(power, "-") || strings.HasPrefix(power, "+") {
		power = power[1:]
	}
	n, ok := whole(power, 0, 99)
	return text[:i], sign * int(n), ok
}

// roundsUp reports whether n, with the digits rest behind its point, is rounded
// up: half to even.
func roundsUp(rest string, n int64) bool {
	if rest == "" || rest[0] < '5' {
		return false
	}
	return rest[0] > '5' || n%2 == 1 || strings.TrimRight(rest[1:], "0") != ""
}

// micros is a number of nanoseconds, of either sign, in microseconds, half to
// even.
func micros(ns int64) vtime.Duration {
	us, rest := ns/1000, ns%1000
	if rest < 0 {
		us, rest = us-1, rest+1000
	}
	if rest > 500 || rest == 500 && us%2 != 0 {
		us++
	}
	return vtime.Duration(us)
}
