package measured

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"blis/input/textio"
)

// table reads a CSV file whose columns are found by name, in any order; columns
// that no one asks for are ignored, as measurements come with more than is
// needed. The values of a row are taken one after the other, and the first that
// is wrong is the error of the row, see err.
type table struct {
	name  string
	csv   *csv.Reader
	names []string // the columns that are known
	at    []int    // where each stands in a row, −1: nowhere
	width int      // fields of a row

	line  int // of the current row
	row   []string
	fault error // the first of the current row
}

// openTable reads the header. A missing column is an error that names all of
// them. Columns are called by their place in required followed by optional.
func openTable(name string, r io.Reader, required, optional []string) (*table, error) {
	text, err := plain(name, r)
	if err != nil {
		return nil, err
	}
	t := &table{name: name, csv: csv.NewReader(&shortLines{name: name, r: text})}
	t.csv.FieldsPerRecord = -1 // checked here, to say it in our words
	t.csv.ReuseRecord = true
	t.names = append(slices.Clone(required), optional...)
	header, err := t.csv.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: the file is empty: want a line with the columns %s", name, strings.Join(required, ","))
	}
	if err != nil {
		return nil, t.unreadable(err)
	}
	t.line, _ = t.csv.FieldPos(0)
	t.width = len(header)
	return t, t.find(header, required)
}

// columnsOf returns the header of a CSV file, nil if it cannot be read.
func columnsOf(path string) []string {
	header, _ := readFile(path, func(name string, r io.Reader) ([]string, error) {
		text, err := plain(name, r)
		if err != nil {
			return nil, err
		}
		return csv.NewReader(&shortLines{name: name, r: text}).Read()
	})
	for i, field := range header {
		header[i] = strings.TrimSpace(field)
	}
	return header
}

// find places the columns.
func (t *table) find(header, required []string) error {
	t.at = make([]int, len(t.names))
	for i := range t.at {
		t.at[i] = -1
	}
	var twice, missing []string
	for i, field := range header {
		k := slices.Index(t.names, strings.TrimSpace(field))
		switch {
		case k < 0:
		case t.at[k] >= 0:
			twice = append(twice, t.names[k])
		default:
			t.at[k] = i
		}
	}
	for k, name := range required {
		if t.at[k] < 0 {
			missing = append(missing, name)
		}
	}
	var faults []string
	if len(missing) > 0 {
		faults = append(faults, "missing "+strings.Join(missing, ", "))
	}
	if len(twice) > 0 {
		faults = append(faults, "given twice "+strings.Join(twice, ", "))
	}
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("%s:%d: header: %s: want the columns %s", t.name, t.line, strings.Join(faults, "; "), strings.Join(required, ","))
}

// next moves to the next row; false after the last.
func (t *table) next() (bool, error) {
	row, err := t.csv.Read()
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, t.unreadable(err)
	}
	t.row, t.fault = row, nil
	t.line, _ = t.csv.FieldPos(0)
	if len(row) != t.width {
		return false, bad(t.name, t.line, "row", strings.Join(row, ","), "%d fields as in the header, not %d", t.width, len(row))
	}
	return true, nil
}

// unreadable is an error of the CSV or of the text below it.
func (t *table) unreadable(err error) error {
	var syntax *csv.ParseError
	if errors.As(err, &syntax) {
		return fmt.Errorf("%s:%d: row: quotes in the wrong place: want a field with quotes to begin and end with them", t.name, syntax.StartLine)
	}
	if errors.As(err, new(longLine)) {
		return err
	}
	return broken(t.name, t.line, err)
}

// has reports whether the file has the column.
func (t *table) has(column int) bool { return t.at[column] >= 0 }

// text is the value of a column in the current row, empty where the file does
// not have it.
func (t *table) text(column int) string {
	if t.at[column] < 0 {
		return ""
	}
	return strings.TrimSpace(t.row[t.at[column]])
}

// bad makes the value of a column the error of the row, unless there is one.
func (t *table) bad(column int, want string, args ...any) {
	if t.fault == nil {
		t.fault = bad(t.name, t.line, t.names[column], t.text(column), want, args...)
	}
}

// err is the first error of the current row.
func (t *table) err() error { return t.fault }

// whole is the whole number in a column.
func (t *table) whole(column int, low, high int64) int64 {
	n, ok := textio.Whole(t.text(column), low, high)
	if !ok {
		t.bad(column, "a whole number from %d to %d", low, high)
	}
	return n
}

// wholeOr is the whole number in a column that may be absent or empty.
func (t *table) wholeOr(column int, low, high, otherwise int64) int64 {
	if t.text(column) == "" {
		return otherwise
	}
	return t.whole(column, low, high)
}

// decimalOr is the number from 0 to high in a column that may be absent or
// empty, in which case it is 0.
func (t *table) decimalOr(column int, high float64) float64 {
	if t.text(column) == "" {
		return 0
	}
	x, ok := decimal(t.text(column), high)
	if !ok {
		t.bad(column, "a number from 0 to %v", high)
	}
	return x
}

// truth is the yes or no in a column.
func (t *table) truth(column int) bool {
	yes, ok := truth(t.text(column))
	if !ok {
		t.bad(column, "1 or 0, true or false")
	}
	return yes
}

// shortLines refuses lines beyond 1 MiB, so that a file that is no table ends
// in an error and not in the memory.
type shortLines struct {
	name   string
	r      io.Reader
	number int // of complete lines
	length int // of the current one
}

const maxLine = 1 << 20

// longLine is the error of shortLines.
type longLine struct{ text string }

// Error implements error.
func (e longLine) Error() string { return e.text }

// Read implements io.Reader.
func (s *shortLines) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			s.length += len(rest)
			break
		}
		s.number, s.length = s.number+1, 0
		rest = rest[i+1:]
	}
	if s.length > maxLine {
		return 0, longLine{fmt.Sprintf("%s:%d: row: more than %d bytes: want lines of a table", s.name, s.number+1, maxLine)}
	}
	return n, err
}
