package cli

import (
	"context"

	"blis/bench"
)

// benchCmd is blis bench.
type benchCmd struct {
	Measure   measureCmd   `cmd:"" default:"withargs" help:"Run scenarios of the speed budget and compare with it (the default)."`
	Calibrate calibrateCmd `cmd:"" help:"Say how fast this machine is at the moment."`
}

// measureCmd is blis bench without a subcommand.
type measureCmd struct {
	Scenarios []string    `name:"scenarios" placeholder:"NAME" help:"Scenarios or groups of them, or all; not given: lines 1 to 3 of the budget."`
	CPU       []int       `name:"cpu" default:"1" help:"Numbers of cores to run on; several give speed-ups."`
	Runs      int         `default:"5" help:"Runs of each, of which the median counts."`
	Compare   string      `type:"path" placeholder:"FILE" help:"An earlier result (JSON) to compare with."`
	Against   string      `type:"path" placeholder:"BINARY" help:"Another blis binary to compare with: it runs the same scenarios, in turn with this one."`
	FailAbove bench.Share `default:"0" placeholder:"SHARE" help:"Fail when something is slower than before by more than this, such as 20%."`
	Format    string      `default:"text" enum:"text,json" help:"Form of the result: text or json."`
}

// Run carries the command out.
func (m *measureCmd) Run(ctx context.Context, c *console) error {
	report, err := bench.Run(ctx, bench.Options{
		Scenarios: m.Scenarios, CPUs: m.CPU, Runs: m.Runs, Compare: m.Compare, Against: m.Against, FailAbove: m.FailAbove,
		Progress: func(done, total int, scenario string) { c.note("%d/%d %s", done+1, total, scenario) },
	})
	if err != nil {
		return err
	}
	write := report.WriteText
	if m.Format == "json" {
		write = report.WriteJSON
	}
	if err := write(c.out); err != nil {
		return err
	}
	failures := report.Failures()
	for _, f := range failures {
		c.note("%s", f)
	}
	if len(failures) > 0 {
		return errCheck
	}
	return nil
}

// calibrateCmd is blis bench calibrate.
type calibrateCmd struct {
	Format string `default:"text" enum:"text,json" help:"Form of the result: text or json."`
}

// Run carries the command out.
func (m *calibrateCmd) Run(c *console) error {
	score := bench.Calibrate()
	if m.Format == "json" {
		return score.WriteJSON(c.out)
	}
	return score.WriteText(c.out)
}
