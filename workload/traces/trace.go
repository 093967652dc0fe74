package traces

import (
	"errors"
	"fmt"
	"io"

	"blis/vtime"
	"blis/workload"
)

// Trace is a Source that replays a file. Requests come in order of arrival,
// equal arrivals as they stand in the file.
//
// Where time 0 is: an Azure trace has dates, so its first request arrives at
// 0, as in the output of a load generator. The other formats count from a start of their own choosing, which is
// kept, unless the first arrival is beyond 10¹² µs (11.6 days; in our own
// format 10¹⁴ µs, 3.2 years), which is a clock for certain, or Offset cuts off
// the beginning: then too the first request arrives at 0. Deadlines move along.
// A trace without arrivals has the arrivals of Options.Pace as they are.
type Trace struct {
	table   table
	labels  workload.Labels
	format  Format
	paced   bool       // its arrivals come from Options.Pace
	header  *simFields // of the public simulator's format, when there is one
	options Options
	perTick int64 // units of the table's arrivals in a µs
	origin  int64 // the arrival that becomes time 0
	first   int   // place of the next request to pull
	end     int   // place after the last one
	pulled  uint64
	skipped int
	reason  error
	notes   []string
}

// Open reads a trace, plain, gzip or the one file of a zip archive (recognised by the
// first bytes, see textio.Open), in one of the formats of this package, recognised by its content unless given. It reads to
// the end and holds a compact table (see table), so every error of the file
// is reported here, by file, line and column; name stands for the file.
// A file without requests is an error.
func Open(name string, r io.Reader, o Options) (*Trace, error) {
	return open(name, r, o, nil)
}

// sibling opens the file beside the trace that has the same name with another
// ending: the first of the given endings that exists. It returns what Open
// wants of it, and nil when there is none.
type sibling func(endings ...string) (name string, r io.Reader, err error)

func open(name string, r io.Reader, o Options, beside sibling) (*Trace, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Speedup == 0 {
		o.Speedup = 1
	}
	if o.BlockSize == 0 {
		o.BlockSize = 512
	}
	text, err := openLines(name, r)
	if err != nil {
		return nil, err
	}
	text.ignore = o.Ignore
	t := &Trace{format: o.Format, options: o}
	if text, err = t.recognise(text, beside); err != nil {
		return nil, err
	}
	var reader any
	if isTool(t.format) {
		reader, err = t.readTool(text)
	} else {
		reader, err = t.readRows(text)
	}
	if err != nil {
		return nil, err
	}
	if err := t.arrange(text.name, reader); err != nil {
		return nil, err
	}
	t.noteFile(text, reader)
	return t, nil
}

// readRows reads a text with a row on each line.
func (t *Trace) readRows(text *lines) (rowReader, error) {
	if t.paced = t.format == Lengths; t.paced && t.options.Pace == nil {
		return nil, t.unpaced(text.name)
	}
	reader := t.reader(text)
	return reader, t.read(text, reader)
}

// unpaced is the error of a trace without arrivals.
func (t *Trace) unpaced(name string) error {
	return fmt.Errorf("rate: not given: want --rate, requests per second: the rows of %s have no arrivals (format %s)", name, t.format)
}

// recognise decides on the format, and for the public simulator's reads the
// header and moves on to the rows.
func (t *Trace) recognise(text *lines, beside sibling) (*lines, error) {
	if t.format == Guess {
		if err := strange(text); err != nil {
			return nil, err
		}
	}
	found := guess(text)
	if t.format == Guess || t.format == InferenceSim && found == simHeader {
		t.format = found
	}
	switch t.format {
	case serveGen:
		return nil, fmt.Errorf("%s: windows of a ServeGen client, which are no requests: want a file of requests, or these under servegen_data of a specification", text.name)
	case simHeader:
		return t.rowsBeside(text, beside)
	case InferenceSim:
		return text, t.headerBeside(beside)
	case Mooncake, Tokens:
		text.asValues()
	}
	return text, nil
}

// rowReader parses the rows of one format.
type rowReader interface {
	// begin reads what stands before the first row and says which parts of a
	// row the file has.
	begin() (optional, error)
	// parse fills r, whose optional parts are set to absent, from one line.
	// Its error is about this row alone.
	parse(line []byte, r *row) error
}

// finisher is a reader with work left once all rows are known and in order
// of arrival.
type finisher interface {
	finish(t *table) error
}

// reader is the reader of the format; it sets the unit of the arrivals.
func (t *Trace) reader(text *lines) rowReader {
	t.perTick = 1
	switch t.format {
	case Azure:
		t.perTick = 1000
		return &azureReader{lines: text}
	case Mooncake:
		return &mooncakeReader{lines: text, blockSize: int64(t.options.BlockSize)}
	case BurstGPT:
		return &burstReader{lines: text, labels: &t.labels}
	case Tokens:
		t.perTick = 1000
		return &tokensReader{lines: text}
	case InferenceSim:
		return &simReader{lines: text, labels: &t.labels, accumulate: t.header != nil && t.header.accumulate}
	case Vidur, Lengths:
		return &lengthsReader{lines: text, arrivals: t.format == Vidur}
	}
	return &blisReader{lines: text, labels: &t.labels}
}

