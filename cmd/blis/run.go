package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"time"

	"blis/actors"
)

// runCmd is blis run.
type runCmd struct {
	settings
	outputs
}

// outputs are the flags of run that say what to write. They change no result.
type outputs struct {
	Format      string `default:"text" enum:"text,json" group:"Output" help:"Form of the result on standard output: text or json."`
	ResultsPath string `type:"path" placeholder:"FILE" group:"Output" help:"Write the result as JSON, with every request."`
	RequestsOut string `type:"path" placeholder:"FILE" group:"Output" help:"Write a row per request while the run goes on, as FILE.csv or FILE.jsonl."`
	Record      string `type:"path" placeholder:"FILE" group:"Output" help:"Write every frame of messages between actors, as msgpack."`
	traceFlags
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
	if r.Print {
		return r.printConfig(c.out)
	}
	if err := apart(r.written(), r.read()); err != nil {
		return err
	}
	files, err := r.open()
	if err != nil {
		return err
	}
	cfg := r.Config
	files.attach(&cfg)
	bar := c.progress(&cfg)
	started := time.Now()
	result, err := actors.Run(ctx, cfg)
	took := time.Since(started)
	bar.done()
	if result == nil {
		files.discard()
		return err
	}
	found, stopped := files.decisions.find(ctx, c, r.Config, result)
	if err == nil && ctx.Err() != nil && errors.Is(stopped, ctx.Err()) { // what has been found stays
		err, stopped = ctx.Err(), nil
	}
	if failed := errors.Join(stopped, r.print(c, result, &found), files.finish(result, &found)); failed != nil {
		return failed
	}
	c.report(result, took, r.Stats)
	return err
}

// print writes the result to standard output.
func (r *runCmd) print(c *console, result *actors.Result, found *findings) error {
	w := bufio.NewWriter(c.out)
	var err error
	if r.Format == "json" {
		err = writeJSON(w, result, found, nil)
	} else {
		err = writeText(w, result, c.colour())
		writeFindings(w, found)
	}
	return firstOf(err, w.Flush())
}

// files are the outputs of a run that are not standard output.
type files struct {
	results, rows, record *output
	decisions             *decisions
	writeRow              func(*actors.Row)
	outcomes              []request // for results
}

// open creates the files that the flags name.
func (o *outputs) open() (*files, error) {
	f := &files{outcomes: []request{}}
	form, err := rowFormat(o.RequestsOut)
	if err != nil {
		return nil, err
	}
	for _, want := range []struct {
		flag, path string
		file       **output
	}{{"results-path", o.ResultsPath, &f.results}, {"requests-out", o.RequestsOut, &f.rows}, {"record", o.Record, &f.record}} {
		if *want.file, err = create(want.flag, want.path); err != nil {
			f.discard()
			return nil, err
		}
	}
	if f.rows != nil {
		f.writeRow = form(f.rows.Writer)
	}
	if f.decisions, err = o.traceFlags.open(); err != nil {
		f.discard()
		return nil, err
	}
	return f, nil
}

// attach makes a run write to the files.
func (f *files) attach(cfg *actors.Config) {
	cfg.Tracing = f.decisions.tracing
	if f.record != nil {
		cfg.Record = io.Writer(f.record)
	}
	if f.writeRow == nil && f.results == nil {
		return
	}
	cfg.Row = func(row *actors.Row) {
		if f.writeRow != nil {
			f.writeRow(row)
		}
		if f.results != nil {
			f.outcomes = append(f.outcomes, newRequest(row))
		}
	}
}

// finish writes what is written at the end.
func (f *files) finish(result *actors.Result, found *findings) error {
	var err error
	if f.results != nil {
		err = writeJSON(f.results.Writer, result, found, f.outcomes)
	}
	return errors.Join(f.results.close(err), f.rows.close(nil), f.record.close(nil), f.decisions.close())
}

// discard closes the files of a run that came to nothing and removes them.
func (f *files) discard() {
	f.decisions.discard()
	for _, o := range []*output{f.results, f.rows, f.record} {
		o.discard()
	}
}
