package evaluate

import (
	"context"
	"fmt"

	"blis/actors"
	"blis/bundle"
	"blis/study"
)

// runFault is the error of a run, with its place in the suite.
type runFault struct {
	scenario string
	seed     uint64
	err      error
}

// Error is one line: which run, and what its error says.
func (e *runFault) Error() string {
	return fmt.Sprintf("scenario %s, seed %d: %v", e.scenario, e.seed, e.err)
}

// Unwrap is the error of the run.
func (e *runFault) Unwrap() error { return e.err }

// play runs policies in scenarios, each with all its seeds, and returns the figures of each.
// The error is the one of the first run that failed, in the order of scenarios and seeds,
// whichever ended first: a *runFault, or the one of ctx. baseline is the figures of the baseline
// in the same scenarios; nil: it is the baseline that plays.
func play(ctx context.Context, list []*Scenario, policies func(*Scenario) bundle.Bundle, baseline []*Figures, o Options) ([]Figures, error) {
	type task struct{ scenario, seed int }
	var tasks []task
	for i, c := range list {
		for k := range c.Seeds {
			tasks = append(tasks, task{i, k})
		}
	}
	tallies := make([]*tally, len(tasks))
	_, err := study.Pool{Workers: o.Workers}.Each(ctx, len(tasks), func(ctx context.Context, i int) error {
		c := list[tasks[i].scenario]
		seed := c.Seeds[tasks[i].seed]
		t := newTally(c.Measures)
		cfg, err := c.run(policies(c), seed, o)
		if err == nil {
			cfg.Row = t.add
			var r *actors.Result
			if r, err = actors.Run(ctx, cfg); err == nil {
				atLeast := 0.0
				if baseline != nil {
					atLeast = baseline[tasks[i].scenario].Seconds[tasks[i].seed]
				}
				t.end(r, atLeast)
				tallies[i] = t
				return nil
			}
		}
		return &runFault{c.Name, seed, err}
	})
	if err != nil {
		return nil, err
	}
	figures := make([]Figures, len(list))
	sum := (*tally)(nil)
	for i, t := range tasks {
		if t.seed == 0 {
			sum = tallies[i]
		} else {
			sum.join(tallies[i])
		}
		figures[t.scenario] = sum.figures(list[t.scenario])
	}
	return figures, nil
}

// run is the configuration of one run, which takes one goroutine: a run of too many events then
// ends soon.
func (c *Scenario) run(policies bundle.Bundle, seed uint64, o Options) (actors.Config, error) {
	cfg, err := c.config(policies)
	return actors.Config{Config: seeded(cfg, seed), Execution: actors.Execution{Workers: 1, MaxEvents: o.MaxEvents}}, err
}
