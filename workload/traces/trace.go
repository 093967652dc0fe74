package traces

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"blis/vtime"
	"blis/workload"
)

// Format names a trace format.
type Format string

// The trace formats that Open reads.
const (
	Guess    Format = ""         // by the content
	Azure    Format = "azure"    // CSV: TIMESTAMP,ContextTokens,GeneratedTokens
	Mooncake Format = "mooncake" // JSONL: timestamp in ms, input_length, output_length, hash_ids
	BLIS     Format = "blis"     // our own CSV, see blis.go
)

// Options says how a trace is replayed. The zero value replays all of it
// as it was recorded. Names in errors are those of the flags.
type Options struct {
	Format Format

	// BlockSize is the number of tokens that one hash id of a Mooncake trace
	// stands for; 0: 512. Other formats have no hash ids and do not use it.
	BlockSize int32

	// Offset skips that many requests, Limit keeps at most that many (0: all);
	// both count in order of arrival.
	Offset, Limit int64

	// Speedup divides the times between arrivals: 2 doubles the rate. 0: 1.
	// Deadlines keep their distance from the arrival.
	Speedup float64

	// SpreadTies moves requests with equal coarse timestamps apart, evenly
	// within the smallest difference between two arrival times of the file.
	SpreadTies bool

	// SkipBadRows leaves rows out that would be errors and counts them, see
	// Trace.Skipped. A bad header or a file that cannot be read is an error
	// all the same.
	SkipBadRows bool

	// Timeout gives requests without a deadline of their own the deadline
	// arrival + Timeout. 0: none.
	Timeout vtime.Duration
}

func (o *Options) check() error {
	var bad workload.Faults
	switch o.Format {
	case Guess, Azure, Mooncake, BLIS:
	default:
		bad.Add("trace-format", fmt.Sprintf("%q", o.Format), "want %s, %s or %s", Azure, Mooncake, BLIS)
	}
	if o.BlockSize < 0 {
		bad.Add("trace-block-size", o.BlockSize, "want at least 1 token, 0 for 512")
	}
	if o.Offset < 0 {
		bad.Add("trace-offset", o.Offset, "want 0 or more requests")
	}
	if o.Limit < 0 {
		bad.Add("trace-limit", o.Limit, "want at least 1 request, 0 for all")
	}
	if !(o.Speedup >= 0) || math.IsInf(o.Speedup, 0) {
		bad.Add("trace-speedup", o.Speedup, "want a finite factor above 0, 0 for 1")
	}
	if o.Timeout < 0 {
		bad.Add("timeout", o.Timeout, "want 0 (none) or more")
	}
	return bad.Err("")
}

// Trace is a Source that replays a file. Requests come in order of arrival,
// equal arrivals as they stand in the file.
//
// Where time 0 is: an Azure trace has dates, so its first request arrives at
// 0. The other formats count from a start of their own choosing, which is
// kept, unless the first arrival is beyond 10¹² µs (11.6 days), a Unix time
// for certain, or Offset cuts off the beginning: then too the first request
// arrives at 0. Deadlines move along.
type Trace struct {
	table   table
	labels  workload.Labels
	format  Format
	options Options
	perTick int64 // units of the table's arrivals in a µs
	origin  int64 // the arrival that becomes time 0
	first   int   // place of the next request to pull
	end     int   // place after the last one
	pulled  uint64
	skipped int
	reason  error
}

// unixTime is the first arrival, in µs, from which times are taken to count
// from 1970 and not from the start of the trace.
const unixTime = 1_000_000_000_000

// Open reads a trace, plain or gzip (told by its first bytes), in one of
// the formats of this package, told by its content unless given. It reads to
// the end and holds a compact table (see table), so every error of the file
// is reported here, by file, line and column; name stands for the file.
// A file without requests is an error.
func Open(name string, r io.Reader, o Options) (*Trace, error) {
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
	t := &Trace{format: o.Format, options: o}
	if t.format == Guess {
		t.format = guess(text)
	}
	if err := t.read(text); err != nil {
		return nil, err
	}
	if err := t.arrange(name); err != nil {
		return nil, err
	}
	return t, nil
}

// guess looks at the first line: a JSON object, the names that Azure's columns
// have, or else our own format, whose reader explains what it misses.
func guess(text *lines) Format {
	start, _ := text.r.Peek(4096)
	head, _, _ := strings.Cut(strings.TrimLeft(string(start), " \t\r\n"), "\n")
	switch {
	case strings.HasPrefix(head, "{"):
		return Mooncake
	case strings.Contains(head, "TIMESTAMP") || strings.Contains(head, "ContextTokens"):
		return Azure
	}
	return BLIS
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

func (t *Trace) read(text *lines) error {
	var reader rowReader
	t.perTick = 1
	switch t.format {
	case Azure:
		t.perTick = 1000
		reader = &azureReader{lines: text}
	case Mooncake:
		reader = &mooncakeReader{lines: text, blockSize: int64(t.options.BlockSize)}
	default:
		reader = &blisReader{lines: text, labels: &t.labels}
	}
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

// nameDefaults gives label 0 a name where the file names nothing.
func (t *Trace) nameDefaults() {
	if t.labels.Tenants.Len() == 0 {
		t.labels.Tenants.Label("")
	}
	if t.labels.Classes.Len() == 0 {
		t.labels.Classes.Label(workload.DefaultClass)
	}
	if t.labels.Models.Len() == 0 {
		t.labels.Models.Label("")
	}
}

// arrange brings the rows into order and decides which are replayed and where
// time 0 is.
func (t *Trace) arrange(name string) error {
	t.table.sort()
	if t.options.SpreadTies {
		t.table.spread()
	}
	rows := int64(t.table.rows())
	if t.options.Offset >= rows {
		return fmt.Errorf("trace-offset: %d: want less than the %d requests of %s", t.options.Offset, rows, name)
	}
	t.first, t.end = int(t.options.Offset), int(rows)
	if t.options.Limit > 0 && t.options.Limit < rows-t.options.Offset {
		t.end = t.first + int(t.options.Limit)
	}
	start := t.table.arrival[t.table.at(t.first)]
	if t.format == Azure || t.options.Offset > 0 || start > unixTime {
		t.origin = start
	}
	last := t.table.at(t.end - 1)
	if t.arrival(last) > workload.Latest {
		return fmt.Errorf("trace-speedup: %v: the last arrival would pass the end of virtual time, 2⁶² µs; want a higher factor", t.options.Speedup)
	}
	return nil
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

// Labels implements Source. Names are in order of first use in the file.
func (t *Trace) Labels() *workload.Labels { return &t.labels }

// Fold implements Source: a file has no random state.
func (t *Trace) Fold() uint64 { return 0 }

// Format is the format that was given or recognised.
func (t *Trace) Format() Format { return t.format }

// Remaining is the number of requests still to be pulled.
func (t *Trace) Remaining() int { return t.end - t.first }

// Skipped is the number of rows left out by SkipBadRows, and what was wrong
// with the first of them.
func (t *Trace) Skipped() (int, error) { return t.skipped, t.reason }
