package traces

import (
	"bytes"
	"encoding/json"
	"math"

	"blis/workload"
)

// mooncakeReader reads the Mooncake traces: one JSON object a line with
// timestamp (ms), input_length, output_length and hash_ids. Each id names the
// content of the next blockSize tokens of the prompt, the last one of what is
// left of it; tokens that no id covers are the request's own. Other keys are
// ignored; of a key given twice the last counts, as usual in JSON.
type mooncakeReader struct {
	*lines
	blockSize int64
}

// Places of the known keys in the values of a line.
const (
	mooncakeTime = iota
	mooncakeInput
	mooncakeOutput
	mooncakeHashes
	mooncakeKeys
)

var mooncakeNames = [mooncakeKeys]string{"timestamp", "input_length", "output_length", "hash_ids"}

func (m *mooncakeReader) begin() (optional, error) { return optional{spans: true}, nil }

func (m *mooncakeReader) parse(line []byte, r *row) error {
	var values [mooncakeKeys][]byte
	if !scanObject(line, &values) {
		values = [mooncakeKeys][]byte{}
		if err := decodeObject(line, &values); err != nil {
			return m.bad("row", line, "one JSON object a line: %v", err)
		}
	}
	for k, v := range values {
		if v == nil {
			return m.bad(mooncakeNames[k], nil, "this key in every line")
		}
	}
	ms := values[mooncakeTime]
	us, ok := scaled(ms, 3, uint64(workload.Latest))
	if !ok {
		return m.bad(mooncakeNames[mooncakeTime], ms, "milliseconds from 0 to %d, without exponent", workload.Latest/1000)
	}
	r.arrival = int64(us)
	if err := m.lengths(r, mooncakeNames[mooncakeInput], values[mooncakeInput], mooncakeNames[mooncakeOutput], values[mooncakeOutput]); err != nil {
		return err
	}
	return m.hashes(values[mooncakeHashes], r)
}

// hashes turns the ids of a line into spans.
func (m *mooncakeReader) hashes(list []byte, r *row) error {
	column := mooncakeNames[mooncakeHashes]
	if string(list) == "null" {
		return nil
	}
	if len(list) < 2 || list[0] != '[' || list[len(list)-1] != ']' {
		return m.bad(column, list, "a list of ids, [] for none")
	}
	left := int64(r.input)
	for rest, more := blanks(list[1:len(list)-1]), true; more && len(rest) > 0; {
		var text []byte
		text, rest, more = bytes.Cut(rest, []byte(","))
		// Id 0 exists, content 0 does not.
		id, ok := whole(trim(text), 0, math.MaxUint64-1)
		if !ok {
			return m.bad(column, trim(text), "whole numbers from 0 to %d", uint64(math.MaxUint64-1))
		}
		if left == 0 {
			return m.bad(column, list, "at most %d ids of %d tokens for input_length %d", len(r.spans), m.blockSize, r.input)
		}
		n := min(left, m.blockSize)
		r.spans = append(r.spans, workload.Span{Content: workload.ContentID(id) + 1, Length: int32(n)})
		left -= n
	}
	return nil
}

// scanObject finds the values of the known keys in a line of the usual form: a
// flat JSON object whose strings have no escapes and whose lists are those of
// hash_ids. It reports false for everything else, well-formed or not: then
// decodeObject decides. What it accepts, decodeObject accepts with the same
// values; a fuzz test holds it to that.
func scanObject(s []byte, values *[mooncakeKeys][]byte) bool {
	s = blanks(s)
	if len(s) == 0 || s[0] != '{' {
		return false
	}
	for s = blanks(s[1:]); ; s = blanks(s[1:]) {
		key, rest, ok := scanString(s)
		if !ok {
			return false
		}
		rest = blanks(rest)
		if len(rest) == 0 || rest[0] != ':' {
			return false
		}
		value, rest, ok := scanValue(blanks(rest[1:]))
		if !ok {
			return false
		}
		for k, name := range mooncakeNames {
			if string(key) == name {
				values[k] = value
				break
			}
		}
		s = blanks(rest)
		if len(s) == 0 || s[0] != ',' {
			break
		}
	}
	return len(s) > 0 && s[0] == '}' && len(blanks(s[1:])) == 0
}

// scanString takes a string without escapes off the front of s.
func scanString(s []byte) (text, rest []byte, ok bool) {
	if len(s) == 0 || s[0] != '"' {
		return nil, nil, false
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return s[1:i], s[i+1:], true
		case c < ' ' || c == '\\' || c >= 0x80:
			return nil, nil, false
		}
	}
	return nil, nil, false
}

// scanValue takes a string, a number in plain digits or a list of such numbers
// off the front of s.
func scanValue(s []byte) (value, rest []byte, ok bool) {
	if len(s) == 0 {
		return nil, nil, false
	}
	switch s[0] {
	case '"':
		text, rest, ok := scanString(s)
		return s[:min(len(s), len(text)+2)], rest, ok
	case '[':
		rest = blanks(s[1:])
		if len(rest) > 0 && rest[0] == ']' {
			return s[:len(s)-len(rest)+1], rest[1:], true
		}
		for {
			n := digits(rest)
			if n == 0 {
				return nil, nil, false
			}
			rest = blanks(rest[n:])
			if len(rest) == 0 {
				return nil, nil, false
			}
			if rest[0] == ']' {
				return s[:len(s)-len(rest)+1], rest[1:], true
			}
			if rest[0] != ',' {
				return nil, nil, false
			}
			rest = blanks(rest[1:])
		}
	}
	n := digits(s)
	return s[:n], s[n:], n > 0
}

// digits is the length of the plain JSON number at the front of s, without
// sign, decimals or leading zero; 0 when there is none.
func digits(s []byte) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n > 1 && s[0] == '0' {
		return 0
	}
	return n
}

// blanks cuts JSON white space off the front of s.
func blanks(s []byte) []byte {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t' || s[0] == '\r' || s[0] == '\n') {
		s = s[1:]
	}
	return s
}

// decodeObject does what scanObject does for any JSON object.
func decodeObject(line []byte, values *[mooncakeKeys][]byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(line, &object); err != nil {
		return err
	}
	for k, name := range mooncakeNames {
		if v, ok := object[name]; ok {
			values[k] = v
		}
	}
	return nil
}
