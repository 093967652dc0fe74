package pointlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strconv"
)

// Label is a point under its name in a sweep. Labels with equal keys are shown
// each, with the one row of the key.
type Label struct {
	Index int64 // of the sorted file's row
	Axes  []Coordinate
	Key   Key
}

// MissingError says that points have no row, so that no sorted file was written.
type MissingError struct {
	Missing int   // labels without a row
	Labels  int   // all
	First   Label // the first that is missing
}

// Error says how many and which.
func (e *MissingError) Error() string {
	return fmt.Sprintf("%d of %d points have no row: the first is point %d with key %s", e.Missing, e.Labels, e.First.Index, e.First.Key)
}

// WriteSorted writes the sorted file of the folder: one row for each label, which
// come with rising index. It has no stacks and no wall times, so its bytes depend on
// the points alone. Rows that no label names are left out. Without a row for every
// label it is not written: MissingError.
func (l *Log) WriteSorted(labels iter.Seq[Label]) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if err := l.flush(); err != nil {
		return err
	}
	return l.table.writeSorted(l.disk, l.dir, l.stem, labels)
}

// WriteSorted is Log.WriteSorted into a folder where no sweep is running: it has the
// lock meanwhile. note is that of Options.
func (t *Table) WriteSorted(dir string, labels iter.Seq[Label], note func(string)) error {
	if note == nil {
		note = func(string) {}
	}
	if err := makeFolder(realDisk{}, dir); err != nil {
		return err
	}
	held, err := lockFolder(dir, DefaultStem, Shard{}, note)
	if err != nil {
		return err
	}
	defer held.close()
	return t.writeSorted(realDisk{}, dir, DefaultStem, labels)
}

func (t *Table) writeSorted(d disk, dir, stem string, labels iter.Seq[Label]) error {
	return writeFile(d, filepath.Join(dir, SortedName(stem)), func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 1<<20)
		missing := MissingError{}
		last := int64(-1)
		var line []byte
		for label := range labels {
			if label.Index <= last {
				return fmt.Errorf("label %d follows label %d: want rising indexes", label.Index, last)
			}
			last = label.Index
			missing.Labels++
			e, there := t.entries[label.Key]
			if !there {
				if missing.Missing == 0 {
					missing.First = label
				}
				missing.Missing++
				continue
			}
			if missing.Missing > 0 {
				continue // only to count
			}
			var err error
			if line, err = t.appendSorted(line[:0], e, label); err != nil {
				return err
			}
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
		if missing.Missing > 0 {
			return &missing
		}
		return out.Flush()
	})
}

// appendSorted appends the line of a label with the row of an entry.
func (t *Table) appendSorted(b []byte, e entry, label Label) ([]byte, error) {
	line, err := t.readLine(e)
	if err != nil {
		return b, err
	}
	if e.plain {
		return t.copySorted(b, e, line, label)
	}
	var r Row
	if err := t.decoder.parse(line, &r); err != nil {
		return b, t.located(e, err)
	}
	r.Index, r.Axes = label.Index, label.Axes
	b, err = r.append(b, true, &t.decoder.known)
	return append(b, '\n'), err
}

// What stands before and after index and axes in a plain line, and before the wall time.
const (
	beforeIndex = `{"schema":"` + Schema + `","key":"00000000000000000000000000000000","index":`
	afterAxes   = `},"seed":`
	beforeWall  = `,"wall_s":`
)

// copySorted is appendSorted for a plain line: all but index, axes and wall time is copied.
// Nothing within a string looks like what it searches for, since a plain line has no escapes
// and so no quotation mark in a string.
func (t *Table) copySorted(b []byte, e entry, line []byte, label Label) ([]byte, error) {
	from, to := bytes.Index(line, []byte(afterAxes)), bytes.LastIndex(line, []byte(beforeWall))
	if from < len(beforeIndex) || to < from {
		return b, t.located(e, errors.New("the line has changed since it was read"))
	}
	if err := checkAxes(label.Axes, &t.decoder.known); err != nil {
		return b, fmt.Errorf("label %d: %w", label.Index, err)
	}
	begin := len(b)
	b = strconv.AppendInt(append(b, line[:len(beforeIndex)]...), label.Index, 10)
	b = appendAxes(b, label.Axes)
	b = append(append(b, line[from+1:to]...), "}\n"...)
	if n := len(b) - begin; n > MaxLine {
		return b, fmt.Errorf("label %d: a line of %d bytes, want at most %d", label.Index, n, MaxLine)
	}
	return b, nil
}

// SortedName is the name of the sorted file of a stem.
func SortedName(stem string) string { return stem + ".sorted.jsonl" }
