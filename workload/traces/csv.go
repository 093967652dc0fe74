package traces

import (
	"bytes"
	"fmt"
	"strings"
)

// columns says where in a row of a CSV file each column that a format knows
// stands, −1 where it is absent.
type columns []int

// field is the trimmed field of a column, empty when the column is absent.
func (c columns) field(fields [][]byte, place int) []byte {
	if c[place] < 0 {
		return nil
	}
	return trim(fields[c[place]])
}

// has reports whether any of the columns is there.
func (c columns) has(places ...int) bool {
	for _, p := range places {
		if c[p] >= 0 {
			return true
		}
	}
	return false
}

// header reads the first line and finds the columns of a format in it, in any
// order: all of required, any of optional and, unless others are welcome,
// nothing else, so that a misspelt column is not silently ignored.
func (l *lines) header(format Format, required, optional []string, others bool) (columns, int, error) {
	line, err := l.next()
	if err != nil {
		return nil, 0, err
	}
	fields, ok := split(line, nil)
	if !ok {
		return nil, 0, l.bad("header", line, "quotes that are closed before the next comma")
	}
	known := append(append([]string(nil), required...), optional...)
	at := make(columns, len(known))
	for i := range at {
		at[i] = -1
	}
	var unknown, twice, missing []string
	for i, f := range fields {
		name := string(trim(f))
		k := indexOf(known, name)
		switch {
		case k < 0 && others:
		case k < 0:
			unknown = append(unknown, quote([]byte(name)))
		case at[k] >= 0:
			twice = append(twice, name)
		default:
			at[k] = i
		}
	}
	for k, name := range required {
		if at[k] < 0 {
			missing = append(missing, name)
		}
	}
	var faults []string
	for _, f := range []struct {
		what  string
		names []string
	}{{"missing ", missing}, {"given twice ", twice}, {"unknown ", unknown}} {
		if len(f.names) > 0 {
			faults = append(faults, f.what+strings.Join(f.names, ", "))
		}
	}
	if len(faults) == 0 {
		return at, len(fields), nil
	}
	want := strings.Join(required, ",")
	if len(optional) > 0 {
		want += " and any of " + strings.Join(optional, ",")
	}
	return nil, 0, fmt.Errorf("%s:%d: header: %s: %s: want the columns %s (format %s)",
		l.name, l.number, quote(line), strings.Join(faults, "; "), want, format)
}

func indexOf(list []string, name string) int {
	for i, s := range list {
		if s == name {
			return i
		}
	}
	return -1
}

// row splits the current line into the fields of the header.
func (l *lines) row(line []byte, fields [][]byte, width int) ([][]byte, error) {
	fields, ok := split(line, fields[:0])
	if !ok {
		return fields, l.bad("row", line, "quotes that are closed before the next comma")
	}
	if len(fields) != width {
		return fields, l.bad("row", line, "%d fields as in the header, not %d", width, len(fields))
	}
	return fields, nil
}

// split cuts a line at its commas. A field that begins with a quote ends with
// one and may hold commas and doubled quotes, which are undone in place. It
// reports false when a quote is not closed.
func split(line []byte, fields [][]byte) ([][]byte, bool) {
	for {
		if len(line) > 0 && line[0] == '"' {
			field, rest, ok := unquote(line)
			if !ok {
				return fields, false
			}
			fields = append(fields, field)
			if len(rest) == 0 {
				return fields, true
			}
			line = rest[1:]
			continue
		}
		i := bytes.IndexByte(line, ',')
		if i < 0 {
			return append(fields, line), true
		}
		fields = append(fields, line[:i])
		line = line[i+1:]
	}
}

// unquote takes the quoted field at the start of line. What is left is empty
// or begins with a comma.
func unquote(line []byte) (field, rest []byte, ok bool) {
	out := 1
	for i := 1; i < len(line); i++ {
		if line[i] == '"' {
			if i+1 == len(line) || line[i+1] == ',' {
				return line[1:out], line[i+1:], true
			}
			if line[i+1] != '"' {
				return nil, nil, false
			}
			i++
		}
		line[out] = line[i]
		out++
	}
	return nil, nil, false
}
