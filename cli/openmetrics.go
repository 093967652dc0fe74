package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"time"

	"blis/actors"
	"blis/metrics"
	"blis/report"
	"blis/report/openmetrics"
	"blis/report/otlp"
	"blis/vtime"
)

// metricsFlags are the flags of what a Prometheus would have scraped.
type metricsFlags struct {
	MetricsOut   string          `type:"path" placeholder:"FILE" group:"Output" help:"Write vLLM's metrics of each instance over virtual time as OpenMetrics, for Prometheus and Grafana; a FILE.gz compressed."`
	MetricsStep  *vtime.Duration `placeholder:"TIME" group:"Output" help:"Time between two samples of --metrics-out. Not given: 15s."`
	OTLP         string          `name:"otlp" type:"path" placeholder:"FILE" group:"Output" help:"Write a span per request as vLLM sends it to OpenTelemetry: OTLP-JSON."`
	MetricsEpoch string          `placeholder:"TIME" group:"Output" help:"When virtual time begins in --metrics-out and --otlp, like 2026-01-01T00:00:00Z, which it is if not given."`
}

// mostSamples bounds --metrics-out to some 2 GB.
const mostSamples = 20_000_000

// metricsFile is the file of --metrics-out.
type metricsFile struct {
	file     *output // nil: none
	spans    *output // of --otlp; nil: none
	options  openmetrics.Options
	requests *openmetrics.Requests
	at       int // its time series among those of the run
}

// open begins the file.
func (f *metricsFlags) open(ctx context.Context) (*metricsFile, error) {
	m := &metricsFile{options: openmetrics.Options{Step: 15 * vtime.Second, MostSamples: mostSamples}}
	switch {
	case f.MetricsOut == "" && f.MetricsStep != nil:
		return nil, inputError("--metrics-step has no effect without --metrics-out")
	case f.MetricsOut == "" && f.OTLP == "" && f.MetricsEpoch != "":
		return nil, inputError("--metrics-epoch has no effect without --metrics-out or --otlp")
	}
	if f.MetricsStep != nil {
		m.options.Step = *f.MetricsStep
	}
	if m.options.Step < leastStep {
		return nil, inputErrorf("--metrics-step is %v: want at least %v", m.options.Step, leastStep)
	}
	var err error
	if m.options.Epoch, err = epoch(f.MetricsEpoch); err != nil {
		return nil, err
	}
	if m.spans, err = create(ctx, "otlp", f.OTLP); err != nil {
		return nil, err
	}
	if m.file, err = create(ctx, "metrics-out", f.MetricsOut); err != nil {
		m.discard()
		return nil, err
	}
	m.requests = openmetrics.NewRequests(m.options.Step)
	return m, nil
}

// epoch reads --metrics-epoch.
func epoch(text string) (time.Time, error) {
	if text == "" {
		return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Year() < 1970 || t.Year() > 9999 {
		return t, inputErrorf("--metrics-epoch is %q: want a time from 1970 on, like 2026-01-01T00:00:00Z", text)
	}
	return t, nil
}

// attach makes a run keep what the file needs.
func (m *metricsFile) attach(cfg *actors.Config) {
	if m.spans != nil {
		alsoRow(cfg, otlp.Rows(m.spans.Writer, m.options.Epoch))
	}
	if m.file == nil {
		return
	}
	m.at = len(cfg.TimeSeries)
	cfg.TimeSeries = append(cfg.TimeSeries, metrics.TimeSeriesOptions{Step: m.options.Step, Histograms: true})
	alsoRow(cfg, m.requests.Add)
}

// alsoRow lets f have every request of a run too.
func alsoRow(cfg *actors.Config, f func(*actors.Row)) {
	others := cfg.Row
	cfg.Row = func(r *actors.Row) {
		f(r)
		if others != nil {
			others(r)
		}
	}
}

// end writes the files.
func (m *metricsFile) end(c *console, outcome *report.Run, kept *[]string) error {
	spans := m.spans.end(nil, !outcome.Partial, kept, (*output).finish)
	if m.file == nil {
		return spans
	}
	every, written := 1, error(nil)
	write := func(to io.Writer) error {
		b := bufio.NewWriter(to) // the output itself if it is no gzip
		every = openmetrics.Write(b, outcome.Result, m.at, m.requests, m.options)
		return b.Flush()
	}
	if zips(m.file.to.path) {
		written = writeZipped(m.file, write)
	} else {
		written = write(m.file)
	}
	if every > 1 {
		c.note("--metrics-out has a sample every %v, so that it has no more than %d million samples", vtime.Duration(every)*m.options.Step, mostSamples/1_000_000)
	}
	return errors.Join(m.file.end(written, !outcome.Partial, kept, (*output).finish), spans)
}

// discard leaves the files of a run that came to nothing as they were.
func (m *metricsFile) discard() {
	if m != nil {
		m.file.discard()
		m.spans.discard()
	}
}
