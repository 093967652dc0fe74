package trace

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// A quarter of the cost of a trace is to print its whole numbers, and a tenth to
// look for what has to be escaped in its strings: both are done eight characters
// at a time here.

// AppendInt is strconv.AppendInt in decimal, faster.
func AppendInt(b []byte, v int64) []byte {
	switch {
	case v < 0:
		return strconv.AppendInt(b, v, 10)
	case v < 10:
		return append(b, '0'+byte(v))
	}
	return appendDigits(b, uint64(v))
}

// appendDigits prints a number above 0.
func appendDigits(b []byte, n uint64) []byte {
	const eight = 100_000_000
	if n >= eight {
		b = appendDigits(b, n/eight)
		return binary.LittleEndian.AppendUint64(b, eightDigits(n%eight)|zeros)
	}
	digits := eightDigits(n)
	leading := bits.TrailingZeros64(digits) / 8 // digits that are 0
	end := len(b) + 8 - leading
	return binary.LittleEndian.AppendUint64(b, digits>>(8*leading)|zeros)[:end]
}

// zeros is eight times the character 0.
const zeros = 0x3030303030303030

// eightDigits is the decimal digits of a number below 10⁸, a byte each, the first
// in the lowest. Both halves of four digits, then all pairs, then all digits are
// parted at a time: x/100 is x·10486/2²⁰ below 10,000, and x/10 is x·103/2¹⁰
// below 100.
func eightDigits(n uint64) uint64 {
	x := n/10_000 | n%10_000<<32
	q := x * 10486 >> 20 & 0x7f_0000_007f
	x = q | (x-100*q)<<16
	q = x * 103 >> 10 & 0x000f_000f_000f_000f
	return q | (x-10*q)<<8
}

// unescaped reports whether a string prints as it is: ASCII without control
// characters, quotes and backslashes.
func unescaped(s string) bool {
	const each = 0x0101010101010101
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote, backslash := x^('"'*each), x^('\\'*each)
		// The highest bit of a byte: it is 128 or more; else of one less ' ', or
		// of one that is 0 less 1, there was a borrow. A byte that borrows from
		// the next one has its own bit set first.
		if (x|(x-' '*each)|(quote-each)|(backslash-each))&(0x80*each) != 0 {
			return unescapedBytes(s[i:])
		}
	}
	return unescapedBytes(s[i:])
}

// unescapedBytes is unescaped, byte by byte.
func unescapedBytes(s string) bool {
	for i := range len(s) {
		if !asItIs[s[i]] {
			return false
		}
	}
	return true
}
