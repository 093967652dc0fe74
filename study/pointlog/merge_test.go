package pointlog

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blis/internal/testsize"
)

// TestSortedFileIsTheSameForAnyOrder: of rows, of shards, in one folder or many,
// with runs that were killed before, and whatever the wall times.
func TestSortedFileIsTheSameForAnyOrder(t *testing.T) {
	random := seeded(t)
	const n = 40
	var rows []Row
	for i := range n {
		switch i % 7 {
		case 3:
			rows = append(rows, failedOf(i, Panic))
		case 5:
			rows = append(rows, failedOf(i, Error))
		default:
			rows = append(rows, pointOf(i))
		}
	}
	dir := t.TempDir()
	l := open(t, dir, Options{})
	appendAll(t, l, rows...)
	if err := l.WriteSorted(labels(n)); err != nil {
		t.Fatal(err)
	}
	want := read(t, dir, "points.sorted.jsonl")
	if strings.Count(want, "\n") != n || strings.Contains(want, "wall_s") || strings.Contains(want, "stack") {
		t.Fatalf("a sorted file:\n%s", want)
	}
	for range testsize.Cases(t, 3, 10, 100) {
		shards := 1 + random.IntN(4)
		dirs := []string{t.TempDir()}
		apart := random.IntN(2) == 0
		parts := make([][]Row, shards)
		for _, i := range random.Perm(n) {
			r := rows[i]
			r.WallS = random.Float64()
			if r.Cause == Panic {
				r.Stack = randomText(random)
			}
			into := func(r Row) {
				s := random.IntN(shards)
				parts[s] = append(parts[s], r)
			}
			if random.IntN(4) == 0 { // killed first, there or elsewhere
				into(failedOf(i, Killed))
			}
			into(r)
			if random.IntN(4) == 0 { // twice
				into(r)
			}
		}
		for s, part := range parts {
			dir := dirs[len(dirs)-1]
			if apart && s > 0 {
				dir = t.TempDir()
				dirs = append(dirs, dir)
			}
			logOf(t, dir, Options{Shard: Shard{s, shards}}, part...)
		}
		random.Shuffle(len(dirs), func(i, j int) { dirs[i], dirs[j] = dirs[j], dirs[i] })
		table, err := Merge(3, dirs...)
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "out")
		if err := table.WriteSorted(out, labels(n), nil); err != nil {
			t.Fatal(err)
		}
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
		if got := read(t, out, "points.sorted.jsonl"); got != want {
			t.Fatalf("%d shards, apart %v:\n%s\nwant\n%s", shards, apart, got, want)
		}
		if !apart { // a sweep without shards goes on where they ended
			l := open(t, dirs[0], Options{})
			if err := l.WriteSorted(labels(n)); err != nil {
				t.Fatal(err)
			}
			closeLog(t, l)
			if got := read(t, dirs[0], "points.sorted.jsonl"); got != want {
				t.Fatal("the whole writes another sorted file")
			}
		}
	}
}

// TestEqualKeysAreOneRun that is shown under every label.
func TestEqualKeysAreOneRun(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	appendAll(t, l, pointOf(0), pointOf(1), pointOf(9)) // 9 is of no label
	three := []Label{{0, axesOf(0), keyOf(0)}, {1, axesOf(100), keyOf(1)}, {5, axesOf(200), keyOf(0)}}
	if err := l.WriteSorted(slices.Values(three)); err != nil {
		t.Fatal(err)
	}
	var got []Row
	for r, err := range Rows(filepath.Join(dir, "points.sorted.jsonl")) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if len(got) != 3 || got[2].Index != 5 || got[2].Key != keyOf(0) || string(got[2].Axes[0].Value) != "200" || got[2].Digest != got[0].Digest {
		t.Errorf("%+v", got)
	}
	wantError(t, l.WriteSorted(slices.Values([]Label{three[2], three[1]})), "label 1 follows label 5")
}

// TestWhichRowCountsBetweenFiles: the one that ended by itself, whichever file comes
// first.
func TestWhichRowCountsBetweenFiles(t *testing.T) {
	killed, ended := t.TempDir(), t.TempDir()
	logOf(t, killed, Options{}, failedOf(0, Killed), failedOf(1, Wall), failedOf(2, Wall), failedOf(3, Error))
	other := failedOf(2, Error)
	other.Status, other.Cause = Refused, ""
	logOf(t, ended, Options{}, pointOf(0), failedOf(1, Events), other, pointOf(3))
	for _, dirs := range [][]string{{killed, ended}, {ended, killed}} {
		table, err := Merge(0, dirs...)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := table.Counts(), (Counts{Rows: 8, Keys: 4, OK: 2, Refused: 1, Failed: 1}); got != want {
			t.Errorf("%v: %+v, want %+v", dirs, got, want)
		}
		table.Close()
	}
}

