package study

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
)

func TestEveryTaskIsDoneOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8, 100, 0} {
		var calls [50]atomic.Int32
		var seen []int
		pool := Pool{workers, func(done, all int) {
			if all != len(calls) {
				t.Errorf("progress of %d, want %d", all, len(calls))
			}
			seen = append(seen, done)
		}}
		done, err := pool.Each(t.Context(), len(calls), func(_ context.Context, i int) error { calls[i].Add(1); return nil })
		if err != nil || slices.Contains(done, false) {
			t.Errorf("%d workers: %v, %v", workers, err, done)
		}
		for i := range calls {
			if n := calls[i].Load(); n != 1 {
				t.Errorf("%d workers: task %d called %d times", workers, i, n)
			}
		}
		for i, n := range seen {
			if n != i+1 {
				t.Fatalf("%d workers: progress %v", workers, seen)
			}
		}
		if len(seen) != len(calls) {
			t.Errorf("%d workers: %d calls of progress", workers, len(seen))
		}
	}
}

func TestNoTaskIsNoError(t *testing.T) {
	if done, err := (Pool{}).Each(t.Context(), 0, nil); err != nil || len(done) != 0 {
		t.Errorf("%v, %v", done, err)
	}
}

// A task in the middle fails at once, an earlier one later: the earlier one's
// error comes out. Those behind are stopped.
func TestTheErrorIsThatOfTheSmallestNumber(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		failed := make(chan bool)
		var after atomic.Int32
		_, err := Pool{Workers: workers}.Each(t.Context(), 1000, func(ctx context.Context, i int) error {
			switch {
			case i == 1 && workers > 1:
				<-failed // 2 has failed: this one goes on all the same
				if ctx.Err() != nil {
					t.Errorf("%d workers: a task before the one that failed was stopped", workers)
				}
				return errors.New("task 1")
			case i == 1, i == 2:
				defer close(failed)
				return fmt.Errorf("task %d", i)
			case i > 2:
				after.Add(1)
				<-ctx.Done() // or the test never ends
				return ctx.Err()
			}
			return nil
		})
		if err == nil || err.Error() != "task 1" {
			t.Errorf("%d workers: error %v, want that of task 1", workers, err)
		}
		if n := after.Load(); int(n) > workers {
			t.Errorf("%d workers: %d tasks began behind the one that failed", workers, n)
		}
	}
}

// What a task says that was stopped because an earlier one failed is no news.
func TestTheErrorOfAStoppedTaskIsNone(t *testing.T) {
	began := make(chan bool)
	_, err := Pool{Workers: 2}.Each(t.Context(), 2, func(ctx context.Context, i int) error {
		if i == 0 {
			<-began
			return errors.New("task 0")
		}
		close(began)
		<-ctx.Done()
		return errors.New("task 1")
	})
	if err == nil || err.Error() != "task 0" {
		t.Errorf("error %v, want that of task 0", err)
	}
}

func TestCancelledPoolSaysWhatIsDone(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		ctx, cancel := context.WithCancel(t.Context())
		done, err := Pool{Workers: workers}.Each(ctx, 100, func(ctx context.Context, i int) error {
			if i < 10 {
				return nil
			}
			cancel()
			<-ctx.Done()
			return fmt.Errorf("task %d: %w", i, ctx.Err())
		})
		if err != context.Canceled {
			t.Errorf("%d workers: error %v", workers, err)
		}
		for i := range done {
			if done[i] != (i < 10) {
				t.Errorf("%d workers: task %d done is %v", workers, i, done[i])
			}
		}
	}
}

// Who is cancelled when nothing is left to do has everything.
func TestCancelledAfterTheLastTask(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Pool{Workers: 1, Progress: func(done, all int) {
		if done == all {
			cancel()
		}
	}}.Each(ctx, 5, func(context.Context, int) error { return nil })
	if err != nil {
		t.Error(err)
	}
}
