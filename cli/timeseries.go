package cli

import (
	"context"
	"path/filepath"
	"strings"

	"blis/actors"
	"blis/metrics"
	"blis/report"
	"blis/vtime"
)

// seriesFlags are the flags of what instances did over time.
type seriesFlags struct {
	Timeseries string          `type:"path" placeholder:"FILE" group:"Output" help:"Write what each instance did over time, as FILE.csv or FILE.json: requests that run and wait, KV blocks of each tier, tokens. JSON results have it too then."`
	Step       *vtime.Duration `placeholder:"TIME" group:"Output" help:"Width of the bins of --timeseries. Not given: 1s."`
}

// seriesFile is the file of --timeseries.
type seriesFile struct {
	file *output // nil: none
	csv  bool
	at   int // among the time series of the run
}

// open begins the file.
func (f *seriesFlags) open(ctx context.Context) (*seriesFile, error) {
	if f.Timeseries == "" {
		if f.Step != nil {
			return nil, inputError("--step has no effect without --timeseries")
		}
		return &seriesFile{}, nil
	}
	form := strings.ToLower(filepath.Ext(f.Timeseries))
	if form != ".csv" && form != ".json" {
		return nil, inputErrorf("--timeseries: %s: want a name that ends in .csv or .json", f.Timeseries)
	}
	if f.Step != nil && *f.Step < leastStep {
		return nil, inputErrorf("--step is %v: want at least %v", *f.Step, leastStep)
	}
	file, err := create(ctx, "timeseries", f.Timeseries)
	return &seriesFile{file: file, csv: form == ".csv"}, err
}

// leastStep is the narrowest width of bins: a step of an instance takes longer.
const leastStep = vtime.Millisecond

// attach makes a run keep the time series.
func (s *seriesFile) attach(cfg *actors.Config, step *vtime.Duration) {
	if s.file == nil {
		return
	}
	width := vtime.Second
	if step != nil {
		width = *step
	}
	s.at = len(cfg.TimeSeries)
	cfg.TimeSeries = append(cfg.TimeSeries, metrics.TimeSeriesOptions{Step: width})
}

// forPage makes a run keep time series for a page of it: those of --timeseries, else in as
// many bins as a page shows. It returns their place among those of the run.
func (s *seriesFile) forPage(cfg *actors.Config) int {
	if s.file != nil {
		return s.at
	}
	cfg.TimeSeries = append(cfg.TimeSeries, metrics.TimeSeriesOptions{})
	return len(cfg.TimeSeries) - 1
}

// of is the time series of a result; nil if they were not asked for.
func (s *seriesFile) of(r *actors.Result) *report.TimeSeries {
	if s.file == nil {
		return nil
	}
	return report.NewTimeSeries(r, s.at)
}

// discard leaves the file of a run that came to nothing as it was.
func (s *seriesFile) discard() {
	if s != nil {
		s.file.discard()
	}
}

// end writes the file.
func (s *seriesFile) end(outcome *report.Run, kept *[]string) error {
	if s.file == nil {
		return nil
	}
	var written error
	if s.csv {
		outcome.Details.Series.CSV(s.file.Writer)
	} else {
		written = outcome.Details.Series.JSON(s.file.Writer)
	}
	return s.file.end(written, !outcome.Partial, kept, (*output).finish)
}
