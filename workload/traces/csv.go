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

// heading is what the first line of a CSV file may be in a format.
type heading struct {
	format             Format
	required, optional []string
	unneeded           []string // columns that others write, and that say nothing here
	others             bool     // any other column is welcome
}

// header reads the first line and finds the columns of a format in it, in any
// order: all of required and any of optional. Others are left out and noted where
// they are known to be unneeded, have no name (as the index that pandas writes),
// or are those that the user wants ignored; else they are an error, so that a
// misspelt column is not silently ignored. Fields may be separated by commas,
// tabs, semicolons or bars.
func (l *lines) header(h heading) (columns, int, error) {
	line, err := l.next()
	if err != nil {
		return nil, 0, err
	}
	line = append([]byte(nil), line...) // splitting undoes quotes in place
	var found finding
	open := false // quotes, where commas separate
	for _, separator := range []byte(",\t;|") {
		fields, ok := split(append([]byte(nil), line...), nil, separator)
		open = open || !ok && separator == ','
		if !ok {
			continue
		}
		f := h.find(fields, l.ignore)
		if found.at == nil || len(f.missing) < len(found.missing) {
			found, l.separator = f, separator
		}
		if len(found.missing) == 0 {
			break
		}
	}
	if found.at == nil || open && len(found.missing) > 0 {
		return nil, 0, l.bad("header", line, "quotes that are closed before the next comma")
	}
	l.unused = found.unused
	if err := found.err(l, line, &h); err != nil {
		return nil, 0, err
	}
	return found.at, found.width, nil
}

// finding is where the columns of a format stand in a header.
type finding struct {
	at      columns
	width   int
	unused  []string // quoted, or "column 1, which has no name"
	unknown []string
	twice   []string
	missing []string
}

func (h *heading) find(fields [][]byte, ignore []string) finding {
	known := append(append([]string(nil), h.required...), h.optional...)
	f := finding{at: make(columns, len(known)), width: len(fields)}
	for i := range f.at {
		f.at[i] = -1
	}
	for i, field := range fields {
		name := string(trim(field))
		k := indexOf(known, name)
		switch {
		case indexOf(ignore, name) >= 0, k < 0 && indexOf(h.unneeded, name) >= 0:
			f.unused = append(f.unused, quote([]byte(name)))
		case k >= 0 && f.at[k] >= 0:
			f.twice = append(f.twice, name)
		case k >= 0:
			f.at[k] = i
		case h.others:
		case name == "" || i == 0 && strings.HasPrefix(name, "Unnamed: "):
			f.unused = append(f.unused, fmt.Sprintf("column %d, which has no name", i+1))
		default:
			f.unknown = append(f.unknown, quote([]byte(name)))
		}
	}
	for k, name := range h.required {
		if f.at[k] < 0 {
			f.missing = append(f.missing, name)
		}
	}
	return f
}

// err is what is wrong with a header, nil for nothing.
func (f *finding) err(l *lines, line []byte, h *heading) error {
	var faults []string
	for _, list := range []struct {
		what  string
		names []string
	}{{"missing ", f.missing}, {"given twice ", f.twice}, {"unknown ", f.unknown}} {
		if len(list.names) > 0 {
			faults = append(faults, list.what+strings.Join(list.names, ", "))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	want := strings.Join(h.required, ",")
	if len(h.optional) > 0 {
		want += " and any of " + strings.Join(h.optional, ",")
	}
	if want += fmt.Sprintf(" (format %s)", h.format); len(f.missing) == 0 && len(f.unknown) > 0 {
		want += "; trace-ignore-columns leaves others out"
	}
	return fmt.Errorf("%s:%d: header: %s: %s: want the columns %s", l.name, l.number, quote(line), strings.Join(faults, "; "), want)
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
	fields, ok := split(line, fields[:0], l.separator)
	if !ok {
		return fields, l.bad("row", line, "quotes that are closed before the next comma")
	}
	if len(fields) != width {
		return fields, l.bad("row", line, "%d fields as in the header, not %d", width, len(fields))
	}
	return fields, nil
}

// split cuts a line at its separators. A field that begins with a quote ends with
// one and may hold separators and doubled quotes, which are undone in place. It
// reports false when a quote is not closed.
func split(line []byte, fields [][]byte, separator byte) ([][]byte, bool) {
	for {
		if len(line) > 0 && line[0] == '"' {
			field, rest, ok := unquote(line, separator)
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
		i := bytes.IndexByte(line, separator)
		if i < 0 {
			return append(fields, line), true
		}
		fields = append(fields, line[:i])
		line = line[i+1:]
	}
}

// unquote takes the quoted field at the start of line. What is left is empty
// or begins with a separator.
func unquote(line []byte, separator byte) (field, rest []byte, ok bool) {
	out := 1
	for i := 1; i < len(line); i++ {
		if line[i] == '"' {
			if i+1 == len(line) || line[i+1] == separator {
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
