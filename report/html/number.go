package html

import (
	"math"
	"strconv"
	"strings"
)

const (
	thin    = "\u202f" // between groups of digits, and before units; no line ends there
	missing = "–"
)

// grouped puts a thin space between groups of three digits before the decimal point.
func grouped(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		if digits = digits[1:]; strings.Trim(digits, "0.") != "" {
			sign = "−"
		}
	}
	whole, rest, _ := strings.Cut(digits, ".")
	if rest != "" {
		rest = "." + rest
	}
	var b strings.Builder
	for i, c := range []byte(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteString(thin)
		}
		b.WriteByte(c)
	}
	return sign + b.String() + rest
}

// count is a whole number.
func count(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return missing
	}
	return grouped(strconv.FormatFloat(x, 'f', 0, 64))
}

// figure is a number with at least three significant digits, without trailing zeros
// beyond them: 0.0123, 1.23, 12.3, 123, 12 345.
func figure(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return missing
	case x == 0:
		return "0"
	}
	a := math.Abs(x)
	if a < 1e-4 || a >= 1e12 {
		return strings.ReplaceAll(strconv.FormatFloat(x, 'e', 2, 64), "-", "−")
	}
	decimals := 2 - int(math.Floor(math.Log10(a)))
	rounded := strconv.FormatFloat(x, 'f', max(0, decimals), 64)
	if x == math.Trunc(x) {
		rounded = strconv.FormatFloat(x, 'f', 0, 64)
	}
	return grouped(rounded)
}

// fixed is a number with so many decimals.
func fixed(x float64, decimals int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return missing
	}
	return grouped(strconv.FormatFloat(x, 'f', decimals, 64))
}

// decimalsOf is how many decimals give a number three significant digits.
func decimalsOf(x float64) int {
	if x = math.Abs(x); x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return min(6, max(0, 2-int(math.Floor(math.Log10(x)))))
}

// percent is a share in percent with one decimal, for columns.
func percent(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return missing
	}
	return fixed(100*share, 1) + thin + "%"
}

// about is a share in percent without zeros at the end, for sentences.
func about(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return missing
	}
	return trimmed(fixed(100*share, 2)) + thin + "%"
}

// attained is a share in percent with two significant digits of what is missing to 100 %
// where that is little: 99.93 %.
func attained(share float64) string {
	x := 100 * share
	if rest := 100 - x; rest > 0 && rest < 1 {
		return fixed(x, min(5, 1-int(math.Floor(math.Log10(rest))))) + thin + "%"
	}
	return percent(share)
}

// trimmed leaves zeros at the end of decimals out.
func trimmed(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// signedPercent is a relative difference.
func signedPercent(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return missing
	}
	x := 100 * share
	text := fixed(x, 1)
	if math.Abs(x) >= 10 {
		text = fixed(x, 0)
	}
	if x > 0 {
		text = "+" + text
	}
	return text + thin + "%"
}

// millis is a latency in µs as milliseconds: 47.4, 3 543.
func millis(us float64) string { return milliseconds(us / 1e3) }

// milliseconds is a latency in ms.
func milliseconds(ms float64) string {
	switch a := math.Abs(ms); {
	case math.IsNaN(a) || math.IsInf(a, 0):
		return missing
	case a >= 1000:
		return fixed(ms, 0)
	case a >= 100:
		return fixed(ms, 1)
	case a >= 1 || a == 0:
		return fixed(ms, 2)
	}
	return figure(ms)
}

// duration is a time in µs with the unit that suits it.
func duration(us float64) string {
	switch a := math.Abs(us); {
	case math.IsNaN(a) || math.IsInf(a, 0):
		return missing
	case a < 1e3:
		return trimmed(fixed(us, 0)) + thin + "µs"
	case a < 1e6:
		return figure(us/1e3) + thin + "ms"
	case a < 600e6:
		return figure(us/1e6) + thin + "s"
	case a < 36000e6:
		return figure(us/60e6) + thin + "min"
	}
	return figure(us/3600e6) + thin + "h"
}

// seconds is a time in µs as seconds, to the millisecond.
func seconds(us float64) string { return fixed(us/1e6, 3) }

// bytes is an amount of data.
func dataSize(x float64) string {
	for _, unit := range []string{"B", "KB", "MB", "GB", "TB"} {
		if x < 1000 || unit == "TB" {
			return figure(x) + thin + unit
		}
		x /= 1000
	}
	return missing
}

// inUnit is a value of a measure with the unit that results name.
func inUnit(x float64, unit string) string {
	if unit == "share" {
		return percent(x)
	}
	return figure(x)
}

// headed is the name of a measure as people write it, with its unit: p99 TTFT, ms.
func headed(measure, unit string) string {
	return measureWords(measure) + unitAfter(unit)
}

func unitAfter(unit string) string {
	switch unit {
	case "", "number", "count":
		return ""
	case "share":
		return ", %"
	case "1/s":
		return ", per s"
	}
	return ", " + escaped(clean(unit, mostShown))
}

// measureWords is p99_ttft as people write it: p99 TTFT.
func measureWords(measure string) string {
	parts := strings.Split(measure, "_")
	for i, w := range parts {
		switch w {
		case "ttft", "tpot", "itl", "e2e", "slo", "kv":
			parts[i] = strings.ToUpper(w)
		}
	}
	return escaped(clean(strings.Join(parts, " "), mostShown))
}

// valued is a value with its unit, as results name units.
func valued(x float64, unit string) string {
	switch unit {
	case "us":
		return duration(x)
	case "ms":
		return duration(x * 1e3)
	case "share":
		return percent(x)
	case "", "number", "count":
		return figure(x)
	case "1/s":
		return figure(x) + thin + "/s"
	}
	return figure(x) + thin + escaped(clean(unit, mostShown))
}