func (t *Trace) read(text *lines, reader rowReader) error {
	has, err := reader.begin()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: no requests: the file is empty", text.name)
	}
	if err != nil {
		return err
	}
	t.table.has = has
	r := row{}
	for {
		line, err := text.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		r = row{maxOutput: workload.Absent, slack: -1, spans: r.spans[:0]}
		if err := reader.parse(line, &r); err != nil {
			if !t.options.SkipBadRows {
				return err
			}
			t.skip(err)
			continue
		}
		if t.table.rows() == maxRows {
			return fmt.Errorf("%s:%d: want at most %d requests", text.name, text.number, maxRows)
		}
		t.table.add(&r)
	}
	t.nameDefaults()
	if t.table.rows() > 0 {
		return nil
	}
	if t.skipped > 0 {
		return fmt.Errorf("%s: no requests: all %d rows are bad, the first: %w", text.name, t.skipped, t.reason)
	}
	return fmt.Errorf("%s: no requests", text.name)
}

func (t *Trace) skip(reason error) {
	if t.skipped == 0 {
		t.reason = reason
	}
	t.skipped++
}

// nameDefaults gives label 0 a name where the file names nothing, and numbers
// names in alphabetical order.
func (t *Trace) nameDefaults() {
	t.labels.NameUsual()
	renumbering := t.labels.Sort()
	for i := range t.table.tags {
		renumbering.Apply(&t.table.tags[i])
	}
}

// arrange brings the rows into order and decides which are replayed and where
// time 0 is.
func (t *Trace) arrange(name string, reader any) error {
	t.table.sort()
	if f, ok := reader.(finisher); ok {
		if err := f.finish(&t.table); err != nil {
			return err
		}
	}
	if err := t.cut(name); err != nil {
		return err
	}
	if t.paced {
		if err := t.walk(name); err != nil {
			return err
		}
	}
	if t.options.SpreadTies {
		t.table.spread()
	}
	start := t.table.arrival[t.table.at(t.first)]
	if t.format == Azure || isTool(t.format) && !t.paced || !t.paced && (t.options.Offset > 0 || start/t.perTick > t.unixTime()) {
		t.origin = start
	}
	last := t.table.at(t.end - 1)
	if t.arrival(last) > workload.Latest {
		return fmt.Errorf("trace-speedup: %v: the last arrival would pass the end of virtual time, 2⁶² µs; want a higher factor", t.options.Speedup)
	}
	return nil
}

// cut decides which of the rows in order are replayed.
func (t *Trace) cut(name string) error {
	rows := int64(t.table.rows())
	if t.options.Offset >= rows {
		return fmt.Errorf("trace-offset: %d: want less than the %d requests of %s", t.options.Offset, rows, name)
	}
	t.first, t.end = int(t.options.Offset), int(rows)
	if t.options.Limit > 0 && t.options.Limit < rows-t.options.Offset {
		t.end = t.first + int(t.options.Limit)
	}
	return nil
}

// walk gives the rows that are replayed the arrivals of Pace, in the order of
// the file, as far as there are some.
func (t *Trace) walk(name string) error {
	rows := t.table.arrival
	for i := t.first; i < t.end; i++ {
		at, more, err := t.options.Pace.Next()
		if err != nil {
			return err
		}
		if !more {
			t.end = i
			break
		}
		if at < 0 || at > workload.Latest || i > t.first && int64(at) < rows[i-1] {
			panic(fmt.Sprintf("traces: arrival %d of the pace is %d, after %d", i-t.first, at, rows[max(i-1, 0)]))
		}
		rows[i] = int64(at)
	}
	if t.first == t.end {
		return fmt.Errorf("rate: 0 for ever: want one at which the requests of %s arrive", name)
	}
	// Rows that are not replayed must not count as ties.
	t.table.arrival = rows[t.first:t.end]
	t.table.input, t.table.output = t.table.input[t.first:t.end], t.table.output[t.first:t.end]
	t.first, t.end = 0, t.end-t.first
	return nil
}

// unixTime is the first arrival, in µs, from which times are taken to count
// from a clock, such as Unix time, and not from the start of the trace. In our
// own format it is beyond what a simulation may last, so that what Write wrote
// is read with the same arrivals.
func (t *Trace) unixTime() int64 {
	if t.format == BLIS {
		return 100_000_000_000_000 // 3.2 years
	}
	return 1_000_000_000_000 // 11.6 days
}

// arrival is when row i arrives in the replay.
func (t *Trace) arrival(i int) vtime.Time {
	at := (t.table.arrival[i] - t.origin) / t.perTick
	if t.options.Speedup == 1 {
		return vtime.Time(at)
	}
	d, _ := vtime.Truncate(float64(at) / t.options.Speedup) // neither is NaN
	return vtime.Time(d)
}

// Pull implements Source; it never fails, as the file has been read.
func (t *Trace) Pull(r *workload.Request) (bool, error) {
	if t.first == t.end {
		return false, nil
	}
	i := t.table.at(t.first)
	t.table.fill(r, i)
	r.Index = t.pulled
	r.Arrival = t.arrival(i)
	if patience, ok := t.table.patience(i); ok {
		r.Deadline = r.Arrival.Add(patience)
	} else if t.options.Timeout > 0 {
		r.Deadline = r.Arrival.Add(t.options.Timeout)
	}
	t.first++
	t.pulled++
	return true, nil
}

// Labels implements Source. Names are in alphabetical order.
func (t *Trace) Labels() *workload.Labels { return &t.labels }

// Fold implements Source: a file has no random state.
func (t *Trace) Fold() uint64 { return 0 }

// Format is the format that was given or recognised.
func (t *Trace) Format() Format { return t.format }

// Paced reports whether the file has no arrivals, so that they come from
// Options.Pace.
func (t *Trace) Paced() bool { return t.paced }

// Remaining is the number of requests still to be pulled.
func (t *Trace) Remaining() int { return t.end - t.first }

// Skipped is the number of rows left out by SkipBadRows, and what was wrong
// with the first of them.
func (t *Trace) Skipped() (int, error) { return t.skipped, t.reason }
