package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"blis/report"
	"blis/report/plaintext"
	"blis/setup"
	"blis/study"
	"blis/study/pointlog"
	"blis/study/sweepfile"
)

// sweepCmd is blis sweep.
type sweepCmd struct {
	Run   sweepRunCmd   `cmd:"" default:"withargs" help:"Run every point of a sweep file that has no result yet."`
	Show  sweepShowCmd  `cmd:"" help:"Show what the points of a sweep gave; runs nothing."`
	Race  sweepRaceCmd  `cmd:"" help:"Find the best point with a stated probability, by more replicates of those that may be it."`
	Merge sweepMergeCmd `cmd:"" help:"Put the rows of shards or folders together."`
}

// Help says that the command may be left out.
func (*sweepCmd) Help() string {
	return `blis sweep FILE is blis sweep run FILE; blis sweep run --help has its flags.

Examples:

    blis sweep examples/sweeps/routing.yaml
    blis sweep show routing.sweep --pareto cost,p99_ttft
    blis sweep race routing.sweep --best p99_ttft --within 1%`
}

// sweepRunCmd is blis sweep FILE.
type sweepRunCmd struct {
	File            string `arg:"" type:"path" help:"Sweep file: base settings, axes, replicates. docs/sweeps.md describes it."`
	Out             string `short:"o" type:"path" placeholder:"DIR" help:"Folder for the results; not given: the name of the file with .sweep. A sweep that was interrupted goes on where it ended."`
	Workers         int    `default:"0" help:"Points at a time; 0: one per core. Changes no result."`
	Shard           string `placeholder:"I/N" help:"Run part I of N, from 0; auto: as the array job of Slurm or the indexed job of Kubernetes says. Shards may share a folder."`
	DryRun          bool   `help:"Say which points there are, which will not run and why, and about how long it takes; run none of them."`
	RetryFailed     bool   `help:"Run points again that failed by a fault of their own."`
	LatencyPerPoint bool   `help:"Let each point have the latency model that a run of it alone has, in place of one for all."`

	sweepView
}

// Help is what blis sweep does, with examples.
func (*sweepRunCmd) Help() string {
	return `A sweep runs one configuration with several values of some settings. Its file says which; every result is a line of DIR/points.jsonl as soon as it is there, and DIR/points.sorted.jsonl has all of them at the end, the same bytes on any number of cores and machines. Interrupted, killed or on a full disk, it loses the last second at most: the same command goes on.

Examples:

    blis sweep examples/sweeps/routing.yaml
    blis sweep big.yaml -o results --dry-run
    blis sweep big.yaml -o results --shard 3/16
    blis sweep show results --pareto cost,p99_ttft`
}

// errPoints ends a sweep of which points failed. Their rows say why.
type errPoints struct{ failed int }

// Error says how many, and what runs them again.
func (e *errPoints) Error() string {
	return plaintext.Plural(int64(e.failed), "point") + " failed; --retry-failed runs such points again"
}

// Run carries the command out.
func (r *sweepRunCmd) Run(ctx context.Context, c *console) error {
	shard, err := shardOf(r.Shard, c.lookup)
	if err != nil {
		return err
	}
	if err := r.check(); err != nil {
		return err
	}
	plan, err := r.plan(ctx, c)
	if err != nil {
		return err
	}
	if r.DryRun {
		return r.dryRun(ctx, c, plan)
	}
	folder, err := sweepfile.Open(r.folder(), plan, pointlog.Options{Shard: shard, Note: func(text string) { c.note("%s", text) }})
	if err != nil {
		return err
	}
	c.begun.Store(true)
	err = r.runPoints(ctx, c, plan, folder)
	missing, finished := 0, error(nil)
	if err == nil {
		missing, finished = folder.Finish()
	}
	counts := folder.Log.Counts()
	if err = firstOf(err, finished, folder.Close()); err != nil {
		if lost := folder.Log.Lost(); lost > 0 && !errors.Is(err, context.Canceled) {
			c.note("%d rows are not known to be on disk: they run again", lost)
		}
		if errors.Is(err, context.Canceled) {
			c.note("%d of %d points are in %s; the same command goes on", counts.Done(), len(folder.Distinct()), r.folder())
		}
		return err
	}
	return r.finish(ctx, c, plan, shard, counts, missing)
}

