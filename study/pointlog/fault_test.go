package pointlog

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"blis/internal/testsize"
)

// faultyDisk is the real one, where some operations fail: each is asked for an
// error before it happens. It also knows what of the files was synced.
type faultyDisk struct {
	realDisk
	fault  func(operation string) error
	synced map[string]int64 // length of each file at its last sync
}

// errShort makes a write write half of what it should.
var errShort = errors.New("short write")

func (d *faultyDisk) fails(operation string) error {
	if d.fault == nil {
		return nil
	}
	return d.fault(operation)
}

func (d *faultyDisk) open(path string) (file, error) {
	if err := d.fails("open"); err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	f, err := d.realDisk.open(path)
	return &faultyFile{f, d}, err
}

func (d *faultyDisk) createTemp(dir, pattern string) (file, error) {
	f, err := d.realDisk.createTemp(dir, pattern)
	return &faultyFile{f, d}, err
}

func (d *faultyDisk) rename(from, to string) error {
	if err := d.fails("rename"); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return d.realDisk.rename(from, to)
}

func (d *faultyDisk) syncFolder(dir string) error {
	if err := d.fails("sync folder"); err != nil {
		return &os.PathError{Op: "sync", Path: dir, Err: err}
	}
	return d.realDisk.syncFolder(dir)
}

type faultyFile struct {
	file
	disk *faultyDisk
}

func (f *faultyFile) Write(b []byte) (int, error) {
	switch err := f.disk.fails("write"); {
	case err == errShort:
		return f.file.Write(b[:len(b)/2])
	case err != nil:
		n, _ := f.file.Write(b[:len(b)/3])
		return n, &os.PathError{Op: "write", Path: f.Name(), Err: err}
	}
	return f.file.Write(b)
}

func (f *faultyFile) Sync() error {
	if err := f.disk.fails("sync"); err != nil {
		return &os.PathError{Op: "sync", Path: f.Name(), Err: err}
	}
	at, err := os.Stat(f.Name())
	if err == nil && f.disk.synced != nil {
		f.disk.synced[f.Name()] = at.Size()
	}
	return err
}

func (f *faultyFile) Truncate(size int64) error {
	if err := f.disk.fails("truncate"); err != nil {
		return &os.PathError{Op: "truncate", Path: f.Name(), Err: err}
	}
	return f.file.Truncate(size)
}

// failing makes the n-th call of an operation fail.
func failing(operation string, n int, err error) func(string) error {
	return func(o string) error {
		if o == operation {
			if n--; n == 0 {
				return err
			}
		}
		return nil
	}
}

