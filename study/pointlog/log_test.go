package pointlog

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"blis/internal/testsize"
)

// TestResume: rows are there after the log was opened again, and say which points
// need not run.
func TestResume(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	rows := []Row{pointOf(0), failedOf(1, Error), failedOf(2, Panic), failedOf(3, Events), failedOf(4, Wall), failedOf(5, Killed), failedOf(6, Wall), pointOf(6)}
	refusedRow := failedOf(7, Error)
	refusedRow.Status, refusedRow.Cause = Refused, ""
	rows = append(rows, refusedRow)
	logOf(t, dir, Options{}, rows...)
	l := open(t, dir, Options{Version: 3})
	for i, want := range []struct{ done, retried bool }{{true, true}, {true, false}, {true, false}, {true, false}, {}, {}, {true, true}, {true, true}, {}} {
		if done, retried := l.Done(keyOf(i), false), l.Done(keyOf(i), true); done != want.done || retried != want.retried {
			t.Errorf("point %d: done %v, with failures to be run again %v, want %v", i, done, retried, want)
		}
	}
	if got, want := l.Counts(), (Counts{Rows: 9, Keys: 8, OK: 2, Refused: 1, Failed: 3, Unfinished: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	again := failedOf(0, Wall) // the last row counts, whatever it says
	appendAll(t, l, again)
	if l.Done(keyOf(0), false) || l.Lost() != 1 {
		t.Errorf("done %v, lost %d", l.Done(keyOf(0), false), l.Lost())
	}
	if r, there, err := l.Row(keyOf(0)); err != nil || !there || r.Cause != Wall || l.Lost() != 0 {
		t.Errorf("%+v, %v, %v", r, there, err)
	}
	closeLog(t, l)
	closeLog(t, l) // nothing
	wantError(t, l.Append(&again), "closed")
}

// TestALastLineThatIsNotWhole is cut off, however long it is.
func TestALastLineThatIsNotWhole(t *testing.T) {
	dir := t.TempDir()
	logOf(t, dir, Options{}, points(0, 2)...)
	whole := read(t, dir, "points.jsonl")
	second := strings.Index(whole, "\n") + 1
	for cut := second; cut <= len(whole); cut++ {
		if cut > second+2 && cut < len(whole)-2 && (cut-second)%testsize.Of(99, 29, 1) != 0 {
			continue
		}
		write(t, whole[:cut], dir, "points.jsonl")
		var notes []string
		l := open(t, dir, Options{Note: func(n string) { notes = append(notes, n) }})
		torn := cut != second && cut != len(whole)
		if got := l.Counts().Keys; (got == 2) != (cut == len(whole)) || (len(notes) == 1) != torn {
			t.Fatalf("%d bytes of the second line: %d rows, notes %q", cut-second, got, notes)
		}
		appendAll(t, l, pointOf(1))
		closeLog(t, l)
		if cut < len(whole) && read(t, dir, "points.jsonl") != whole {
			t.Fatalf("%d bytes of the second line: the log goes on otherwise", cut-second)
		}
	}
	write(t, whole+strings.Repeat("\x00", 3*MaxLine), dir, "points.jsonl")
	if l := open(t, dir, Options{}); l.Counts().Keys != 2 {
		t.Errorf("zeros at the end: %+v", l.Counts())
	} else {
		closeLog(t, l)
	}
	if read(t, dir, "points.jsonl") != whole {
		t.Error("zeros at the end are not cut off")
	}
}

// TestABadLine is an error with file and line.
func TestABadLine(t *testing.T) {
	dir := t.TempDir()
	logOf(t, dir, Options{}, points(0, 3)...)
	whole := read(t, dir, "points.jsonl")
	for _, c := range []struct{ old, new, want string }{
		{`"seed":1`, `"sed":1`, `points.jsonl:2: column 126: unknown field "sed"`},
		{`"seed":2`, `"sed":2`, `points.jsonl:3: column 126: unknown field "sed"`},
		{"}\n", "}\n\n", `points.jsonl:2: column 1: want {`},
		{"}\n", "\n", `points.jsonl:1: `},
		{`"digest":"0000`, `"digest":"` + strings.Repeat("0", MaxLine), "points.jsonl:1: a line of 1048"},
		{`"version":3`, `"version":2`, "points.jsonl:1: semantics version 2, and this program has 3"},
	} {
		write(t, strings.Replace(whole, c.old, c.new, 1), dir, "points.jsonl")
		_, err := Open(dir, Options{Version: 3})
		wantError(t, err, c.want, dir)
	}
	write(t, whole, dir, "points.jsonl")
	closeLog(t, open(t, dir, Options{})) // errors keep no lock
}

// TestLocks: the whole is alone in a folder, a shard beside other shards.
func TestLocks(t *testing.T) {
	dir := t.TempDir()
	whole, first, second, race := Options{}, Options{Shard: Shard{0, 2}}, Options{Shard: Shard{1, 2}}, Options{Stem: "race-cost"}
	for _, c := range []struct {
		name         string
		held, wanted Options
		want         string
	}{
		{"whole", whole, whole, "another process writes points there"},
		{"whole and shard", whole, first, "another process writes points there"},
		{"shard and whole", first, whole, "another process writes points there"},
		{"shard", first, first, "another process runs shard 0/2 of points there"},
		{"shards", first, second, ""},
		{"race beside", whole, race, ""},
		{"race", race, race, "another process writes race-cost there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			held := open(t, dir, c.held)
			l, err := Open(dir, c.wanted)
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				closeLog(t, l)
			} else {
				wantError(t, err, dir+": "+c.want)
			}
			closeLog(t, held)
			closeLog(t, open(t, dir, c.wanted))
		})
	}
	for _, s := range []Shard{{2, 2}, {-1, 2}, {0, -1}, {1, 0}} {
		_, err := Open(dir, Options{Shard: s})
		wantError(t, err, "want I/N with 0 ≤ I < N")
	}
	_, err := Open(dir, Options{Stem: "race-a/b"})
	wantError(t, err, "cannot begin the name of a file")
}

