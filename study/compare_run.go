package study

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"blis/actors"
	"blis/metrics"
)

// Run carries the plan out. All bundles of a replicate run before the next
// replicate does, so that an interrupted comparison has as many whole ones as
// could be.
//
// Errors: *RunError when a run of the baseline failed; the failure of another
// bundle is its own, in Compared.Err. When ctx is cancelled the error is ctx's
// and the result, marked Partial, has the replicates that ended for every
// bundle.
func (p *Plan) Run(ctx context.Context) (*Result, error) {
	book := p.newTaskResults()
	_, err := p.comparison.Pool.Each(ctx, len(book.tasks), func(ctx context.Context, i int) error { return p.runTask(ctx, book, book.tasks[i]) })
	if err != nil && !interrupted(ctx, err) {
		return nil, err
	}
	result := p.result
	result.Bundles, result.Partial = slices.Clone(p.result.Bundles), err != nil
	for b := range result.Bundles {
		if failed := book.failures[p.first[b]]; failed != nil {
			result.Bundles[b].Err = failed
		}
	}
	for b := range result.Bundles {
		result.Bundles[b].BeyondFit = book.beyond[p.first[b]]
	}
	values := p.collect(book, &result)
	result.evaluate(values)
	if result.Intervals.Method == Bootstrap && len(result.Replicates) > 0 {
		if failed := p.bootstrap(ctx, book, &result); failed != nil {
			return nil, failed
		}
	}
	result.giveVerdicts()
	if len(result.Replicates) > 0 {
		result.rank()
		result.order()
	}
	result.Notes = slices.Concat(p.result.Notes, result.warnings())
	return &result, err
}

// task is a run of a comparison.
type task struct{ bundle, replicate int }

// taskResults collects the results of the tasks of a comparison.
type taskResults struct {
	tasks   []task
	values  [][]Values // [bundle][replicate]; of the first bundle among those that are alike
	samples []*sample  // of each bundle, for the bootstrap
	beyond  []string   // of each bundle: where its first run left what its coefficients were fitted to

	mutex    sync.Mutex
	failures []error // of each bundle: the error of its first replicate that failed
	failedAt []int   // that replicate
}

func (p *Plan) newTaskResults() *taskResults {
	n := len(p.result.Bundles)
	b := &taskResults{values: make([][]Values, n), samples: make([]*sample, n), failures: make([]error, n), failedAt: make([]int, n), beyond: make([]string, n)}
	for i := range n {
		b.values[i] = make([]Values, p.runs[i])
	}
	for r := range p.result.Planned {
		for i, runs := range p.runs {
			if r < runs {
				b.tasks = append(b.tasks, task{i, r})
			}
		}
	}
	return b
}

// fail records a failure, unless an earlier replicate of the bundle has failed.
func (b *taskResults) fail(t task, err error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.failures[t.bundle] == nil || t.replicate < b.failedAt[t.bundle] {
		b.failures[t.bundle], b.failedAt[t.bundle] = err, t.replicate
	}
}

// failedBefore reports whether an earlier replicate of the task's bundle has
// failed.
func (b *taskResults) failedBefore(t task) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.failures[t.bundle] != nil && b.failedAt[t.bundle] < t.replicate
}

// runTask carries one run out. The failure of the baseline ends the comparison.
func (p *Plan) runTask(ctx context.Context, book *taskResults, t task) error {
	if book.failedBefore(t) {
		return nil
	}
	cfg := p.config(t.bundle, t.replicate)
	var s *sample
	if p.result.Intervals.Method == Bootstrap {
		s = &sample{fitness: p.result.fitness}
		cfg.Row = s.observe
	}
	result, err := actors.Run(ctx, cfg)
	if err != nil {
		if interrupted(ctx, err) {
			return err
		}
		failed := &RunError{fmt.Sprintf("bundle %s, seed %d", p.comparison.Bundles[t.bundle].Name, p.seeds(t.replicate).Seed), err}
		if t.bundle == 0 {
			return failed
		}
		book.fail(t, failed)
		return nil
	}
	if s != nil {
		s.figures = result.Figures()
		book.samples[t.bundle] = s
	}
	if t.replicate == 0 {
		book.beyond[t.bundle] = result.BeyondFit
	}
	book.values[t.bundle][t.replicate] = measure(result)
	return nil
}

// collect is the values of every bundle, for the replicates that ended for all;
// none for those that failed. A bundle that runs once has them in each.
func (p *Plan) collect(book *taskResults, result *Result) [][]Values {
	at := func(b, r int) Values { return book.values[b][min(r, p.runs[b]-1)] }
	values := make([][]Values, len(result.Bundles))
	for r := range result.Planned {
		whole := true
		for b, first := range p.first {
			whole = whole && (result.Bundles[b].Err != nil || at(first, r) != nil)
		}
		if !whole {
			continue
		}
		result.Replicates = append(result.Replicates, p.seeds(r))
		for b, first := range p.first {
			if result.Bundles[b].Err == nil {
				values[b] = append(values[b], at(first, r))
			}
		}
	}
	return values
}

// fitness is the weights of the runs, which were checked.
func (p *Plan) fitness() metrics.Fitness {
	f, err := metrics.ParseFitness(p.comparison.Base.FitnessWeights)
	if err != nil {
		panic(errors.Join(errors.New("study: fitness weights that a run takes"), err))
	}
	return f
}
