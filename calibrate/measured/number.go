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
