package cli

import (
	"context"

	"blis/actors"
	"blis/report"
	"blis/setup"
)

// pageFile is the file of blis run --report.
type pageFile struct {
	file    *output
	command []string // that repeats the run
	series  int      // among the time series of the run
}

// openPage begins the file; nil without a path.
func openPage(ctx context.Context, path string) (*pageFile, error) {
	if path == "" {
		return nil, nil
	}
	file, err := create(ctx, "report", path)
	return &pageFile{file: file}, err
}

// output is the file, nil without one.
func (p *pageFile) output() *output {
	if p == nil {
		return nil
	}
	return p.file
}

// attach makes a run keep what its page shows.
func (p *pageFile) attach(cfg *actors.Config, series *seriesFile) {
	if p == nil {
		return
	}
	p.command = append([]string{"blis", "run"}, setup.Flags(&cfg.Config)...)
	p.series = series.forPage(cfg)
}

// end writes the page of a result: see output.end.
func (p *pageFile) end(outcome *report.Run, whole bool, kept *[]string) error {
	if p == nil {
		return nil
	}
	complete := *outcome
	complete.Details.Series = report.NewTimeSeries(outcome.Result, p.series)
	complete.Details.Distributions = outcome.Report.Curves
	return savePage(p.file, &complete, p.command, whole, kept)
}
