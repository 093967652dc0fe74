package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"blis/actors"
	"blis/report"
	"blis/study"
	"blis/suggest"
	"blis/trace"
)

// traceFlags are the flags of run about its decision trace.
type traceFlags struct {
	TraceLevel      string `placeholder:"LEVEL" group:"Decision trace" help:"What is traced: none, decisions (admission, priority, routing, scaling, outcomes) or detailed (steps, preemptions, anomalies and what decisions saw too). Not given: decisions with --trace-out or --summarize-trace, else none. Alone it adds a decision-audit to the result."`
	TraceOut        string `type:"path" placeholder:"FILE" group:"Decision trace" help:"Write the decision trace while the run goes on, as FILE.jsonl or FILE.msgpack."`
	CounterfactualK *int   `placeholder:"K" group:"Decision trace" help:"Best instances that each routing decision lists, with scores and regret; 0: none. The run then looks at all loads at each decision. Not given: 3 with a trace."`
	SummarizeTrace  string `placeholder:"STRATEGY" group:"Decision trace" help:"Add a summary of the trace to the result: issue-focused (also without a value), decision-audit, counterfactual or pattern says what comes first."`
	ReplayRegret    int    `default:"0" placeholder:"N" group:"Decision trace" help:"Run again for each of the N routing decisions with the largest regret, with the best instance in place of the chosen one, and say what that does to TTFT."`
	SummaryTokens   int    `default:"1000" group:"Decision trace" help:"Longest text of the summary, in tokens of four characters."`
}

// decisions is where the decision trace of a run goes.
type decisions struct {
	tracing  actors.Tracing
	file     *output // nil: no file
	to       *asyncWriter
	writer   *trace.Writer
	summary  *trace.Summary // nil: none
	regrets  *study.Regrets // nil: none
	strategy trace.Strategy
	tokens   int
}

// open checks the flags and opens the file.
func (f *traceFlags) open(ctx context.Context) (*decisions, error) {
	d := &decisions{tokens: f.SummaryTokens}
	level, err := f.level()
	if err != nil {
		return nil, err
	}
	d.tracing = actors.Tracing{Level: level, Counterfactual: f.counterfactual(level)}
	if name := f.summary(level); name != "" {
		if d.strategy, err = strategyOf("--summarize-trace", name); err != nil {
			return nil, err
		}
		if err := checkSummaryTokens(f.SummaryTokens); err != nil {
			return nil, err
		}
		d.summary = trace.NewSummary(trace.SummaryOptions{})
	}
	if f.ReplayRegret > 0 {
		d.regrets = study.NewRegrets(f.ReplayRegret)
		d.tracing.Counterfactual = max(1, d.tracing.Counterfactual)
	}
	if f.TraceOut != "" {
		form, err := trace.FormOf(f.TraceOut)
		if err != nil {
			return nil, &inputError{"--trace-out: " + err.Error()}
		}
		if d.file, err = create(ctx, "trace-out", f.TraceOut); err != nil {
			return nil, err
		}
		d.to = newAsyncWriter(d.file.to)
		d.writer = trace.NewWriter(d.to, form)
	}
	d.tracing.Consumer = d.consumer()
	return d, nil
}

// usualCounterfactual is how many instances a routing decision lists in a trace.
const usualCounterfactual = 3

// counterfactual is how many instances each routing decision lists.
func (f *traceFlags) counterfactual(level trace.Level) int {
	switch {
	case f.CounterfactualK != nil:
		return *f.CounterfactualK
	case level == trace.None:
		return 0
	}
	return usualCounterfactual
}

// summary is the strategy of the summary, empty if there is none. A level that
// nothing else reads is summed up.
func (f *traceFlags) summary(level trace.Level) string {
	if f.SummarizeTrace == "" && level != trace.None && f.TraceOut == "" && f.ReplayRegret == 0 {
		return string(trace.SummaryAudit)
	}
	return f.SummarizeTrace
}

// summarizeBare gives --summarize-trace its usual strategy where no value
// follows it.
func summarizeBare(args []string) []string {
	const flag = "--summarize-trace"
	if len(args) == 0 || args[0] != "run" {
		return args
	}
	for i, arg := range args {
		switch {
		case arg == "--":
			return args
		case arg == flag && (i+1 == len(args) || strings.HasPrefix(args[i+1], "-")):
			args = slices.Clone(args)
			args[i] = flag + "=" + string(trace.SummaryIssues)
			return args
		}
	}
	return args
}

