package pointlog

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends the row as JSON in one line, without a newline. Floats are
// written so that they are read as the same bits. Bytes that are not UTF-8 become
// U+FFFD. A row that is wrong in itself, or longer than MaxLine, is an error.
func (r *Row) AppendJSON(b []byte) ([]byte, error) { return r.append(b, false, nil) }

// append is AppendJSON; a line of the sorted file has neither stack nor wall_s.
func (r *Row) append(b []byte, sorted bool, known *distinctNames) ([]byte, error) {
	if err := r.check(known); err != nil {
		return b, fmt.Errorf("row of key %s: %w", r.Key, err)
	}
	begin := len(b)
	b = append(b, `{"schema":"`+Schema+`","key":"`...)
	b = hex.AppendEncode(b, r.Key[:])
	b = append(b, `","index":`...)
	b = strconv.AppendInt(b, r.Index, 10)
	b = appendAxes(b, r.Axes)
	b = append(b, `,"seed":`...)
	b = strconv.AppendUint(b, r.Seed, 10)
	if r.WorkloadSeed != nil {
		b = append(b, `,"workload_seed":`...)
		b = strconv.AppendUint(b, *r.WorkloadSeed, 10)
	}
	b = append(b, `,"status":"`...)
	b = append(b, r.Status...)
	b = append(b, '"')
	b = appendText(b, `,"cause":`, string(r.Cause))
	b = appendText(b, `,"error":`, r.Error)
	if !sorted {
		b = appendText(b, `,"stack":`, r.Stack)
	}
	b = appendText(b, `,"digest":`, r.Digest)
	b = append(b, `,"version":`...)
	b = strconv.AppendInt(b, int64(r.Version), 10)
	b = appendText(b, `,"latency_model":`, r.LatencyModel)
	b = appendText(b, `,"coefficient_set":`, r.CoefficientSet)
	b = r.appendMeasures(b)
	if !sorted {
		b = append(b, `,"wall_s":`...)
		b = appendFloat(b, r.WallS)
	}
	b = append(b, '}')
	if n := len(b) - begin + 1; n > MaxLine {
		return b[:begin], fmt.Errorf("row of key %s: a line of %d bytes, want at most %d", r.Key, n, MaxLine)
	}
	return b, nil
}

func appendAxes(b []byte, list []Coordinate) []byte {
	b = append(b, `,"axes":{`...)
	for i, c := range list {
		b = append(appendName(b, i, c.Axis), c.Value...)
	}
	return append(b, '}')
}

func (r *Row) appendMeasures(b []byte) []byte {
	b = append(b, `,"measures":{`...)
	for i, m := range r.Measures {
		b = appendName(b, i, m.Name)
		if m.Value == nil {
			b = append(b, "null"...)
		} else {
			b = appendFloat(b, *m.Value)
		}
	}
	b = append(b, '}')
	if len(r.Reasons) == 0 {
		return b
	}
	b = append(b, `,"reasons":{`...)
	for i, name := range slices.Sorted(maps.Keys(r.Reasons)) { // any order: sorted
		b = appendString(appendName(b, i, name), r.Reasons[name])
	}
	return append(b, '}')
}

// appendName appends the name of the i-th member of an object.
func appendName(b []byte, i int, name string) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return append(appendString(b, name), ':')
}

// appendText appends a member unless it is empty.
func appendText(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return appendString(append(b, name...), text)
}

// appendFloat appends the shortest text that is read as the same bits, in the
// form of encoding/json.
func appendFloat(b []byte, x float64) []byte {
	format := byte('f')
	if abs := math.Abs(x); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	b = strconv.AppendFloat(b, x, format, -1, 64)
	if n := len(b); format == 'e' && n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' {
		b[n-2] = b[n-1] // e-09 becomes e-9
		b = b[:n-1]
	}
	return b
}

// appendString appends a JSON string.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	begin := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, s[begin:i]...), "\ufffd"...)
				begin = i + 1
			}
			i += size
			continue
		}
		b = append(b, s[begin:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = fmt.Appendf(b, `\u%04x`, c)
		}
		i++
		begin = i
	}
	return append(append(b, s[begin:]...), '"')
}
