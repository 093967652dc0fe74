package textio

import (
	"math"
	"strconv"
	"strings"
)

// Whole parses a whole number from low to high, both at least 0, written in
// plain digits.
func Whole(text string, low, high int64) (int64, bool) {
	n, err := strconv.ParseUint(text, 10, 63)
	return int64(n), err == nil && low <= int64(n) && int64(n) <= high
}

// Scaled parses a decimal number of at least 0, with or without exponent, and
// returns it times 10^digits, rounded half to even; high is the largest that it
// accepts. It goes by the digits of the text, since a float of seconds since 1970
// has no microseconds to spare.
func Scaled(text string, digits int, high int64) (int64, bool) {
	mantissa, exponent, ok := cutExponent(text)
	if !ok {
		return 0, false
	}
	integer, fraction, _ := strings.Cut(mantissa, ".")
	all := integer + fraction
	if all == "" || strings.Trim(all, "0123456789") != "" {
		return 0, false
	}
	point := len(integer) + exponent + digits // digits before the point
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
		if n, ok = Whole(significant[:point], 0, math.MaxInt64-1); !ok {
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
	n, ok := Whole(power, 0, 99)
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