// check checks the flags.
func (r *sweepRunCmd) check() error {
	if r.Workers < 0 || r.Workers > 4096 {
		return inputErrorf("--workers is %d: want 1 to 4096, 0 for one per core", r.Workers)
	}
	_, err := r.selected()
	return err
}

// folder is the folder of the results.
func (r *sweepRunCmd) folder() string {
	if r.Out != "" {
		return r.Out
	}
	base := filepath.Base(r.File)
	return strings.TrimSuffix(base, filepath.Ext(base)) + ".sweep"
}

// plan reads the sweep and makes its points.
func (r *sweepRunCmd) plan(ctx context.Context, c *console) (*study.SweepPlan, error) {
	sweep, err := ReadSweep(r.File)
	if err != nil {
		return nil, err
	}
	sweep.LatencyPerPoint = sweep.LatencyPerPoint || r.LatencyPerPoint
	collectRarely()
	pool := study.Pool{Workers: r.Workers}
	bar := c.show("combinations checked")
	defer bar.done()
	pool.Progress = func(done, all int) { bar.set(int64(done), int64(all)) }
	plan, err := study.NewSweepPlan(ctx, sweep, pool)
	var fault *study.SweepError
	var input *setup.InputError
	if errors.As(err, &fault) || errors.As(err, &input) {
		err = inputError(r.File + ": " + err.Error())
	}
	return plan, err
}

// runPoints runs the points that have no row yet.
func (r *sweepRunCmd) runPoints(ctx context.Context, c *console, plan *study.SweepPlan, folder *sweepfile.Folder) error {
	share, todo := len(folder.Share()), folder.Todo(r.RetryFailed)
	if done := share - len(todo); done > 0 && len(todo) > 0 {
		c.note("%d of %d points have results in %s; %d are left", done, share, r.folder(), len(todo))
	}
	if len(todo) == 0 {
		return nil
	}
	bar := c.show("points")
	defer bar.done()
	done := int64(0)
	bar.set(0, int64(len(todo)))
	return plan.Run(ctx, todo, study.Pool{Workers: r.Workers}, func(row *pointlog.Row) error {
		done++
		bar.set(done, int64(len(todo)))
		return folder.Log.Append(row)
	})
}

// finish says what came of the sweep.
func (r *sweepRunCmd) finish(ctx context.Context, c *console, plan *study.SweepPlan, shard pointlog.Shard, counts pointlog.Counts, missing int) error {
	if missing > 0 && shard == (pointlog.Shard{}) {
		return fmt.Errorf("%d points have no row, which should not be", missing)
	}
	if missing > 0 {
		c.note("shard %v of %s is done; %d points are left to other shards; blis sweep merge %[2]s puts all together", shard, r.folder(), missing)
	} else if plan.Len() > mostShownAtOnce && r.Format == "text" && !r.All {
		c.note("%d points are done; blis sweep show %s shows what they gave", plan.Len(), r.folder())
	} else if err := r.show(ctx, c, r.folder(), plan); err != nil {
		return err
	}
	if counts.Failed > 0 {
		return &errPoints{counts.Failed}
	}
	return nil
}

// mostShownAtOnce is the number of points above which a sweep ends without a table: reading
// all rows again would take longer than a resume.
const mostShownAtOnce = 200_000

// dryRun says what would run.
func (r *sweepRunCmd) dryRun(ctx context.Context, c *console, plan *study.SweepPlan) error {
	preview, err := study.Preview(ctx, plan, r.Workers)
	if err != nil {
		return err
	}
	return c.print(&report.SweepPreview{Preview: preview, File: r.File}, r.Format)
}
