package study

import (
	"context"
	"iter"
	"sync"

	"blis/study/certify"
)

// aheadRunner runs the windows of a search on several goroutines: the one that is wanted, and
// on free workers those that will probably be wanted after it. It implements certify.System.
// The results do not depend on the number of workers.
type aheadRunner struct {
	run     func(ctx context.Context, w certify.Window) (*Window, error)
	workers int // at least 1
	running int

	mutex  sync.Mutex
	tasks  map[certify.Window]*aheadTask // that run or have ended
	wanted []certify.Window              // in order
	group  sync.WaitGroup
}

// aheadTask is a window that runs or has run.
type aheadTask struct {
	cancel context.CancelFunc
	ended  chan struct{}
	window *Window
	err    error
}

func newAheadRunner(workers int, run func(context.Context, certify.Window) (*Window, error)) *aheadRunner {
	return &aheadRunner{run: run, workers: workers, tasks: map[certify.Window]*aheadTask{}}
}

// Window implements certify.System.
func (r *aheadRunner) Window(ctx context.Context, w certify.Window, ahead iter.Seq[certify.Window]) (pass bool, err error) {
	t := r.want(ctx, w, ahead)
	select {
	case <-t.ended:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if t.err != nil {
		return false, t.err
	}
	return t.window.Pass, nil
}

// want makes the window and those after it the wanted ones. Others that run are cancelled and
// forgotten.
func (r *aheadRunner) want(ctx context.Context, w certify.Window, ahead iter.Seq[certify.Window]) *aheadTask {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.wanted = append(r.wanted[:0], w)
	keep := map[certify.Window]bool{w: true}
	if r.workers > 1 {
		for next := range ahead {
			if len(r.wanted) >= 2*r.workers {
				break
			}
			r.wanted, keep[next] = append(r.wanted, next), true
		}
	}
	for other, t := range r.tasks { // in any order: each is cancelled or not by itself
		if t.window == nil && t.err == nil && !keep[other] {
			t.cancel()
			delete(r.tasks, other)
		}
	}
	if r.tasks[w] == nil {
		r.start(ctx, w)
	}
	r.fill(ctx)
	return r.tasks[w]
}

// fill starts wanted windows while workers are free. The mutex is held.
func (r *aheadRunner) fill(ctx context.Context) {
	for _, w := range r.wanted {
		if r.running >= r.workers {
			return
		}
		if r.tasks[w] == nil {
			r.start(ctx, w)
		}
	}
}

// start runs a window. The mutex is held.
func (r *aheadRunner) start(ctx context.Context, w certify.Window) {
	own, cancel := context.WithCancel(ctx)
	t := &aheadTask{cancel: cancel, ended: make(chan struct{})}
	r.tasks[w] = t
	r.running++
	r.group.Go(func() {
		defer cancel()
		window, err := r.run(own, w)
		r.mutex.Lock()
		defer r.mutex.Unlock()
		r.running--
		t.window, t.err = window, err
		close(t.ended)
		if ctx.Err() == nil {
			r.fill(ctx)
		}
	})
}

// stop cancels what runs and waits for it.
func (r *aheadRunner) stop() {
	r.mutex.Lock()
	r.wanted = nil
	for _, t := range r.tasks { // in any order
		t.cancel()
	}
	r.mutex.Unlock()
	r.group.Wait()
}

// result is what became of a window that was consumed.
func (r *aheadRunner) result(w certify.Window) *Window {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if t := r.tasks[w]; t != nil {
		return t.window
	}
	return nil
}