// TestMissingPoints: no sorted file, and the number.
func TestMissingPoints(t *testing.T) {
	dir := t.TempDir()
	logOf(t, dir, Options{}, pointOf(0), pointOf(2))
	table, err := Merge(0, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	err = table.WriteSorted(dir, labels(5), nil)
	var missing *MissingError
	if !errors.As(err, &missing) || missing.Missing != 3 || missing.Labels != 5 || missing.First.Index != 1 {
		t.Errorf("%+v", missing)
	}
	wantError(t, err, "3 of 5 points have no row", "point 1 with key 3030")
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 2 { // points.jsonl and its lock
		t.Errorf("%v, %v", list, err)
	}
	held := open(t, dir, Options{Shard: Shard{0, 2}})
	wantError(t, table.WriteSorted(dir, labels(1), nil), "another process writes points there")
	closeLog(t, held)
}

// TestContradictions: versions and digests that differ are errors with both lines.
func TestContradictions(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	other := pointOf(1)
	other.Digest = "ffff"
	logOf(t, one, Options{}, points(0, 2)...)
	logOf(t, two, Options{}, points(5, 8)...)
	if err := appendLine(two, other); err != nil {
		t.Fatal(err)
	}
	_, err := Merge(0, one, two)
	wantError(t, err, two+"/points.jsonl:4: key 3030", "has the digest ffff, and "+one+"/points.jsonl:2 has 0000000000000007")

	l := open(t, one, Options{})
	appendAll(t, l, pointOf(3))
	wantError(t, l.Append(&other), "points.jsonl: key 3030", "points.jsonl:2 has 0000000000000007")
	pending := pointOf(3)
	pending.Digest = "eeee"
	wantError(t, l.Append(&pending), "points.jsonl:3 has 0000000000000015")
	old := pointOf(4)
	old.Version = 2
	wantError(t, l.Append(&old), "semantics version 2")
	if l.Lost() != 0 {
		t.Errorf("%d rows are pending", l.Lost())
	}
	closeLog(t, l)

	three := t.TempDir()
	logOf(t, three, Options{}, old)
	_, err = Merge(0, one, three)
	wantError(t, err, three+"/points.jsonl:1: semantics version 2, and "+one+"/points.jsonl:1 has 3")
	_, err = Merge(4, one)
	wantError(t, err, one+"/points.jsonl:1: semantics version 3, and this program has 4")
	_, err = Open(three, Options{Version: 3})
	wantError(t, err, three+"/points.jsonl:1: semantics version 2, and this program has 3")
}

// appendLine adds a line to a log that would refuse it.
func appendLine(dir string, r Row) error {
	line, err := r.AppendJSON(nil)
	if err != nil {
		return err
	}
	f, err := realDisk{}.open(filepath.Join(dir, "points.jsonl"))
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// TestMergeTakesFoldersAndFiles, each file once.
func TestMergeTakesFoldersAndFiles(t *testing.T) {
	dir := t.TempDir()
	logOf(t, dir, Options{Shard: Shard{0, 2}}, points(0, 3)...)
	logOf(t, dir, Options{Shard: Shard{1, 2}}, points(3, 4)...)
	write(t, read(t, dir, "points-1-of-2.jsonl")+`{"schema`, dir, "points-1-of-2.jsonl") // being written
	table, err := Merge(0, dir+"/", filepath.Join(dir, "points-0-of-2.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if got, want := table.Counts(), (Counts{Rows: 4, Keys: 4, OK: 4}); got != want || table.Version() != 3 {
		t.Errorf("%+v of version %d, want %+v", got, table.Version(), want)
	}
	if r, there, err := table.Row(keyOf(3)); err != nil || !there || r.Seed != 3 {
		t.Error(r, there, err)
	}
	if _, there, err := table.Row(keyOf(9)); there || err != nil || table.Done(keyOf(9), false) || !table.Done(keyOf(3), false) {
		t.Error(there, err)
	}
	_, err = Merge(0, t.TempDir())
	wantError(t, err, "has no points.jsonl and no points-I-of-N.jsonl")
	_, err = Merge(0, filepath.Join(dir, "nowhere"))
	wantError(t, err, "nowhere")
	for _, err := range Rows(filepath.Join(dir, "nowhere")) {
		wantError(t, err, "nowhere")
	}
}
