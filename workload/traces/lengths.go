package traces

import (
	"blis/input/textio"
	"blis/workload"
)

// lengthsReader reads the processed traces of Vidur: CSV with the columns
// num_prefill_tokens, num_decode_tokens, if wanted num_total_tokens, which must
// be their sum, and pd_ratio, their quotient, which is not used. In format Vidur
// the column arrived_at says when a request arrives, in seconds; a float's
// decimals are rounded to the microsecond. In format Lengths the rows have no
// arrivals: Options.Pace gives them theirs.
type lengthsReader struct {
	*lines
	arrivals bool // of the file
	columns  columns
	width    int
	fields   [][]byte
}

// Places of the known columns. The last is the first of format Vidur.
const (
	lengthsInput = iota
	lengthsOutput
	lengthsTotal
	lengthsRatio
	lengthsArrival
)

var lengthsNames = []string{"num_prefill_tokens", "num_decode_tokens", "num_total_tokens", "pd_ratio"}

const arrivedAt = "arrived_at"

func (l *lengthsReader) begin() (has optional, err error) {
	h := heading{format: Lengths, required: lengthsNames[:lengthsTotal], optional: lengthsNames[lengthsTotal:], unneeded: []string{arrivedAt}}
	if l.arrivals {
		h = heading{format: Vidur, required: append([]string{arrivedAt}, h.required...), optional: h.optional}
	}
	l.columns, l.width, err = l.header(h)
	if l.arrivals && err == nil { // the order of places above
		l.columns = append(l.columns[1:], l.columns[0])
	}
	return has, err
}

func (l *lengthsReader) parse(line []byte, r *row) (err error) {
	if l.fields, err = l.row(line, l.fields, l.width); err != nil {
		return err
	}
	field := func(place int) []byte { return l.columns.field(l.fields, place) }
	if l.arrivals {
		at := field(lengthsArrival)
		us, ok := textio.Scaled(string(at), 6, int64(workload.Latest))
		if !ok {
			return l.bad(arrivedAt, at, "seconds from 0 to %d", workload.Latest/1e6)
		}
		r.arrival = us
	}
	if err := l.lengths(r, lengthsNames[lengthsInput], field(lengthsInput), lengthsNames[lengthsOutput], field(lengthsOutput)); err != nil {
		return err
	}
	return l.total(r, lengthsNames[lengthsTotal], l.columns[lengthsTotal] >= 0, field(lengthsTotal))
}
