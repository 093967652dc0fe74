package traces

import "blis/workload"

// burstReader reads the BurstGPT traces, in which columns may come in any
// order:
//
//	Timestamp       seconds with decimals, from a midnight long before the first row
//	Request tokens  of the prompt, from 1
//	Response tokens from 0, which marks a request that failed: it is kept, with
//	                no output
//	Total tokens    the sum of the two
//	Model           the model
//	Log Type        the tenant: conversations and the API are used by different people
//	Session ID      the session, any text; none for requests of the API
//	Elapsed time    how long the answer took then: ignored
//
// All but the first three may be missing, as files of version 1 lack Session ID
// and Elapsed time. Rounds of a session count in order of arrival.
type burstReader struct {
	*lines
	labels   *workload.Labels
	sessions sessions
	columns  columns
	width    int
	fields   [][]byte
}

// Places of the known columns.
const (
	burstTime = iota
	burstInput
	burstOutput
	burstTotal
	burstModel
	burstLog
	burstSession
	burstElapsed
)

var burstNames = []string{
	"Timestamp", "Request tokens", "Response tokens",
	"Total tokens", "Model", "Log Type", "Session ID", "Elapsed time",
}

func (b *burstReader) begin() (has optional, err error) {
	b.columns, b.width, err = b.header(heading{format: BurstGPT, required: burstNames[:burstTotal], optional: burstNames[burstTotal:]})
	if err != nil {
		return has, err
	}
	return optional{session: b.columns[burstSession] >= 0, labels: true}, nil
}

func (b *burstReader) parse(line []byte, r *row) (err error) {
	if b.fields, err = b.row(line, b.fields, b.width); err != nil {
		return err
	}
	field := func(place int) []byte { return b.columns.field(b.fields, place) }
	at := field(burstTime)
	us, ok := scaled(at, 6, uint64(workload.Latest))
	if !ok {
		return b.bad(burstNames[burstTime], at, "seconds from 0 to %d, without exponent", workload.Latest/1e6)
	}
	r.arrival = int64(us)
	if err := b.lengths(r, burstNames[burstInput], field(burstInput), burstNames[burstOutput], field(burstOutput)); err != nil {
		return err
	}
	if err := b.total(r, burstNames[burstTotal], b.columns[burstTotal] >= 0, field(burstTotal)); err != nil {
		return err
	}
	if err := b.intern(burstNames[burstModel], field(burstModel), &b.labels.Models, &r.tags.Model); err != nil {
		return err
	}
	if err := b.intern(burstNames[burstLog], field(burstLog), &b.labels.Tenants, &r.tags.Tenant); err != nil {
		return err
	}
	r.session = b.sessions.number(field(burstSession))
	return nil
}

func (b *burstReader) finish(t *table) error {
	if t.has.session {
		t.countRounds()
	}
	return nil
}

// total checks the column that has the sum of input and output, if there is one.
func (l *lines) total(r *row, column string, present bool, text []byte) error {
	if !present {
		return nil
	}
	sum := uint64(r.input) + uint64(r.output)
	if _, ok := whole(noDecimals(text), sum, sum); !ok {
		return l.bad(column, text, "the sum of input and output, %d + %d = %d", r.input, r.output, sum)
	}
	return nil
}
