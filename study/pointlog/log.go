package pointlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Rows are synced as soon as there are batchRows of them, batchBytes, or one that
// is batchDelay old: no more can be lost by a kill.
const (
	batchRows  = 64
	batchBytes = 4 << 20
	batchDelay = time.Second
)

// Options of Open.
type Options struct {
	Stem    string       // of the names of files; DefaultStem if empty
	Shard   Shard        // whose rows this process writes
	Version int          // semantics version that all rows must have; 0: that of the first one
	Note    func(string) // told in one line what is worth knowing and no error; may be nil

	disk disk // of tests
}

// Log is the rows of a folder, open to append. It is safe for concurrent use.
type Log struct {
	disk  disk
	dir   string
	stem  string
	file  file
	locks locks

	mutex   sync.Mutex // guards what is below
	table   *Table
	own     int    // file in table.files
	lines   uint32 // of file, pending ones included
	written int64  // length of file in bytes
	pending []byte // rows that are not written yet
	line    []byte // the last row
	names   distinctNames
	given   int // rows that Append was given and are not wrong
	synced  int // of these
	timer   *time.Timer
	err     error // of the first write or sync that failed, or errClosed
}

var errClosed = errors.New("the log is closed")

// Open opens the log of a shard in a folder, which it makes if it is not there. It
// takes the lock of the shard: if another process has it, that is an error. Then it
// reads what the folder has. A last line without newline is cut off and noted; any
// other bad line is an error with file and line.
//
// The whole reads the rows of all shards in the folder too, a shard those of the
// whole: they need not be run again.
func Open(dir string, o Options) (*Log, error) {
	if o.Stem == "" {
		o.Stem = DefaultStem
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.disk == nil {
		o.disk = realDisk{}
	}
	if err := o.Shard.check(); err != nil {
		return nil, err
	}
	if filepath.Base(o.Stem) != o.Stem {
		return nil, fmt.Errorf("%q cannot begin the name of a file", o.Stem)
	}
	if err := makeFolder(o.disk, dir); err != nil {
		return nil, err
	}
	held, err := lockFolder(dir, o.Stem, o.Shard, o.Note)
	if err != nil {
		return nil, err
	}
	l := &Log{disk: o.disk, dir: dir, stem: o.Stem, locks: held, table: newTable(o.Version)}
	if err := l.read(o); err != nil {
		l.table.Close()
		held.close()
		return nil, err
	}
	l.timer = time.AfterFunc(math.MaxInt64, l.tick)
	l.timer.Stop()
	return l, nil
}

// makeFolder makes a folder that is not there, so that it stays there.
func makeFolder(d disk, dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return d.syncFolder(filepath.Dir(dir))
}

// read reads the files of the folder, that of the shard last.
func (l *Log) read(o Options) error {
	path := filepath.Join(l.dir, o.Shard.name(l.stem)+".jsonl")
	others, err := logs(l.dir, l.stem)
	if err != nil {
		return err
	}
	if o.Shard == (Shard{}) {
		removeTemporary(l.dir)
	}
	for _, other := range others {
		if other != path && (o.Shard == (Shard{}) || other == filepath.Join(l.dir, l.stem+".jsonl")) {
			if err := l.table.addFile(other); err != nil {
				return err
			}
		}
	}
	if l.file, err = l.disk.open(path); err != nil {
		return err
	}
	l.own = len(l.table.files)
	end, err := l.table.add(source{path, l.file, l.file})
	if err != nil {
		return err
	}
	if end.torn > 0 {
		o.Note(fmt.Sprintf("%s: the last line was not written whole: its %d bytes are cut off", path, end.torn))
		if err := l.file.Truncate(end.whole); err != nil {
			return err
		}
	}
	l.written, l.lines = end.whole, end.lines
	if err := l.file.Sync(); err != nil { // what a killed process wrote may not be on disk yet
		return err
	}
	return l.disk.syncFolder(l.dir)
}

// Append adds a row. It is on disk after the next sync: that of Sync or Close, that
// after 64 rows, or that after one second. If a write or a sync fails that error
// comes back from every later call, and nothing is written any more: what the file
// has then is known only after it was opened again. A row that is wrong in itself
// is an error too, and leaves the log as it is.
func (l *Log) Append(r *Row) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var err error
	if l.line, err = r.append(l.line[:0], false, &l.names); err != nil {
		return err
	}
	if _, there := l.table.entries[r.Key]; there {
		l.flush() // put may have to read it
	}
	if l.err != nil {
		l.given++
		return l.err
	}
	at := place{l.written + int64(len(l.pending)), uint32(len(l.line)), l.lines + 1}
	plain := r.Stack == "" && bytes.IndexByte(l.line, '\\') < 0
	if err := l.table.put(r, l.own, at, plain); err != nil {
		return fmt.Errorf("%s: %w", l.file.Name(), err)
	}
	if len(l.pending) == 0 {
		l.timer.Reset(batchDelay)
	}
	l.pending = append(append(l.pending, l.line...), '\n')
	l.lines++
	l.given++
	if l.given-l.synced >= batchRows || len(l.pending) >= batchBytes {
		return l.flush()
	}
	return nil
}

// Sync returns once all rows that were appended are on disk.
func (l *Log) Sync() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.flush()
}

// flush writes what is pending with one write and syncs it. It is tried once: what
// a file has after a failed sync is not known, and a second sync may succeed
// without it.
func (l *Log) flush() error {
	if l.err != nil || len(l.pending) == 0 {
		return l.err
	}
	l.timer.Stop()
	n, err := l.file.Write(l.pending)
	if err == nil && n < len(l.pending) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		l.err = fmt.Errorf("rows are lost: %s: %w", l.file.Name(), err)
		return l.err
	}
	l.written += int64(n)
	l.pending, l.synced = l.pending[:0], l.given
	return nil
}

// tick is called when a row is batchDelay old.
func (l *Log) tick() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.flush() // an error stays
}

// Lost is the number of appended rows that are not known to be on disk: after Close
// those that are lost.
func (l *Log) Lost() int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.given - l.synced
}

// Done reports whether a key has a row that stands, as Row.Done says.
func (l *Log) Done(key Key, retryFailed bool) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.table.Done(key, retryFailed)
}

// Row is the row of a key, and whether there is one. It is read from disk.
func (l *Log) Row(key Key) (Row, bool, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if e := l.table.entries[key]; int(e.file) == l.own && e.offset >= l.written {
		if err := l.flush(); err != nil {
			return Row{}, false, err
		}
	}
	return l.table.Row(key)
}

// Counts counts what the log has, rows included that are not on disk yet.
func (l *Log) Counts() Counts {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.table.Counts()
}

// Close syncs, and gives the lock back. It returns the error of the first write or
// sync that failed.
func (l *Log) Close() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if errors.Is(l.err, errClosed) {
		return nil
	}
	err := l.flush()
	if closed := l.table.Close(); err == nil {
		err = closed
	}
	l.timer.Stop()
	l.locks.close()
	l.err = errClosed
	return err
}
