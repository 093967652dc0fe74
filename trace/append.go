package trace

import (
	"math"
	"strconv"
	"unicode/utf8"
)

//go:generate go test -run TestRecordMethodsAreGenerated -update .

// AppendJSON appends the JSON form of r to b: an object with the fields of r in
// their order, as encoding/json without HTML escapes prints it, but durations
// are whole µs. It allocates nothing if b has room. Floats must be finite, which
// a Writer checks.
func AppendJSON(b []byte, r Record) []byte { return r.appendJSON(b) }

// integer is the types that are printed as whole numbers.
type integer interface {
	~int | ~int32 | ~int64
}

func appendWhole[T integer](b []byte, v T) []byte { return AppendInt(b, int64(v)) }

// appendOptional appends *p, or null.
func appendOptional[T any](b []byte, p *T, one func([]byte, T) []byte) []byte {
	if p == nil {
		return append(b, "null"...)
	}
	return one(b, *p)
}

// appendList is an array; null of a nil list.
func appendList[T any](b []byte, list []T, one func([]byte, T) []byte) []byte {
	if list == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, v)
	}
	return append(b, ']')
}

// appendObjects is an array of objects; null of a nil list.
func appendObjects[T any, P interface {
	*T
	appendJSON(b []byte) []byte
}](b []byte, list []T) []byte {
	if list == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = P(&list[i]).appendJSON(b)
	}
	return append(b, ']')
}

// appendFloat prints the shortest form that reads back as f, with an exponent
// where encoding/json has one (ECMA-262, Number::toString).
func appendFloat(b []byte, f float64) []byte {
	const exact = 1 << 53 // whole numbers up to it are printed as they are
	if n := int64(f); f > -exact && f < exact && float64(n) == f && (n != 0 || !math.Signbit(f)) {
		return AppendInt(b, n)
	}
	if size := math.Abs(f); size == 0 || size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	if n := len(b); n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' { // e-07
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}

// AppendString appends a JSON string to b: what is not UTF-8 is the replacement
// character, and U+2028 and U+2029 are escaped, which end lines in JavaScript.
func AppendString(b []byte, s string) []byte {
	if !unescaped(s) {
		return appendEscaped(b, s)
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// asItIs are the bytes that are characters of their own and need no escape.
var asItIs = func() (list [256]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		list[c] = c != '"' && c != '\\'
	}
	return list
}()

// appendEscaped is AppendString for any string.
func appendEscaped(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c, size := s[i], 1
		var escape string
		switch {
		case c == '"' || c == '\\':
			escape = `\` + s[i:i+1]
		case c < ' ':
			escape = controlEscapes[c]
		case c >= utf8.RuneSelf:
			var r rune
			if r, size = utf8.DecodeRuneInString(s[i:]); r == '\u2028' {
				escape = `\u2028`
			} else if r == '\u2029' {
				escape = `\u2029`
			} else if r == utf8.RuneError && size == 1 {
				escape = `\ufffd`
			}
		}
		if escape != "" {
			b = append(append(b, s[from:i]...), escape...)
			from = i + size
		}
		i += size
	}
	return append(append(b, s[from:]...), '"')
}

// controlEscapes are the escapes of the characters before the space.
var controlEscapes = func() (list [' ']string) {
	const digits = "0123456789abcdef"
	for c := range list {
		list[c] = `\u00` + digits[c>>4:c>>4+1] + digits[c&15:c&15+1]
	}
	list['\b'], list['\f'], list['\n'], list['\r'], list['\t'] = `\b`, `\f`, `\n`, `\r`, `\t`
	return list
}()
