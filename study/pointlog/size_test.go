package pointlog

import (
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"blis/internal/testsize"
)

// TestMemoryOfATable is at most BytesPerPoint for each point, wherever the map is
// about to grow; rows that are read leave no garbage behind that stays.
func TestMemoryOfATable(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for _, n := range []int{20_000, 29_000, 40_000, 58_000} {
		before := heap()
		table := newTable(0)
		table.files = append(table.files, source{name: "x"})
		r := pointOf(0)
		for i := range n {
			r.Key = keyOf(i)
			if err := table.put(&r, 0, place{}, false); err != nil {
				t.Fatal(err)
			}
		}
		each := float64(heap()-before) / float64(n)
		t.Logf("%d points: %.0f B each", n, each)
		if each > BytesPerPoint {
			t.Errorf("%d points take %.0f B each, want at most %d", n, each, BytesPerPoint)
		}
		runtime.KeepAlive(table)
	}
}

// TestAMillionPoints are written, read and sorted. It prints how long that took.
func TestAMillionPoints(t *testing.T) {
	testsize.Long(t)
	n := 100_000
	if testsize.Longest() {
		n = 1_000_000
	}
	dir := t.TempDir()
	at := time.Now()
	lap := func(what string) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		t.Logf("%-8s %v, %d MiB from the system", what, time.Since(at).Round(time.Millisecond), m.Sys>>20)
		at = time.Now()
	}
	l := open(t, dir, Options{})
	for i := range n {
		r := pointOf((i * 7919) % n)
		if err := l.Append(&r); err != nil {
			t.Fatal(err)
		}
	}
	closeLog(t, l)
	lap("written")
	l = open(t, dir, Options{})
	lap("opened")
	if err := l.WriteSorted(labels(n)); err != nil {
		t.Fatal(err)
	}
	lap("sorted")
	next := int64(0)
	for r, err := range Rows(filepath.Join(dir, "points.sorted.jsonl")) {
		if err != nil || r.Index != next {
			t.Fatal(r, err)
		}
		next++
	}
	lap("read")
	if next != int64(n) {
		t.Errorf("%d rows", next)
	}
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.Sys > 1<<30 {
		t.Errorf("%d bytes of memory, want less than 1 GiB", m.Sys)
	}
}