// level returns the level of the trace, or the error of the flags together.
func (f *traceFlags) level() (trace.Level, error) {
	used := f.TraceOut != "" || f.SummarizeTrace != "" || f.ReplayRegret > 0
	level := trace.None
	switch f.TraceLevel {
	case "":
		if used {
			level = trace.Decisions
		}
	default:
		var err error
		if level, err = trace.ParseLevel(f.TraceLevel); err != nil {
			return level, &inputError{"--trace-level: " + err.Error()}
		}
	}
	switch {
	case used && level == trace.None:
		return level, &inputError{"--trace-level is none: want decisions or detailed with --trace-out, --summarize-trace or --replay-regret"}
	case f.ReplayRegret < 0 || f.ReplayRegret > mostReplays:
		return level, &inputError{fmt.Sprintf("--replay-regret is %d: want 0 (off) to %d", f.ReplayRegret, mostReplays)}
	case f.counterfactual(level) < 0:
		return level, &inputError{fmt.Sprintf("--counterfactual-k is %d: want 0 (off) or more", *f.CounterfactualK)}
	case f.SummaryTokens != trace.DefaultSummaryTokens && f.summary(level) == "":
		return level, &inputError{fmt.Sprintf("--summary-tokens is %d without a summary: want --summarize-trace STRATEGY with it", f.SummaryTokens)}
	case f.counterfactual(level) > 0 && level == trace.None:
		return level, &inputError{fmt.Sprintf("--counterfactual-k is %d without a trace: want --trace-level decisions, --trace-out FILE, --summarize-trace or --replay-regret N with it", *f.CounterfactualK)}
	}
	return level, nil
}

// strategyOf is the strategy of that name, which a flag gives.
func strategyOf(flag, name string) (trace.Strategy, error) {
	s, err := trace.ParseStrategy(name)
	if err != nil {
		var names []string
		for _, s := range trace.Strategies() {
			names = append(names, string(s))
		}
		return s, &inputError{fmt.Sprintf("%s: %v%s", flag, err, suggest.Hint(name, names))}
	}
	return s, nil
}

// consumer returns the consumer of the records, nil if there is none.
func (d *decisions) consumer() trace.Consumer {
	var all []trace.Consumer
	if d.writer != nil {
		all = append(all, d.writer)
	}
	if d.summary != nil {
		all = append(all, d.summary)
	}
	if d.regrets != nil {
		all = append(all, d.regrets)
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return trace.Tee(all...)
}

// find adds to a result what was asked for of its decisions. A run that was
// interrupted is not replayed.
func (d *decisions) find(ctx context.Context, c *console, cfg actors.Config, result *report.Run) (err error) {
	if d.summary != nil {
		if result.Summary, err = d.summary.Report(d.strategy, d.tokens); err != nil {
			return err
		}
	}
	if d.regrets != nil && !result.Partial {
		result.Replay, err = replay(ctx, c, d.regrets, cfg, result.Result)
	}
	return err
}

// end writes what is left and ends the file: see output.end.
func (d *decisions) end(whole bool, kept *[]string) error {
	if d == nil || d.file == nil {
		return nil
	}
	flushed, written := d.writer.Flush(), d.to.close()
	return d.file.end(firstOf(written, flushed), whole, kept, (*output).finish)
}

// discard leaves the file as it was.
func (d *decisions) discard() {
	if d != nil && d.file != nil {
		d.to.close()
		d.file.discard()
	}
}

// asyncWriter writes on a goroutine of its own, so that a run does not wait for
// the system. Write takes the piece and gives back a spare one (free).
type asyncWriter struct {
	free, full chan []byte
	failed     chan error // the first error, when all is written
	stop       chan struct{}
}

// pieces is the number of pieces that may wait to be written.
const pieces = 4

// newAsyncWriter starts to write to w.
func newAsyncWriter(w io.Writer) *asyncWriter {
	b := &asyncWriter{make(chan []byte, pieces), make(chan []byte, pieces), make(chan error, 1), make(chan struct{})}
	for range pieces {
		b.free <- nil
	}
	go func() {
		var first error
		for piece := range b.full {
			if first == nil {
				if _, first = w.Write(piece); first != nil {
					close(b.stop)
				}
			}
			b.free <- piece
		}
		b.failed <- first
	}()
	return b
}

// errStopped says that an earlier piece could not be written; close says why.
var errStopped = errors.New("writing has failed")

// Write implements io.Writer. An error shows with a later piece.
func (b *asyncWriter) Write(p []byte) (int, error) {
	select {
	case <-b.stop:
		return 0, errStopped
	default:
	}
	b.full <- append((<-b.free)[:0], p...)
	return len(p), nil
}

// close waits until all is written and returns the first error.
func (b *asyncWriter) close() error {
	close(b.full)
	return <-b.failed
}

// mostReplays is how many runs --replay-regret can ask for.
const mostReplays = 10_000

// replay runs the worst decisions the other way.
func replay(ctx context.Context, c *console, regrets *study.Regrets, cfg actors.Config, result *actors.Result) (*study.RegretReplay, error) {
	pool := study.Pool{Workers: cfg.Workers}
	bar := c.runs(&pool)
	defer bar.done()
	var mean *float64
	if s := result.Report.Overall.TTFT; s != nil {
		mean = &s.Mean
	}
	return regrets.Replay(ctx, cfg, mean, pool)
}
