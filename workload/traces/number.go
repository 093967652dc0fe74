package traces

import "math"

// whole parses a whole number from low to high, both at least 0, written in
// plain digits. It reports whether text is one.
func whole(text []byte, low, high uint64) (uint64, bool) {
	if len(text) == 0 {
		return 0, false
	}
	n, safe := uint64(0), text[:min(len(text), 19)] // 10¹⁹ < 2⁶⁴
	for _, c := range safe {
		d := uint64(c - '0')
		if d > 9 {
			return 0, false
		}
		n = n*10 + d
	}
	for _, c := range text[len(safe):] {
		d := uint64(c - '0')
		if d > 9 || n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, low <= n && n <= high
}

// scaled parses a decimal number without sign or exponent and returns it
// times 10^digits, truncated: scaled("1.2345", 3) is 1234. The result is at
// most high.
func scaled(text []byte, digits int, high uint64) (uint64, bool) {
	integer, fraction := text, []byte(nil)
	for i, c := range text {
		if c == '.' {
			integer, fraction = text[:i], text[i+1:]
			if len(fraction) == 0 {
				return 0, false
			}
			break
		}
	}
	n, ok := whole(integer, 0, high)
	for i := 0; ok && i < max(digits, len(fraction)); i++ {
		d := uint64(0)
		if i < len(fraction) {
			d = uint64(fraction[i] - '0')
		}
		if d > 9 {
			return 0, false
		}
		if i < digits {
			if d > high || n > (high-d)/10 {
				return 0, false
			}
			n = n*10 + d
		}
	}
	return n, ok
}

// trim cuts blanks off both ends.
func trim(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t') {
		text = text[1:]
	}
	for len(text) > 0 && (text[len(text)-1] == ' ' || text[len(text)-1] == '\t') {
		text = text[:len(text)-1]
	}
	return text
}
