package cli

import (
	"context"
	"io"
	"strings"

	"blis/actors"
	"blis/report/chrometrace"
	"blis/trace"
	"blis/vtime"
)

// chromeFlags are the flags of run about its Chrome trace.
type chromeFlags struct {
	ChromeTrace          string         `type:"path" placeholder:"FILE" group:"Chrome trace" help:"Write a Chrome trace, which ui.perfetto.dev and chrome://tracing open: steps, requests, KV transfers, counters. JSON; a FILE.gz compressed."`
	TraceEvents          int            `default:"1000000" placeholder:"N" group:"Chrome trace" help:"Most events in the Chrome trace, at least 1000. If there are more, decode steps of one size become one event, then more and more requests are left out, an eighth at a time; the file says what is left out."`
	ChromeTraceFrom      vtime.Duration `default:"0" group:"Chrome trace" help:"Start of the part of the run that the Chrome trace has."`
	ChromeTraceTo        vtime.Duration `default:"0" group:"Chrome trace" help:"End of the part of the run that the Chrome trace has; 0: the end of the run."`
	ChromeTraceInstances []string       `placeholder:"LIST" group:"Chrome trace" help:"Instances that the Chrome trace has, by index, such as 0-3,7. Not given: all."`
}

// chromeTrace is where the Chrome trace of a run goes.
type chromeTrace struct {
	file     *output
	recorder *chrometrace.Recorder
	last     int // largest index of --chrome-trace-instances, −1: all
}

// open checks the flags and opens the file; nil without one.
func (f *chromeFlags) open(ctx context.Context) (*chromeTrace, error) {
	o := chrometrace.Options{Events: f.TraceEvents, From: vtime.Time(f.ChromeTraceFrom), To: vtime.Never}
	if f.ChromeTrace == "" {
		return nil, f.unused()
	}
	if f.ChromeTraceTo != 0 {
		o.To = vtime.Time(f.ChromeTraceTo)
	}
	switch {
	case o.Events < chrometrace.LeastEvents || o.Events > chrometrace.MostEvents:
		return nil, inputErrorf("--trace-events is %d: want %d to %d", o.Events, chrometrace.LeastEvents, chrometrace.MostEvents)
	case o.To <= o.From:
		return nil, inputErrorf("--chrome-trace-to is %s: want 0 (the end of the run) or later than --chrome-trace-from, %s", f.ChromeTraceTo, f.ChromeTraceFrom)
	}
	var err error
	if o.Instances, err = chrometrace.ParseInstances(f.ChromeTraceInstances); err != nil {
		return nil, inputError("--chrome-trace-instances: " + err.Error())
	}
	c := &chromeTrace{last: o.Instances.Last()}
	if c.recorder, err = chrometrace.New(o); err != nil {
		return nil, inputError("--chrome-trace: " + err.Error())
	}
	c.file, err = create(ctx, "chrome-trace", f.ChromeTrace)
	return c, err
}

// unused returns an error about a flag that says something of a Chrome trace that there is not.
func (f *chromeFlags) unused() error {
	for _, x := range []struct {
		flag  string
		value any
		given bool
	}{
		{"--trace-events", f.TraceEvents, f.TraceEvents != chrometrace.DefaultEvents},
		{"--chrome-trace-from", f.ChromeTraceFrom, f.ChromeTraceFrom != 0},
		{"--chrome-trace-to", f.ChromeTraceTo, f.ChromeTraceTo != 0},
		{"--chrome-trace-instances", strings.Join(f.ChromeTraceInstances, ","), f.ChromeTraceInstances != nil},
	} {
		if x.given {
			return inputErrorf("%s is %v without a Chrome trace: want --chrome-trace FILE with it", x.flag, x.value)
		}
	}
	return nil
}

// attach makes a run, whose other outputs are attached, record a Chrome trace. A decision trace
// stays what it is without.
func (c *chromeTrace) attach(cfg *actors.Config) {
	if c == nil {
		return
	}
	consumer := trace.Consumer(c.recorder)
	if t := &cfg.Tracing; t.Level != trace.None {
		consumer = &beside{trace.Below(t.Level, t.Consumer), nil, c.recorder}
	}
	cfg.Tracing.Level, cfg.Tracing.Consumer = trace.Detailed, consumer
	alsoRow(cfg, func(row *actors.Row) { c.recorder.Request(row.Outcome) })
}

// beside is a consumer of two: an error of the decision trace, which says so when it ends, does not keep
// the rest of the records from the Chrome trace.
type beside struct {
	decisions trace.Consumer
	failed    error // the first of it; it gets no more records then
	chrome    *chrometrace.Recorder
}

// Consume implements trace.Consumer.
func (b *beside) Consume(r trace.Record) error {
	if b.failed == nil {
		b.failed = b.decisions.Consume(r)
	}
	return b.chrome.Consume(r)
}

// end writes the trace and ends the file: see output.end.
func (c *chromeTrace) end(result *actors.Result, kept *[]string) error {
	if c == nil {
		return nil
	}
	end := chrometrace.End{At: result.End, Partial: result.Partial, Instances: result.Names.Instances,
		Tenants: result.Names.Tenants, Classes: result.Names.Classes, Models: result.Names.Models}
	write := func(to io.Writer) error {
		async := newAsyncWriter(to)
		err := c.recorder.Write(async, end)
		return firstOf(async.close(), err)
	}
	var err error
	if zips(c.file.to.path) {
		err = writeZipped(c.file, write)
	} else {
		err = write(c.file)
	}
	return c.file.end(err, !result.Partial, kept, (*output).finishWhole)
}

// discard leaves the file as it was.
func (c *chromeTrace) discard() {
	if c != nil {
		c.file.discard()
	}
}

// missing notes instances that were asked for and that the run has not.
func (c *chromeTrace) missing(to *console, instances int) {
	if c != nil && c.last >= instances {
		to.note("warning: --chrome-trace-instances names instance %d, and the run has 0 to %d", c.last, instances-1)
	}
}
