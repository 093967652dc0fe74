package cli

import (
	"bufio"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"blis/actors"
	"blis/metrics"
	"blis/report"
	"blis/setup"
)

// runCmd is blis run.
type runCmd struct {
	settings
	outputs
}

// outputs are the flags of run that say what to write. They change no result.
type outputs struct {
	Format      string   `default:"text" enum:"text,json" group:"Output" help:"Form of the result on standard output: text or json."`
	ResultsPath string   `type:"path" placeholder:"FILE" group:"Output" help:"Write the result as JSON, with every request."`
	RequestsOut string   `type:"path" placeholder:"FILE" group:"Output" help:"Write a row per request while the run goes on, as FILE.csv or FILE.jsonl."`
	Report      string   `type:"path" placeholder:"FILE" group:"Output" help:"Write a page of the result as HTML, with distributions; as FILE.md or FILE.csv its tables alone."`
	Record      string   `type:"path" placeholder:"FILE" group:"Output" help:"Write every frame of messages between actors, as msgpack."`
	Check       []string `sep:"none" placeholder:"BOUND" group:"Output" help:"Bound that the run must keep, p99_ttft<500ms or slo_attainment>=99%; several with commas, or the flag several times. Exit code 1 when one is not kept."`
	seriesFlags
	saturationFlags
	metricsFlags
	traceFlags
	chromeFlags
	Stats bool `group:"Output" help:"Say how the run was carried out (on standard error)."`
}

// Help is the examples of blis run --help.
func (*runCmd) Help() string {
	return `Examples:

    blis run --model Llama-3.1-70B --tp 4 --routing-policy least-loaded
    blis run --trace requests.csv --slo-targets ttft=500ms,tpot=50ms
    blis run --rate 40 --print-config > run.yaml; blis run --config run.yaml`
}

// Run carries the command out.
func (r *runCmd) Run(ctx context.Context, c *console) error {
	c.warnOfVariables()
	if err := r.warmUp(ctx, c); err != nil {
		return err
	}
	if r.Print {
		return r.printConfig(c.out)
	}
	if err := setup.OpenDeployments(&r.Config.Config); err != nil { // once: a pipe cannot be read again
		return err
	}
	if err := checkDistinct(r.written(), r.read()); err != nil {
		return err
	}
	if r.ReplayRegret > 0 {
		r.Config.Open = new(pipes).open
	}
	bounds, err := r.bounds()
	if err != nil {
		return err
	}
	files, err := r.open(ctx, report.Rows{Tiers: r.Config.Tiers(), Fails: r.Config.Fails(), Gated: r.Config.FlowControl, Pools: setup.SeveralPools(&r.Config.Config), Deployments: !r.Config.Deployments.Empty(), Nodes: !r.Config.NodePools.Empty(), Disaggregates: setup.HandsOver(&r.Config.Config)})
	if err != nil {
		return err
	}
	cfg := r.Config
	files.attach(&cfg, &r.outputs)
	files.saturation.attach(&cfg)
	header := r.header(c, &cfg)
	bar := c.progress(&cfg)
	started := time.Now()
	c.warnOfSize(&r.Config)
	c.begun.Store(true)
	result, err := actors.Run(ctx, cfg)
	took := time.Since(started)
	bar.done()
	if result == nil {
		files.discard()
		return err
	}
	outcome := &report.Run{Result: result, Checks: report.Check(result, bounds), Details: report.Details{Series: files.series.of(result), Saturation: files.saturation.of()}}
	if r.Details {
		outcome.Details.Distributions, outcome.Details.Worst = result.Report.Curves, report.NewWorst(files.decisions.worst)
	}
	stopped := files.decisions.find(ctx, c, r.Config, outcome)
	if err == nil && ctx.Err() != nil && errors.Is(stopped, ctx.Err()) { // what has been found stays
		err, stopped = ctx.Err(), nil
	}
	kept, failed := []string{}, errors.Join(stopped, firstOf(header.err, r.print(c, outcome, header.notes)))
	failed = errors.Join(failed, files.finish(c, outcome, !errors.Is(err, context.Canceled), &kept))
	defer func() { c.noteKept(kept) }()
	if failed != nil {
		return failed
	}
	files.chrome.missing(c, len(result.Names.Instances))
	c.noteExecution(result, took, r.Stats)
	return firstOf(err, checkFailed(outcome.Checks))
}

// notePrinted shows what a policy printed.
func (c *console) notePrinted(who, text string) {
	for line := range strings.Lines(text) {
		c.note("%s says: %s", who, strings.TrimSuffix(line, "\n"))
	}
}

// noteExecution says how a run went: what no result holds.
func (c *console) noteExecution(r *actors.Result, took time.Duration, stats bool) {
	if all := &r.Report.Overall; all.States[metrics.Completed] == 0 {
		c.note("warning: no request completed: %s", report.OutcomeText(all))
	}
	for _, p := range r.Printed() {
		c.notePrinted(string(p.Kind), p.Text)
	}
	c.note("%s", report.Speed(r, took))
	if stats {
		for _, line := range report.Statistics(r) {
			c.note("%s", line)
		}
	}
}

// header is the part of the text that is printed before a run.
type header struct {
	notes int   // number of notes in it
	err   error // of writing it
}

// header makes the run print the header as soon as the plan is known.
func (r *runCmd) header(c *console, cfg *actors.Config) *header {
	h := &header{}
	if r.Format == "json" {
		return h
	}
	cfg.Begin = func(effective *actors.Config, setup *actors.Setup) {
		h.notes = len(setup.Notes)
		h.err = report.Header(c.out, setup, effective, c.style())
	}
	return h
}

