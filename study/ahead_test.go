package study

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"blis/study/certify"
)

// TestWindowsAheadChangeNothing: a search has the same answer on any number of workers, though
// windows end in another order and some run for nothing.
func TestWindowsAheadChangeNothing(t *testing.T) {
	for seed := range uint64(5) {
		search := certify.Search{Rungs: 60, Start: 3, Share: 0.9, Confidence: 0.95, MaxWindows: 1000, Seed: seed}
		var first certify.Answer
		for _, workers := range []int{1, 2, 7} {
			var runs atomic.Int64
			runner := newAheadRunner(workers, func(ctx context.Context, w certify.Window) (*Window, error) {
				runs.Add(1)
				select {
				case <-ctx.Done():
					return nil, ctx.Err()
				case <-time.After(time.Duration(w.Seed % 5_000)):
				}
				return &Window{Pass: rand.New(rand.NewPCG(w.Seed, 1)).Float64() < 1.3-float64(w.Rung)/50}, nil
			})
			answer, err := certify.Find(t.Context(), search, runner)
			runner.stop()
			if err != nil {
				t.Fatal(err)
			}
			if workers == 1 {
				first = answer
				if runs.Load() != int64(answer.Windows) {
					t.Errorf("seed %d: %d runs on one worker for %d windows", seed, runs.Load(), answer.Windows)
				}
			}
			if !reflect.DeepEqual(answer, first) {
				t.Errorf("seed %d: on %d workers %+v, on one %+v", seed, workers, answer, first)
			}
		}
	}
}

// TestErrorsAheadCountWhenTheyAreWanted: an error of a window that nobody wanted is none.
func TestErrorsAheadCountWhenTheyAreWanted(t *testing.T) {
	broken := errors.New("broken")
	runner := newAheadRunner(4, func(_ context.Context, w certify.Window) (*Window, error) {
		if w.Rung == 40 {
			return nil, fmt.Errorf("rung %d: %w", w.Rung, broken)
		}
		return &Window{Pass: w.Rung < 20}, nil
	})
	defer runner.stop()
	search := certify.Search{Rungs: 60, Start: 15, Share: 0.9, Confidence: 0.95, MaxWindows: 1000, Seed: 1}
	if answer, err := certify.Find(t.Context(), search, runner); err != nil || answer.Lower.Rung != 19 {
		t.Errorf("%+v, %v", answer, err)
	}
	search.Start = 40
	if _, err := certify.Find(t.Context(), search, runner); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}
