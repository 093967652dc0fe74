package traces

import (
	"bytes"
	"math"
)

// azureReader reads the Azure LLM inference traces of 2023 and 2024: CSV with
// the columns TIMESTAMP, ContextTokens and GeneratedTokens. Timestamps are
// dates with up to nine decimals of a second and, in 2024, a zone; arrivals
// are nanoseconds since 1970 in the table and become whole µs after the first
// arrival by truncation.
type azureReader struct {
	*lines
	columns columns
	width   int
	fields  [][]byte
}

var azureNames = [...]string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"}

func (a *azureReader) begin() (has optional, err error) {
	a.columns, a.width, err = a.header(heading{
		format: Azure, required: azureNames[:],
		unneeded: []string{"NumImages"}, // of the multimodal trace: the context counts their tokens
	})
	return has, err
}

func (a *azureReader) parse(line []byte, r *row) (err error) {
	if a.fields, err = a.row(line, a.fields, a.width); err != nil {
		return err
	}
	stamp := trim(a.fields[a.columns[0]])
	arrival, ok := parseDate(stamp)
	if !ok {
		return a.bad("TIMESTAMP", stamp, "a date such as 2023-11-16 18:17:03.9799600, with a zone (+01:00, Z) or without, from 1970 to 2261")
	}
	r.arrival = arrival
	return a.lengths(r, "ContextTokens", a.fields[a.columns[1]], "GeneratedTokens", a.fields[a.columns[2]])
}

// lengths parses the two counts that every format has.
func (l *lines) lengths(r *row, inputName string, input []byte, outputName string, output []byte) error {
	in, ok := count(input, 1)
	if !ok {
		return l.bad(inputName, input, "a whole number from 1 to %d", math.MaxInt32)
	}
	out, ok := count(output, 0)
	if !ok {
		return l.bad(outputName, output, "a whole number from 0 to %d", math.MaxInt32)
	}
	r.input, r.output = int32(in), int32(out)
	return nil
}

// count parses a number of tokens from low. Decimals of zero are welcome, as
// pandas writes 374.0 for 374 in a column of which a value was missing once.
func count(text []byte, low uint64) (uint64, bool) {
	return whole(noDecimals(trim(text)), low, math.MaxInt32)
}

// noDecimals cuts decimals of zero off a number.
func noDecimals(text []byte) []byte {
	if at := bytes.IndexByte(text, '.'); at > 0 && at < len(text)-1 && len(bytes.Trim(text[at+1:], "0")) == 0 {
		return text[:at]
	}
	return text
}

// parseDate reads "2023-11-16 18:17:03.9799600", with T for the blank and a zone
// behind it if wanted (Z, UTC, ±hh, ±hhmm or ±hh:mm, also after a blank), as
// nanoseconds since 1970.
func parseDate(s []byte) (int64, bool) {
	const shape = "0000-00-00 00:00:00"
	if len(s) < len(shape) {
		return 0, false
	}
	for i := range shape {
		c := s[i]
		digit := c >= '0' && c <= '9'
		if digit != (shape[i] == '0') || !digit && c != shape[i] && !(i == 10 && c == 'T') {
			return 0, false
		}
	}
	number := func(from, to int) int64 {
		n := int64(0)
		for _, c := range s[from:to] {
			n = n*10 + int64(c-'0')
		}
		return n
	}
	year, month, day := number(0, 4), number(5, 7), number(8, 10)
	hour, minute, second := number(11, 13), number(14, 16), number(17, 19)
	if year < 1970 || year > 2261 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) ||
		hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	fraction, zone, ok := parseTail(s[len(shape):])
	seconds := daysSince1970(year, month, day)*86400 + hour*3600 + minute*60 + second - zone
	return seconds*1e9 + fraction, ok && seconds >= 0
}

// parseTail reads what follows the seconds: a fraction, in ns, and a zone, in
// seconds east of Greenwich.
func parseTail(s []byte) (fraction, zone int64, ok bool) {
	if len(s) > 0 && s[0] == '.' {
		n := 1
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n == 1 || n > 10 {
			return 0, 0, false
		}
		f, _ := whole(s[1:n], 0, 1e9)
		for digits := n - 1; digits < 9; digits++ {
			f *= 10
		}
		fraction, s = int64(f), s[n:]
	}
	s = trim(s)
	switch string(s) {
	case "", "Z", "UTC", "GMT":
		return fraction, 0, true
	}
	if len(s) == 6 && s[3] == ':' {
		s = append(append([]byte(nil), s[:3]...), s[4:]...)
	}
	if len(s) == 3 {
		s = append(append([]byte(nil), s...), "00"...)
	}
	if len(s) != 5 || s[0] != '+' && s[0] != '-' {
		return 0, 0, false
	}
	hours, ok1 := whole(s[1:3], 0, 14)
	minutes, ok2 := whole(s[3:5], 0, 59)
	zone = int64(hours*3600 + minutes*60)
	if s[0] == '-' {
		zone = -zone
	}
	return fraction, zone, ok1 && ok2
}

func daysIn(year, month int64) int64 {
	switch {
	case month == 2 && (year%4 == 0 && year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	case month == 4 || month == 6 || month == 9 || month == 11:
		return 30
	}
	return 31
}

// daysSince1970 counts in the Gregorian calendar, years beginning in March.
func daysSince1970(year, month, day int64) int64 {
	if month <= 2 {
		year, month = year-1, month+12
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468
}