// TestWhatAnOpenReads: the whole reads shards, a shard reads the whole and no other
// shard.
func TestWhatAnOpenReads(t *testing.T) {
	dir := t.TempDir()
	logOf(t, dir, Options{}, pointOf(0))
	logOf(t, dir, Options{Shard: Shard{0, 2}}, pointOf(1))
	logOf(t, dir, Options{Shard: Shard{1, 2}}, pointOf(2))
	logOf(t, dir, Options{Stem: "race-cost"}, pointOf(3))
	write(t, "not ours", dir, "points-x-of-2.jsonl")
	for _, c := range []struct {
		options Options
		keys    int
	}{{Options{}, 3}, {Options{Shard: Shard{0, 2}}, 2}, {Options{Shard: Shard{0, 3}}, 1}, {Options{Stem: "race-cost"}, 1}} {
		l := open(t, dir, c.options)
		if got := l.Counts().Keys; got != c.keys {
			t.Errorf("%+v: %d keys, want %d", c.options, got, c.keys)
		}
		closeLog(t, l)
	}
}

// TestRowsAreSyncedInTime: 64 rows at once, fewer after a second.
func TestRowsAreSyncedInTime(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		appendAll(t, l, points(0, 63)...)
		if l.Lost() != 63 || len(read(t, dir, "points.jsonl")) != 0 {
			t.Errorf("63 rows: %d are not synced", l.Lost())
		}
		appendAll(t, l, pointOf(63))
		if l.Lost() != 0 {
			t.Errorf("64 rows: %d are not synced", l.Lost())
		}
		time.Sleep(10 * time.Second)
		appendAll(t, l, pointOf(64))
		time.Sleep(600 * time.Millisecond)
		appendAll(t, l, pointOf(65))
		if synctest.Wait(); l.Lost() != 2 {
			t.Errorf("after 0.6 s %d are not synced", l.Lost())
		}
		time.Sleep(500 * time.Millisecond)
		if synctest.Wait(); l.Lost() != 0 {
			t.Errorf("after 1.1 s %d are not synced", l.Lost())
		}
		appendAll(t, l, pointOf(66))
		if err := l.Close(); err != nil || l.Lost() != 0 {
			t.Errorf("after Close %d are not synced: %v", l.Lost(), err)
		}
		time.Sleep(10 * time.Second)
	}) // which fails if a goroutine is left
	if got := strings.Count(read(t, dir, "points.jsonl"), "\n"); got != 67 {
		t.Errorf("%d lines", got)
	}
}

// TestManyGoroutines append to one log.
func TestManyGoroutines(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for i := range 100 {
				r := pointOf(100*g + i)
				if err := l.Append(&r); err != nil {
					t.Error(err)
				}
				if got, there, err := l.Row(r.Key); i%10 == 0 && (err != nil || !there || got.Seed != r.Seed) {
					t.Error(got, there, err)
				}
				l.Done(r.Key, false)
				l.Counts()
			}
		})
	}
	group.Wait()
	if err := l.WriteSorted(labels(800)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(read(t, dir, "points.sorted.jsonl"), "\n"); got != 800 {
		t.Errorf("%d lines", got)
	}
}

// TestFilesOfADeadProcess: what was left of a file that was being written goes.
func TestFilesOfADeadProcess(t *testing.T) {
	dir := t.TempDir()
	write(t, "half", dir, ".points.sorted.jsonl.123.tmp")
	write(t, "", dir, ".keep")
	logOf(t, dir, Options{Shard: Shard{0, 2}})
	if _, err := os.Stat(filepath.Join(dir, ".points.sorted.jsonl.123.tmp")); err != nil {
		t.Errorf("a shard is not alone: %v", err)
	}
	logOf(t, dir, Options{})
	if _, err := os.Stat(filepath.Join(dir, ".points.sorted.jsonl.123.tmp")); err == nil {
		t.Error("it is still there")
	}
	read(t, dir, ".keep")
}
