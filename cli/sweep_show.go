package cli

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"blis/report"
	"blis/study"
	"blis/study/pointlog"
	"blis/study/sweepfile"
)

// sweepView are the flags that say how the result of a sweep is shown.
type sweepView struct {
	Measures []string `group:"Output" placeholder:"NAME,…" help:"Measures to show; not given: those that blis compare ranks by. blis compare --help has the names."`
	Pareto   []string `group:"Output" placeholder:"NAME,NAME" help:"Mark the combinations that no other beats in all of these measures, and draw the first two."`
	All      bool     `group:"Output" help:"Show all combinations, not the first 40."`
	Format   string   `default:"text" enum:"text,json,csv" group:"Output" help:"Form of the result on standard output: text, json or csv."`
}

// selected checks the names of measures.
func (r *sweepView) selected() ([]study.Measure, error) {
	if len(r.Pareto) == 1 {
		return nil, inputErrorf("--pareto %s: want at least two measures", r.Pareto[0])
	}
	if _, err := study.SelectMeasures("--pareto", r.Pareto); err != nil {
		return nil, err
	}
	return study.SelectMeasures("--measures", r.Measures)
}

// view is a view of a sweep, without rows.
func (r *sweepView) view(s *study.Sweep, where string) (*study.SweepView, error) {
	if _, err := r.selected(); err != nil {
		return nil, err
	}
	v, err := study.NewSweepView(s, r.Measures, r.Pareto, where)
	if err == nil && r.Format == "text" && !r.All {
		v.Keep = report.SweepTextLimits
	}
	return v, err
}

// print finishes a view and prints it.
func (r *sweepView) print(c *console, v *study.SweepView, name string) error {
	v.Finish()
	result := &report.Sweep{SweepView: v, Name: name, All: r.All}
	if r.Format == "csv" {
		w := bufio.NewWriter(c.out)
		return firstOf(result.CSV(w), w.Flush())
	}
	return c.print(result, r.Format)
}

// show shows a sweep that is complete, from the sorted file of its folder.
func (r *sweepView) show(ctx context.Context, c *console, dir string, plan *study.SweepPlan) error {
	v, err := r.view(&plan.Sweep, "")
	if err != nil {
		return err
	}
	if err := addAll(ctx, v, pointlog.Rows(filepath.Join(dir, pointlog.SortedName(pointlog.DefaultStem)))); err != nil {
		return err
	}
	v.Points, v.Error = plan.Len(), plan.Latency.Error()
	return r.print(c, v, dir)
}

// addAll adds rows to a view, until ctx ends.
func addAll(ctx context.Context, v *study.SweepView, rows iter.Seq2[pointlog.Row, error]) error {
	for row, err := range rows {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = v.Add(&row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sweepShowCmd is blis sweep show.
type sweepShowCmd struct {
	Dir   string `arg:"" type:"path" help:"Folder of the sweep."`
	Where string `placeholder:"EXPR" help:"Only points for which this is true, like tp == 2 and p99_ttft < 500; names are axes, with _ for - and ., measures and status."`
	sweepView
}

// Run carries the command out.
func (r *sweepShowCmd) Run(ctx context.Context, c *console) error {
	v, err := loadSweep(ctx, r.Dir, r.Where, &r.sweepView)
	if err != nil {
		return err
	}
	return r.print(c, v, r.Dir)
}

// loadSweep is the view of the rows that the folder of a sweep has.
func loadSweep(ctx context.Context, dir, where string, view *sweepView) (*study.SweepView, error) {
	lock := filepath.Join(dir, sweepfile.LockName)
	sweep, err := ReadSweep(lock)
	if err != nil {
		return nil, noFolder(dir, err)
	}
	v, err := view.view(&sweep, where)
	if err != nil {
		return nil, err
	}
	rows, err := sweepRows(dir)
	if err != nil {
		return nil, err
	}
	if err := addAll(ctx, v, rows); err != nil {
		return nil, err
	}
	info, err := sweepfile.ReadInfo(lock)
	if err != nil {
		return nil, err
	}
	v.Points, v.Error = info.Points, info.LatencyError
	return v, nil
}

// noFolder is the error of a folder that is none of a sweep.
func noFolder(dir string, err error) error {
	if _, missing := os.Stat(filepath.Join(dir, sweepfile.LockName)); errors.Is(missing, fs.ErrNotExist) {
		return inputErrorf("%s: has no %s: it is not the folder of a sweep", dir, sweepfile.LockName)
	}
	return err
}

// sweepRows are the rows of a folder in the order of points: of the sorted file, else of the
// logs, as far as they are written.
func sweepRows(dir string) (iter.Seq2[pointlog.Row, error], error) {
	sorted := filepath.Join(dir, pointlog.SortedName(pointlog.DefaultStem))
	if _, err := os.Stat(sorted); err == nil {
		return pointlog.Rows(sorted), nil
	}
	table, err := pointlog.Merge(0, dir)
	if err != nil {
		return nil, inputError(err.Error())
	}
	defer table.Close()
	var rows []pointlog.Row
	for key := range table.Keys() {
		row, _, err := table.Row(key)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b pointlog.Row) int { return int(a.Index - b.Index) })
	return func(yield func(pointlog.Row, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}, nil
}

// sweepMergeCmd is blis sweep merge.
type sweepMergeCmd struct {
	Dirs []string `arg:"" name:"dir" help:"Folders of one sweep, or of its shards."`
	Out  string   `short:"o" type:"path" placeholder:"DIR" help:"Folder for points.sorted.jsonl; not given: the first one."`
	sweepView
}

// Run carries the command out.
func (r *sweepMergeCmd) Run(ctx context.Context, c *console) error {
	if err := r.sameLocks(); err != nil {
		return err
	}
	lock := filepath.Join(r.Dirs[0], sweepfile.LockName)
	sweep, err := ReadSweep(lock)
	if err != nil {
		return noFolder(r.Dirs[0], err)
	}
	collectRarely()
	plan, err := study.NewSweepPlan(ctx, sweep, study.Pool{})
	if err != nil {
		return err
	}
	table, err := pointlog.Merge(0, r.Dirs...)
	if err != nil {
		return err
	}
	defer table.Close()
	out := r.Out
	if out == "" {
		out = r.Dirs[0]
	}
	if err := table.WriteSorted(out, sweepfile.Labels(plan), func(text string) { c.note("%s", text) }); err != nil {
		return err
	}
	if out != r.Dirs[0] {
		text, err := os.ReadFile(lock)
		if err == nil {
			_, err = pointlog.CreateFile(filepath.Join(out, sweepfile.LockName), text)
		}
		if err != nil {
			return err
		}
	}
	return r.show(ctx, c, out, plan)
}

// sameLocks refuses folders of different sweeps.
func (r *sweepMergeCmd) sameLocks() error {
	var first []byte
	for _, dir := range r.Dirs {
		text, err := os.ReadFile(filepath.Join(dir, sweepfile.LockName))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return inputErrorf("%s: has no %s: it is not the folder of a sweep", dir, sweepfile.LockName)
		case err != nil:
			return err
		case first == nil:
			first = text
		case string(text) != string(first):
			return inputErrorf("%s and %s are folders of different sweeps", r.Dirs[0], dir)
		}
	}
	return nil
}