// TestAFailedWriteOrSyncEndsTheLog: it is not tried again, the rows that may be
// lost are counted, and a log that is opened again has all others.
func TestAFailedWriteOrSyncEndsTheLog(t *testing.T) {
	for _, c := range []struct {
		name, operation string
		err             error
		rows            int // the least that are there again
		want            string
	}{
		{"short write", "write", errShort, 64, "short write"},
		{"disk full", "write", syscall.ENOSPC, 64, "no space left on device"},
		{"write", "write", syscall.EIO, 64, "input/output error"},
		{"sync", "sync", syscall.EIO, 64, "input/output error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			operations := 0
			d := &faultyDisk{}
			l := open(t, dir, Options{disk: d})
			fail := failing(c.operation, 2, c.err)
			d.fault = func(o string) error { operations++; return fail(o) }
			appendAll(t, l, points(0, 127)...)
			r := pointOf(127)
			err := l.Append(&r)
			wantError(t, err, "rows are lost: "+filepath.Join(dir, "points.jsonl"), c.want)
			operations = 0
			r = pointOf(128)
			for _, again := range []error{l.Append(&r), l.Sync(), l.WriteSorted(labels(1))} {
				if again != err {
					t.Errorf("later: %v, want the same error", again)
				}
			}
			if l.Lost() != 65 {
				t.Errorf("%d rows are lost, want 65", l.Lost())
			}
			if err2 := l.Close(); err2 != err || operations != 0 || l.Lost() != 65 {
				t.Errorf("Close: %v after %d operations more, %d lost", err2, operations, l.Lost())
			}
			again := open(t, dir, Options{})
			if got := again.Counts().Keys; got < 64 || got > 128 {
				t.Errorf("%d rows, want 64 to 128", got)
			}
			appendAll(t, again, points(64, 129)...)
			if err := again.WriteSorted(labels(129)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestOpenThatFails leaves no lock.
func TestOpenThatFails(t *testing.T) {
	for _, c := range []struct {
		operation string
		n         int
	}{{"open", 1}, {"truncate", 1}, {"sync", 1}, {"sync folder", 1}} {
		dir := t.TempDir()
		logOf(t, dir, Options{}, pointOf(0))
		write(t, read(t, dir, "points.jsonl")+"{", dir, "points.jsonl")
		_, err := Open(dir, Options{disk: &faultyDisk{fault: failing(c.operation, c.n, syscall.EIO)}})
		wantError(t, err, dir, "input/output error")
		l := open(t, dir, Options{})
		if l.Counts().Keys != 1 {
			t.Errorf("%s: %+v", c.operation, l.Counts())
		}
	}
}

// TestASortedFileThatFails leaves the old one, and no other file.
func TestASortedFileThatFails(t *testing.T) {
	for _, c := range []struct {
		operation string
		err       error
		replaced  bool
	}{{"write", syscall.ENOSPC, false}, {"write", errShort, false}, {"sync", syscall.EIO, false}, {"rename", syscall.EIO, false}, {"sync folder", syscall.EIO, true}} {
		dir := t.TempDir()
		write(t, "old", dir, "points.sorted.jsonl")
		d := &faultyDisk{}
		l := open(t, dir, Options{disk: d})
		appendAll(t, l, pointOf(0))
		if err := l.Sync(); err != nil {
			t.Fatal(err)
		}
		d.fault = failing(c.operation, 1, c.err)
		wantError(t, l.WriteSorted(labels(1)), dir, c.err.Error())
		if got := read(t, dir, "points.sorted.jsonl"); (got != "old") != c.replaced {
			t.Errorf("%s: the file is %q", c.operation, got)
		}
		closeLog(t, l)
		list, err := os.ReadDir(dir)
		if err != nil || len(list) != 3 {
			t.Errorf("%s: %v, %v", c.operation, list, err)
		}
	}
}

// TestPowerIsLost: after it a file has what was synced, and any part of the rest.
// Every row that Lost did not count is there, and no row is damaged.
func TestPowerIsLost(t *testing.T) {
	random := seeded(t)
	for range testsize.Cases(t, 10, 40, 200) {
		dir := t.TempDir()
		path := filepath.Join(dir, "points.jsonl")
		next := 0
		for range 4 {
			d := &faultyDisk{synced: map[string]int64{}, fault: anyFault(random)}
			l, err := Open(dir, Options{disk: d})
			if err != nil {
				wantError(t, err, dir)
				continue
			}
			before := l.Counts().Keys
			if before < next {
				t.Fatalf("%d rows of %d that were on disk", before, next)
			}
			given := random.IntN(200)
			for i := range given {
				r := pointOf(before + i)
				l.Append(&r)
				if random.IntN(50) == 0 {
					l.Sync()
				}
			}
			next = before + given - l.Lost()
			size, lost := d.synced[path], l.Lost()
			l.Close() // for the lock: what it writes is cut below, or a part of it
			at, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if rest := at.Size() - size; rest > 0 {
				if err := os.Truncate(path, size+random.Int64N(rest+1)); err != nil {
					t.Fatal(err)
				}
			} else if lost > 0 && d.fault == nil {
				t.Fatal("nothing was written after a sync, and rows are not synced")
			}
		}
		l := open(t, dir, Options{})
		n := l.Counts().Keys
		if n < next {
			t.Fatalf("%d rows of %d that were on disk", n, next)
		}
		for i := range n {
			want, _ := pointOf(i).line()
			if r, there, err := l.Row(keyOf(i)); err != nil || !there {
				t.Fatal(i, there, err)
			} else if got, _ := r.line(); got != want {
				t.Fatalf("row %d is damaged:\n%s\n%s", i, got, want)
			}
		}
		closeLog(t, l)
	}
}

func (r Row) line() (string, error) {
	b, err := r.AppendJSON(nil)
	return string(b), err
}

// anyFault makes some operation fail at some time, or none.
func anyFault(random *rand.Rand) func(string) error {
	operation := []string{"write", "sync", "sync", "none"}[random.IntN(4)]
	return failing(operation, 1+random.IntN(4), []error{errShort, syscall.EIO}[random.IntN(2)])
}

// TestWriteFile replaces a file, CreateFile does not.
func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweep.lock.yaml")
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := fmt.Fprint(w, s); return err }
	}
	if err := WriteFile(path, text("one")); err != nil || read(t, path) != "one" {
		t.Error(err)
	}
	if err := WriteFile(path, text("two")); err != nil || read(t, path) != "two" {
		t.Error(err)
	}
	wantError(t, WriteFile(path, func(w io.Writer) error { fmt.Fprint(w, "three"); return io.ErrUnexpectedEOF }), path, "unexpected EOF")
	if found, err := CreateFile(path, []byte("four")); err != nil || string(found) != "two" || read(t, path) != "two" {
		t.Errorf("%s, %v", found, err)
	}
	wantError(t, WriteFile(filepath.Join(path, "in a file"), text("")), "not a directory")
	list, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

// TestCreateFileOnce: of many that create a file one does, and all know what it
// has.
func TestCreateFileOnce(t *testing.T) {
	for range testsize.Of(5, 20, 100) {
		path := filepath.Join(t.TempDir(), "sweep.lock.yaml")
		type result struct{ own, found string }
		results := make(chan result)
		for i := range 8 {
			go func() {
				own := fmt.Sprint("content of ", i)
				found, err := CreateFile(path, []byte(own))
				if err != nil {
					t.Error(err)
				}
				results <- result{own, string(found)}
			}()
		}
		created := 0
		all := make([]result, 8)
		for i := range all {
			all[i] = <-results
		}
		for _, r := range all {
			if r.found == "" {
				created++
				r.found = r.own
			}
			if r.found != read(t, path) {
				t.Errorf("%+v, and the file has %q", r, read(t, path))
			}
		}
		if created != 1 {
			t.Errorf("%d created it", created)
		}
	}
}
