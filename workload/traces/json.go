package traces

import "encoding/json"

// object finds the values of the keys called names in a line that is a JSON
// object: values[k] is the text behind names[k], nil where the key is absent.
// Other keys are passed over; of a key given twice the last counts, as usual in
// JSON.
func (l *lines) object(line []byte, names []string, values [][]byte) error {
	clear(values)
	if scanObject(line, names, values) {
		return nil
	}
	clear(values)
	if err := decodeObject(line, names, values); err != nil {
		return l.bad("row", line, "one JSON object a line: %v", err)
	}
	return nil
}

// scanObject finds the values of the known keys in a line of the usual form: a
// flat JSON object whose strings have no escapes and whose lists are of whole
// numbers. It reports false for everything else, well-formed or not: then
// decodeObject decides. What it accepts, decodeObject accepts with the same
// values; a fuzz test holds it to that.
func scanObject(s []byte, names []string, values [][]byte) bool {
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
		for k, name := range names {
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

// trimJSON cuts JSON white space off both ends.
func trimJSON(s []byte) []byte {
	s = blanks(s)
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t' || s[len(s)-1] == '\r' || s[len(s)-1] == '\n') {
		s = s[:len(s)-1]
	}
	return s
}

// decodeObject does what scanObject does for any JSON object.
func decodeObject(line []byte, names []string, values [][]byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(line, &object); err != nil {
		return err
	}
	for k, name := range names {
		if v, ok := object[name]; ok {
			values[k] = v
		}
	}
	return nil
}
