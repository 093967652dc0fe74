package cli

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"blis/actors"
	"blis/metrics"
	"blis/report"
	"blis/study"
	"blis/study/pointlog"
	"blis/study/sweepfile"
	"blis/vtime"
)

// sweepRaceCmd is blis sweep race.
type sweepRaceCmd struct {
	Dir           string  `arg:"" type:"path" help:"Folder of a sweep that has run."`
	Best          string  `required:"" placeholder:"MEASURE" help:"Measure by which the best is found."`
	Within        string  `required:"" placeholder:"1%|5ms" help:"The smallest lead that matters: a number in the unit of the measure, or a share of its median over the points of the sweep."`
	Confidence    float64 `default:"0.95" help:"Probability with which the best is selected if it leads by that much, from 0.5 to 0.9999."`
	MaxReplicates int     `default:"1000" help:"The race ends undecided after so many replicates of each."`
	Workers       int     `default:"0" help:"Runs at a time; 0: one per core. Changes no result."`
	Format        string  `default:"text" enum:"text,json" help:"Form of the result on standard output: text or json."`
}

// Help is what the race does.
func (*sweepRaceCmd) Help() string {
	return `All points of the sweep run with the same seeds, other ones than those of the sweep; a point leaves as soon as another one is clearly better (Kim and Nelson 2001, docs/sweeps.md). Runs are kept in DIR/race-MEASURE.jsonl; a race that was interrupted goes on.

Example:

    blis sweep race results --best p99_ttft --within 1%`
}

// Run carries the command out.
func (r *sweepRaceCmd) Run(ctx context.Context, c *console) error {
	measures, err := study.SelectMeasures("--best", []string{r.Best})
	if err != nil {
		return err
	}
	if !(r.Confidence >= 0.5 && r.Confidence <= 0.9999) || r.Confidence == 0.5 {
		return inputErrorf("--confidence is %v: want above 0.5, at most 0.9999", r.Confidence)
	}
	if r.MaxReplicates < 10 {
		return inputErrorf("--max-replicates is %d: want at least 10", r.MaxReplicates)
	}
	lock := filepath.Join(r.Dir, sweepfile.LockName)
	sweep, err := ReadSweep(lock)
	if err != nil {
		return noFolder(r.Dir, err)
	}
	delta, err := r.delta(ctx, &sweep, &measures[0])
	if err != nil {
		return err
	}
	race, err := study.NewSweepRace(ctx, sweep, study.RaceOptions{Measure: measures[0], Delta: delta, Alpha: 1 - r.Confidence, MaxReplicates: r.MaxReplicates})
	if err != nil {
		return err
	}
	log, err := pointlog.Open(r.Dir, pointlog.Options{Stem: "race-" + r.Best, Version: actors.SemanticsVersion, Note: func(text string) { c.note("%s", text) }})
	if err != nil {
		return inputError(err.Error())
	}
	c.begun.Store(true)
	err = firstOf(r.run(ctx, c, race, log), log.Close())
	if err != nil {
		return err
	}
	return c.print(&report.Race{SweepRace: race, Confidence: r.Confidence, Dir: r.Dir}, r.Format)
}

// run carries the race out, with its progress.
func (r *sweepRaceCmd) run(ctx context.Context, c *console, race *study.SweepRace, log *pointlog.Log) error {
	collectRarely()
	bar := c.show("runs")
	defer bar.done()
	done := int64(0)
	return race.Run(ctx, study.Pool{Workers: r.Workers}, log.Row, func(row *pointlog.Row) error {
		done++
		bar.set(done, -1)
		return log.Append(row)
	})
}

// delta is --within in the unit of rows.
func (r *sweepRaceCmd) delta(ctx context.Context, s *study.Sweep, m *study.Measure) (float64, error) {
	bad := inputErrorf("--within %s: want a share like 1%%, or a number above 0 in the unit of %s, like 5ms for a latency", r.Within, r.Best)
	if share, ok := strings.CutSuffix(r.Within, "%"); ok {
		x, err := strconv.ParseFloat(share, 64)
		if err != nil || !(x > 0 && x <= 100) {
			return 0, bad
		}
		median, err := r.median(ctx, s)
		if err != nil {
			return 0, err
		}
		return math.Abs(median) * x / 100, nil
	}
	if d, err := vtime.ParseDuration(r.Within); m.Kind == metrics.Latency && err == nil && d > 0 && strings.Trim(r.Within, "0123456789.") != "" {
		return d.Milliseconds(), nil
	}
	x, err := strconv.ParseFloat(r.Within, 64)
	if err != nil || !(x > 0) || math.IsInf(x, 0) || m.Kind == metrics.Latency {
		return 0, bad
	}
	return x, nil
}

// median is the median over the points of the sweep, whose seeds the race does not use.
func (r *sweepRaceCmd) median(ctx context.Context, s *study.Sweep) (float64, error) {
	v, err := study.NewSweepView(s, []string{r.Best}, nil, "")
	if err != nil {
		return 0, err
	}
	rows, err := sweepRows(r.Dir)
	if err != nil {
		return 0, err
	}
	if err := addAll(ctx, v, rows); err != nil {
		return 0, err
	}
	v.Finish()
	median := v.PilotMedian(r.Best)
	if median == nil || *median == 0 {
		return 0, fmt.Errorf("--within %s: the median of %s over the points of %s is 0 or not known: want a number in its unit", r.Within, r.Best, r.Dir)
	}
	return *median, nil
}
