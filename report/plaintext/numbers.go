package plaintext

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"blis/vtime"
)

// Grouped is a whole number with separators between thousands: 1,234.
func Grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Plural is a number of things: 1 request, 2 requests.
func Plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Grouped(n) + " " + thing + "s"
}

// Decimal is a number with the given decimals, "–" for a missing one.
func Decimal(x *float64, decimals int) string {
	if x == nil {
		return "–"
	}
	text := strconv.FormatFloat(*x, 'f', decimals, 64)
	whole, rest, found := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n == 0 { // too large, or a sign that must stay
		return text
	}
	if whole = Grouped(n); found {
		whole += "." + rest
	}
	return whole
}

// Signed is a number with its sign; what rounds to 0 has none.
func Signed(x float64, decimals int) string {
	abs := math.Abs(x)
	text := Decimal(&abs, decimals)
	switch {
	case strings.Trim(text, "0.") == "":
		return text
	case x < 0:
		return "−" + text
	}
	return "+" + text
}

// Percent is a share in percent, "–" for a missing one.
func Percent(share *float64) string {
	if share == nil {
		return "–"
	}
	return strconv.FormatFloat(100**share, 'f', 1, 64) + " %"
}

// Significant is a number with three significant digits, or all of its whole
// part.
func Significant(x float64) string { return Decimal(&x, SignificantDecimals(&x)) }

// SignificantDecimals is the number of decimals that keeps three significant
// digits of a number, at most six.
func SignificantDecimals(x *float64) int {
	if x == nil || *x == 0 {
		return 0
	}
	size, decimals := math.Abs(*x), 2
	for ; size >= 10 && decimals > 0; size /= 10 {
		decimals--
	}
	for ; size < 1 && decimals < 6; size *= 10 {
		decimals++
	}
	return decimals
}

// Short is a number in at most eight characters, for narrow tables.
func Short(x float64) string {
	switch {
	case x >= 1e6:
		return Significant(x/1e6) + "M"
	case x == math.Trunc(x):
		return Grouped(int64(x))
	}
	return Significant(x)
}

// Magnitude is a large number with three significant digits and a prefix of its unit.
// Without a unit it is a count, in words that are the same in many languages.
func Magnitude(x float64, unit string) string {
	prefixes, space := []string{"", "k", "M", "G", "T", "P", "E"}, " "
	if unit == "" {
		prefixes, space = []string{"", " thousand", " million", " billion", " trillion"}, ""
	}
	i := 0
	for ; x >= 1000 && i+1 < len(prefixes); i++ {
		x /= 1000
	}
	return Significant(x) + space + prefixes[i] + unit
}

// Memory is a number of bytes with three significant digits, in powers of 1,024.
func Memory(bytes float64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for ; bytes >= 1000 && i+1 < len(units); i++ {
		bytes /= 1024
	}
	return Significant(bytes) + " " + units[i]
}

// Duration is a length of time in two units, or a small one with three
// significant digits.
func Duration(d vtime.Duration) string {
	switch {
	case d == 0:
		return "0 s"
	case d < vtime.Millisecond:
		return fmt.Sprintf("%d µs", int64(d))
	case d < vtime.Second:
		return fmt.Sprintf("%.3g ms", d.Milliseconds())
	case d < vtime.Minute:
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	units := []struct {
		length vtime.Duration
		name   string
	}{{24 * vtime.Hour, "days"}, {vtime.Hour, "h"}, {vtime.Minute, "min"}, {vtime.Second, "s"}}
	for i, u := range units {
		if d < u.length {
			continue
		}
		text := Grouped(int64(d/u.length)) + " " + u.name
		if rest := d % u.length / units[i+1].length; rest > 0 {
			text += fmt.Sprintf(" %d %s", rest, units[i+1].name)
		}
		return text
	}
	return ""
}

// Name is a name that comes from a file, "(none)" for an empty one: quoted where
// it has characters that cannot be printed, and cut to 40.
func Name(name string) string {
	const most = 40
	if name == "" {
		return "(none)"
	}
	if quoted := strconv.Quote(name); quoted[1:len(quoted)-1] != name || !utf8.ValidString(name) {
		name = strconv.QuoteToASCII(name)
	}
	if utf8.RuneCountInString(name) > most {
		name = string([]rune(name)[:most]) + "…"
	}
	return name
}