// print writes the result to standard output. Text has no header, which is printed
// before the run, with the first notes of the result.
func (r *runCmd) print(c *console, outcome *report.Run, notes int) error {
	if r.Format == "json" {
		return c.print(outcome, r.Format)
	}
	return outcome.Outcome(c.out, notes, c.style())
}

// bounds reads --check.
func (o *outputs) bounds() ([]metrics.Constraint, error) {
	var list []metrics.Constraint
	for _, text := range o.Check {
		some, err := metrics.ParseConstraints(text)
		if err != nil {
			return nil, inputError("--check: " + err.Error())
		}
		list = append(list, some...)
	}
	return list, nil
}

// checkFailed ends a command when a bound was not kept; what failed has been
// printed.
func checkFailed(list []metrics.ConstraintResult) error {
	for i := range list {
		if !list[i].Pass {
			return errCheck
		}
	}
	return nil
}

// files are the outputs of a run that are not standard output.
type files struct {
	results, rows, record *output
	series                *seriesFile
	metrics               *metricsFile
	page                  *pageFile
	decisions             *decisions
	chrome                *chromeTrace
	saturation            *saturation
	writeRow              func(*actors.Row)
	outcomes              []report.Request // for results
}

// open creates the files that the flags name, with rows of the given columns.
func (o *outputs) open(ctx context.Context, which report.Rows) (f *files, err error) {
	f = &files{outcomes: []report.Request{}}
	defer func() {
		if err != nil {
			f.discard()
		}
	}()
	form, err := rowFormat(o.RequestsOut)
	if err != nil {
		return f, err
	}
	for _, want := range []struct {
		flag, path string
		file       **output
	}{{"results-path", o.ResultsPath, &f.results}, {"requests-out", o.RequestsOut, &f.rows}, {"record", o.Record, &f.record}} {
		if *want.file, err = create(ctx, want.flag, want.path); err != nil {
			return f, err
		}
	}
	if f.rows != nil {
		f.writeRow = form(f.rows.Writer, which)
	}
	if f.saturation, err = o.saturationFlags.open(which.Gated); err != nil {
		return f, err
	}
	if f.page, err = openPage(ctx, o.Report); err != nil {
		return f, err
	}
	if f.series, err = o.seriesFlags.open(ctx); err != nil {
		return f, err
	}
	if f.metrics, err = o.metricsFlags.open(ctx); err != nil {
		return f, err
	}
	if f.decisions, err = o.traceFlags.open(ctx); err != nil {
		return f, err
	}
	f.chrome, err = o.chromeFlags.open(ctx)
	return f, err
}

// rowFormat chooses the writer of rows by the name of the file.
func rowFormat(path string) (func(*bufio.Writer, report.Rows) func(*actors.Row), error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return report.CSVRows, nil
	case ".jsonl":
		return report.JSONRows, nil
	}
	if path == "" {
		return nil, nil
	}
	return nil, inputErrorf("--requests-out: %s: want a name that ends in .csv or .jsonl", path)
}

// attach makes a run write to the files, and keep what they have at its end.
func (f *files) attach(cfg *actors.Config, o *outputs) {
	f.attachRows(cfg)
	f.series.attach(cfg, o.Step)
	f.metrics.attach(cfg)
	f.chrome.attach(cfg)
	f.page.attach(cfg, f.series)
	cfg.Curves = o.Details || o.Report != ""
}

// attachRows makes a run write what it writes while it goes on.
func (f *files) attachRows(cfg *actors.Config) {
	cfg.Tracing = f.decisions.tracing
	if f.record != nil {
		cfg.Record = lateErrorWriter{f.record}
	}
	if f.writeRow == nil && f.results == nil {
		return
	}
	cfg.Row = func(row *actors.Row) {
		if f.writeRow != nil {
			f.writeRow(row)
		}
		if f.results != nil {
			f.outcomes = append(f.outcomes, report.NewRequest(row))
		}
	}
}

// finish writes what is written at the end. Outputs that are not whole keep
// their partial names, which are added to kept; those that stream are whole when
// the run is, even if what follows it was interrupted.
func (f *files) finish(c *console, outcome *report.Run, all bool, kept *[]string) error {
	whole := !outcome.Partial
	rows, record := f.rows.end(nil, whole, kept, (*output).finish), f.record.end(nil, whole, kept, (*output).finish)
	series, metrics, decisions := f.series.end(outcome, kept), f.metrics.end(c, outcome, kept), f.decisions.end(whole, kept)
	chrome := f.chrome.end(outcome.Result, kept)
	var written error
	if f.results != nil { // last: readers of the others from pipes must see their end
		complete := *outcome
		complete.Details.Requests = f.outcomes
		written = complete.JSON(f.results.Writer)
	}
	results := f.results.end(written, whole && all, kept, (*output).finishWhole)
	page := f.page.end(outcome, whole && all, kept)
	return errors.Join(results, page, rows, record, series, metrics, decisions, chrome)
}

// discard leaves the files of a run that came to nothing as they were.
func (f *files) discard() {
	f.decisions.discard()
	f.series.discard()
	f.metrics.discard()
	f.chrome.discard()
	for _, o := range []*output{f.results, f.rows, f.record, f.page.output()} {
		o.discard()
	}
}

// noteKept says where the parts of outputs are that are not whole.
func (c *console) noteKept(names []string) {
	if len(names) > 0 {
		c.note("not whole, so under a name of its own: %s", strings.Join(names, ", "))
	}
}
