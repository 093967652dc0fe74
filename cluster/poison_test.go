package cluster

import (
	"path/filepath"
	"testing"
	"time"

	"blis/study/pointlog"
)

// rowsOf are the rows of a folder by index.
func rowsOf(t *testing.T, dir string) map[int64]pointlog.Row {
	t.Helper()
	rows := map[int64]pointlog.Row{}
	for row, err := range pointlog.Rows(filepath.Join(dir, "points.jsonl")) {
		if err != nil {
			t.Fatal(err)
		}
		rows[row.Index] = row
	}
	return rows
}

// A point that kills its process ends as a failed row; points that were fetched beside it
// are ok.
func TestPoisonPointFailsAlone(t *testing.T) {
	for name, c := range map[string]struct {
		hungry bool
		cause  string
	}{
		"a signal": {false, "signal killed"},
		"memory":   {true, "its memory limit"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.hungry && memory() == 0 {
				t.Skip("the memory of the machine is not known, and processes have no limit")
			}
			poisonPoint(t, toy{Points: 20, Poison: 3, Pause: 20 * time.Millisecond, Hungry: c.hungry}, c.cause)
		})
	}
}

func poisonPoint(t *testing.T, y toy, cause string) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	s := &scene{Dir: t.TempDir(), Address: freeAddress(t), Toy: y}
	coordinator := s.start(t, "serve")
	s.awaitCredential(t)
	worker, deaths := s.start(t, "worker"), 0
	for coordinator.ended != nil {
		select {
		case err := <-coordinator.ended:
			coordinator.ended = nil
			if err != nil {
				t.Fatal(err)
			}
		case err := <-worker.ended:
			if worker.ended = nil; err == nil {
				continue // it heard of the end first
			}
			if deaths++; deaths > 2*healthyDeliveries {
				t.Fatal("workers die of the point for ever")
			}
			worker = s.start(t, "worker")
		case <-time.After(time.Minute):
			t.Fatal("no end")
		}
	}
	rows := rowsOf(t, s.Dir)
	if len(rows) != s.Toy.Points || deaths != healthyDeliveries {
		t.Errorf("%d rows, %d workers died, want %d and %d", len(rows), deaths, s.Toy.Points, healthyDeliveries)
	}
	for i, row := range rows {
		want := pointlog.OK
		if i == s.Toy.Poison {
			want = pointlog.Failed
		}
		if row.Status != want {
			t.Errorf("point %d is %s (%s)", i, row.Status, row.Error)
		}
	}
	if row := rows[3]; row.Cause != pointlog.Killed || row.Error != "its process died twice: "+cause+", "+cause {
		t.Errorf("%+v", row)
	}
}

// A worker that is killed four times on a point says nothing of the point.
func TestKilledWorkersDoNotFailAPoint(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	s := &scene{Dir: t.TempDir(), Address: freeAddress(t), Toy: toy{Points: 1, Poison: -1, Pause: 2 * time.Second}}
	coordinator := s.start(t, "serve")
	s.awaitCredential(t)
	for range 4 {
		worker := s.start(t, "worker")
		time.Sleep(2 * time.Second) // it has the point after AckWait at most, and needs 2 s for it
		worker.kill()
	}
	if len(rowsOf(t, s.Dir)) > 0 {
		t.Fatal("the point has run; the test is too slow")
	}
	s.start(t, "worker")
	if err := coordinator.wait(t, time.Minute); err != nil {
		t.Fatal(err)
	}
	if row := rowsOf(t, s.Dir)[0]; row.Status != pointlog.OK {
		t.Errorf("%+v", row)
	}
}
