package lookahead

import (
	"encoding/binary"
	"math"
)

// The subset of msgpack that frames use: arrays, integers, floats, byte strings.
// Writing takes the shortest form, as the msgpack library does. Reading accepts
// every form and never panics.

func appendArray(b []byte, n int) []byte {
	switch {
	case n < 16:
		return append(b, 0x90|byte(n))
	case n <= math.MaxUint16:
		return append(b, 0xdc, byte(n>>8), byte(n))
	}
	return binary.BigEndian.AppendUint32(append(b, 0xdd), uint32(n))
}

func appendUint(b []byte, v uint64) []byte {
	switch {
	case v < 1<<7:
		return append(b, byte(v))
	case v < 1<<8:
		return append(b, 0xcc, byte(v))
	case v < 1<<16:
		return append(b, 0xcd, byte(v>>8), byte(v))
	case v < 1<<32:
		return append(b, 0xce, byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
	}
	return binary.BigEndian.AppendUint64(append(b, 0xcf), v)
}

func appendInt(b []byte, v int64) []byte {
	switch {
	case v >= 0:
		return appendUint(b, uint64(v))
	case v >= -32:
		return append(b, byte(v))
	case v >= math.MinInt8:
		return append(b, 0xd0, byte(v))
	case v >= math.MinInt16:
		return append(b, 0xd1, byte(v>>8), byte(v))
	case v >= math.MinInt32:
		return append(b, 0xd2, byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
	}
	return binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(v))
}

func appendFloat(b []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(append(b, 0xcb), math.Float64bits(v))
}

func appendBytes(b, v []byte) []byte {
	switch n := len(v); {
	case n < 1<<8:
		b = append(b, 0xc4, byte(n))
	case n < 1<<16:
		b = append(b, 0xc5, byte(n>>8), byte(n))
	default:
		b = binary.BigEndian.AppendUint32(append(b, 0xc6), uint32(n))
	}
	return append(b, v...)
}

// form is the class of a value that was read, or why none was.
type form uint8

const (
	unsigned  form = iota
	negative       // the word is the two's complement
	floating       // the word is the bits of a float64
	octets         // the word is the length; the bytes come next
	cutShort       // the frame ends within the value
	unknown        // of a type that frames do not have
	exhausted      // no field is left
)

// err returns the error of a value of this form where another form was asked for.
func (f form) err() error {
	switch f {
	case cutShort:
		return errShort
	case exhausted:
		return errFields
	}
	return errForm
}

// readScalar reads the value at pos. next is the position of the next value; of
// a byte string it is the position of the bytes, all of which are in b. It
// returns words and positions and no struct, because it runs twice per field of
// every message: for the digest, and for the process that receives it.
func readScalar(b []byte, pos int) (word uint64, f form, next int) {
	if uint(pos) >= uint(len(b)) {
		return 0, cutShort, pos
	}
	c := b[pos]
	b = b[pos+1:]
	pos++
	switch {
	case c < 0x80:
		return uint64(c), unsigned, pos
	case c >= 0xe0:
		return uint64(int64(int8(c))), negative, pos
	case c == 0xcd && len(b) >= 2:
		return uint64(binary.BigEndian.Uint16(b)), unsigned, pos + 2
	case c == 0xce && len(b) >= 4:
		return uint64(binary.BigEndian.Uint32(b)), unsigned, pos + 4
	case (c == 0xcf || c == 0xcb) && len(b) >= 8:
		if c == 0xcb {
			f = floating
		}
		return binary.BigEndian.Uint64(b), f, pos + 8
	}
	return readRare(c, b, pos)
}

// readRare is readScalar for the remaining types, after the type byte c.
func readRare(c byte, b []byte, pos int) (word uint64, f form, next int) {
	size := 0
	switch {
	case c >= 0xcc && c <= 0xd3:
		size = 1 << ((c - 0xcc) & 3)
	case c == 0xca:
		size, f = 4, floating
	case c == 0xcb:
		size, f = 8, floating
	case c >= 0xc4 && c <= 0xc6:
		size, f = 1<<(c-0xc4), octets
	case c >= 0xd9 && c <= 0xdb:
		size, f = 1<<(c-0xd9), octets
	default:
		return 0, unknown, pos
	}
	word, ok := bigEndian(b, size)
	switch {
	case !ok || f == octets && word > uint64(len(b)-size):
		return 0, cutShort, pos
	case c == 0xca:
		word = math.Float64bits(float64(math.Float32frombits(uint32(word))))
	case c >= 0xd0 && c <= 0xd3:
		shift := 64 - 8*size
		if v := int64(word<<shift) >> shift; v < 0 {
			word, f = uint64(v), negative
		}
	}
	return word, f, pos + size
}

// bigEndian reads an integer of size bytes; it returns false if b is shorter.
func bigEndian(b []byte, size int) (uint64, bool) {
	if len(b) < size {
		return 0, false
	}
	switch size {
	case 1:
		return uint64(b[0]), true
	case 2:
		return uint64(binary.BigEndian.Uint16(b)), true
	case 4:
		return uint64(binary.BigEndian.Uint32(b)), true
	}
	return binary.BigEndian.Uint64(b), true
}

// readUint reads a non-negative integer.
func readUint(b []byte, pos int) (uint64, int, error) {
	word, f, next := readScalar(b, pos)
	switch {
	case f == unsigned:
		return word, next, nil
	case f == negative:
		return 0, pos, errRange
	}
	return 0, pos, f.err()
}

// readArray reads the head of an array of n values.
func readArray(b []byte, pos int) (n, next int, err error) {
	if uint(pos) >= uint(len(b)) {
		return 0, pos, errShort
	}
	c, size := b[pos], 0
	pos++
	switch {
	case c&0xf0 == 0x90:
		return int(c & 0x0f), pos, nil
	case c == 0xdc:
		size = 2
	case c == 0xdd:
		size = 4
	default:
		return 0, pos, errForm
	}
	count, ok := bigEndian(b[pos:], size)
	if !ok {
		return 0, pos, errShort
	}
	return int(count), pos + size, nil
}
