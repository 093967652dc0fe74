package pointlog

import (
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"maps"
	"math"
)

// BytesPerPoint is the maximum memory of a table for each key, in bytes.
const BytesPerPoint = 128

// outcome is how a row ended. A larger one counts more between files.
type outcome uint8

const (
	unfinished outcome = 1 + iota // failed by wall or killed
	failed                        // by a property of the point
	refused
	ok
)

func outcomeOf(r *Row) outcome {
	switch {
	case r.Status == OK:
		return ok
	case r.Status == Refused:
		return refused
	case r.Cause == Wall || r.Cause == Killed:
		return unfinished
	}
	return failed
}

func (o outcome) done(retryFailed bool) bool {
	return o >= refused || o == failed && !retryFailed
}

// entry is where the row of a key lies that counts.
type entry struct {
	place
	digest  uint64 // hash of the digest, 0 without one
	file    uint16 // of Table.files
	outcome outcome
	plain   bool // decoder.plain of its line
}

// source is a file that a table reads rows from.
type source struct {
	name string
	io.ReaderAt
	io.Closer
}

// Table has, by key, the rows that count of some files. It is not safe for
// concurrent use.
type Table struct {
	files   []source
	rows    int // read, whether they count or not
	entries map[Key]entry
	seed    maphash.Seed
	decoder decoder
	line    []byte // the last that was read

	version   int    // of all rows; 0 where there is none yet
	versionBy string // what has that version
}

// Counts are numbers of rows and keys.
type Counts struct {
	Rows       int // lines; those of a key but the last do not count below
	Keys       int // the sum of those below
	OK         int
	Refused    int
	Failed     int // by a property of the point
	Unfinished int // ended by wall time or a kill
}

// newTable is a table for rows of a version; 0 is that of the first row.
func newTable(version int) *Table {
	return &Table{entries: map[Key]entry{}, seed: maphash.MakeSeed(), version: version, versionBy: "this program"}
}

// maxFiles bounds Table.files.
const maxFiles = 1<<16 - 1

// add reads a file into the table.
func (t *Table) add(f source) (ending, error) {
	if len(t.files) == maxFiles {
		return ending{}, fmt.Errorf("%s: more than %d files", f.name, maxFiles)
	}
	t.files = append(t.files, f)
	var row Row
	return scan(io.NewSectionReader(f, 0, math.MaxInt64), f.name, func(at place, line []byte) error {
		if err := t.decoder.parse(line, &row); err != nil {
			return err
		}
		return t.put(&row, len(t.files)-1, at, t.decoder.plain)
	})
}

// put takes a row into the table: it lies in a file at a place. plain is that of its entry.
func (t *Table) put(r *Row, file int, at place, plain bool) error {
	if t.version == 0 {
		t.version, t.versionBy = r.Version, fmt.Sprintf("%s:%d", t.files[file].name, at.line)
	}
	if r.Version != t.version {
		return fmt.Errorf("semantics version %d, and %s has %d: results of two versions are never mixed", r.Version, t.versionBy, t.version)
	}
	t.rows++
	now := entry{place: at, file: uint16(file), outcome: outcomeOf(r), plain: plain}
	if r.Digest != "" {
		now.digest = maphash.String(t.seed, r.Digest) | 1
	}
	before, there := t.entries[r.Key]
	if there && before.outcome == ok && now.outcome == ok && before.digest != now.digest {
		return t.contradiction(r, before)
	}
	if !there || before.file == now.file || now.outcome > before.outcome {
		t.entries[r.Key] = now
	}
	return nil
}

// contradiction is the error of an ok row whose digest is not that of another.
func (t *Table) contradiction(r *Row, before entry) error {
	var other Row
	if err := t.read(before, &other); err != nil {
		return err
	}
	return fmt.Errorf("key %s has the digest %s, and %s:%d has %s: a point has one result, so one of them is wrong",
		r.Key, r.Digest, t.files[before.file].name, before.line, other.Digest)
}

// read reads the row of an entry. It overwrites r.
func (t *Table) read(e entry, r *Row) error {
	line, err := t.readLine(e)
	if err == nil {
		err = t.located(e, t.decoder.parse(line, r))
	}
	return err
}

// readLine reads the line of an entry. It is valid until the next one is read.
func (t *Table) readLine(e entry) ([]byte, error) {
	if cap(t.line) < int(e.length) {
		t.line = make([]byte, e.length)
	}
	line := t.line[:e.length]
	_, err := t.files[e.file].ReadAt(line, e.offset)
	return line, t.located(e, err)
}

// located is an error with the place of an entry, nil for nil.
func (t *Table) located(e entry, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s:%d: %w", t.files[e.file].name, e.line, err)
}

// Row is the row of a key, and whether there is one. It is read from disk.
func (t *Table) Row(key Key) (Row, bool, error) {
	e, there := t.entries[key]
	if !there {
		return Row{}, false, nil
	}
	var r Row
	err := t.read(e, &r)
	return r, err == nil, err
}

// Done reports whether a key has a row that stands, as Row.Done says.
func (t *Table) Done(key Key, retryFailed bool) bool {
	return t.entries[key].outcome.done(retryFailed)
}

// Counts counts.
func (t *Table) Counts() Counts {
	c := Counts{Rows: t.rows, Keys: len(t.entries)}
	for _, e := range t.entries { // any order: sums
		switch e.outcome {
		case ok:
			c.OK++
		case refused:
			c.Refused++
		case failed:
			c.Failed++
		case unfinished:
			c.Unfinished++
		}
	}
	return c
}

// Version is the semantics version of all rows, 0 without any.
func (t *Table) Version() int { return t.version }

// Close closes the files.
func (t *Table) Close() error {
	var first error
	for _, f := range t.files {
		if err := f.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Keys yields the keys that have a row, in any order.
func (t *Table) Keys() iter.Seq[Key] { return maps.Keys(t.entries) }

// Done counts the keys that need not run again.
func (c *Counts) Done() int { return c.OK + c.Refused + c.Failed }
