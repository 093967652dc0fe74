package traces

// lengthsReader reads the processed traces of Vidur: CSV with the columns
// num_prefill_tokens, num_decode_tokens, if wanted num_total_tokens, which must
// be their sum, and pd_ratio, their quotient, which is ignored. The rows have no
// arrivals: Options.Pace gives them theirs.
type lengthsReader struct {
	*lines
	columns columns
	width   int
	fields  [][]byte
}

var lengthsNames = []string{"num_prefill_tokens", "num_decode_tokens", "num_total_tokens", "pd_ratio"}

func (l *lengthsReader) begin() (has optional, err error) {
	l.columns, l.width, err = l.header(Lengths, lengthsNames[:2], lengthsNames[2:], false)
	return has, err
}

func (l *lengthsReader) parse(line []byte, r *row) (err error) {
	if l.fields, err = l.row(line, l.fields, l.width); err != nil {
		return err
	}
	field := func(place int) []byte { return l.columns.field(l.fields, place) }
	if err := l.lengths(r, lengthsNames[0], field(0), lengthsNames[1], field(1)); err != nil {
		return err
	}
	return l.total(r, lengthsNames[2], l.columns[2] >= 0, field(2))
}
