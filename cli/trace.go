package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"blis/actors"
	"blis/report"
	"blis/report/plaintext"
	"blis/study"
	"blis/suggest"
	"blis/trace"
)

// traceFlags are the flags of run about its decision trace.
type traceFlags struct {
	Details         bool     `group:"Output" help:"Add to JSON results the distributions of latencies, and the 200 requests with the largest TTFT with the routing decisions about them, which are traced for it."`
	TraceLevel      string   `placeholder:"LEVEL" group:"Decision trace" help:"What is traced: none, decisions (admission, priority, routing, scaling, outcomes) or detailed (steps, preemptions, anomalies and what decisions saw too). Not given: decisions with --trace-out or --summarize-trace, else none. Alone it adds a decision-audit to the result."`
	TraceOut        string   `type:"path" placeholder:"FILE" group:"Decision trace" help:"Write the decision trace while the run goes on, as FILE.jsonl or FILE.msgpack."`
	CounterfactualK *int     `placeholder:"K" group:"Decision trace" help:"Best instances that each routing decision lists, with scores and regret; 0: none. The run then looks at all loads at each decision. Not given: 3 with a trace."`
	SummarizeTrace  string   `placeholder:"STRATEGY" group:"Decision trace" help:"Add a summary of the trace to the result: issue-focused (also without a value), decision-audit, counterfactual or pattern says what comes first."`
	ReplayRegret    int      `default:"0" placeholder:"N" group:"Decision trace" help:"Run again for each of the N routing decisions with the largest regret, with the best instance in place of the chosen one, and say what that does to TTFT."`
	SummaryFocus    []string `placeholder:"AREA,…" group:"Decision trace" help:"What the text of the summary is about, in place of what its strategy puts first: admission, routing, prefix-cache, tenants, tails, time, scale."`
	SummaryTokens   int      `default:"1000" group:"Decision trace" help:"Longest text of the summary, in tokens of four characters."`
}

// decisions is where the decision trace of a run goes.
type decisions struct {
	tracing  actors.Tracing
	file     *output // nil: no file
	to       *asyncWriter
	writer   *trace.Writer
	summary  *trace.Summary // nil: none
	regrets  *study.Regrets // nil: none
	worst    *trace.Worst   // nil: none
	strategy trace.Strategy
	tokens   int
	focus    []trace.Area
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
		if d.focus, err = areasOf(f.SummaryFocus); err != nil {
			return nil, err
		}
		d.summary = trace.NewSummary(trace.SummaryOptions{})
	}
	if f.ReplayRegret > 0 {
		d.regrets = study.NewRegrets(f.ReplayRegret)
		d.tracing.Counterfactual = max(1, d.tracing.Counterfactual)
	}
	if f.Details {
		d.worst = trace.NewWorst(worstRequests)
	}
	if f.TraceOut != "" {
		form, err := trace.FormOf(f.TraceOut)
		if err != nil {
			return nil, inputError("--trace-out: " + err.Error())
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

// worstRequests is how many requests --details lists.
const worstRequests = 200

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
	if f.SummarizeTrace == "" && level != trace.None && f.TraceOut == "" && f.ReplayRegret == 0 && !f.Details {
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
	used := f.TraceOut != "" || f.SummarizeTrace != "" || f.ReplayRegret > 0 || f.Details
	level := trace.None
	switch f.TraceLevel {
	case "":
		if used {
			level = trace.Decisions
		}
	default:
		var err error
		if level, err = trace.ParseLevel(f.TraceLevel); err != nil {
			return level, inputError("--trace-level: " + err.Error())
		}
	}
	switch {
	case used && level == trace.None:
		return level, inputError("--trace-level is none: want decisions or detailed with --trace-out, --summarize-trace, --replay-regret or --details")
	case f.ReplayRegret < 0 || f.ReplayRegret > mostReplays:
		return level, inputErrorf("--replay-regret is %d: want 0 (off) to %d", f.ReplayRegret, mostReplays)
	case f.counterfactual(level) < 0:
		return level, inputErrorf("--counterfactual-k is %d: want 0 (off) or more", *f.CounterfactualK)
	case f.SummaryTokens != trace.DefaultSummaryTokens && f.summary(level) == "":
		return level, inputErrorf("--summary-tokens is %d without a summary: want --summarize-trace STRATEGY with it", f.SummaryTokens)
	case f.SummaryFocus != nil && f.summary(level) == "":
		return level, inputErrorf("--summary-focus is %s without a summary: want --summarize-trace STRATEGY with it", strings.Join(f.SummaryFocus, ","))
	case f.counterfactual(level) > 0 && level == trace.None:
		return level, inputErrorf("--counterfactual-k is %d without a trace: want --trace-level decisions, --trace-out FILE, --summarize-trace or --replay-regret N with it", *f.CounterfactualK)
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
		return s, inputErrorf("%s: %v%s", flag, err, suggest.Hint(name, names))
	}
	return s, nil
}

// areasOf are the areas of --summary-focus.
func areasOf(names []string) ([]trace.Area, error) {
	list, err := trace.ParseAreas(names)
	if err != nil {
		return nil, inputError("--summary-focus: " + err.Error())
	}
	return list, nil
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
	if d.worst != nil {
		all = append(all, d.worst)
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
		if result.Summary, err = d.summary.Report(d.strategy, d.tokens, d.focus...); err != nil {
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

// traceCmd is blis trace.
type traceCmd struct {
	Summarize summarizeCmd `cmd:"" help:"Summarize a stored decision trace, as the run that wrote it does."`
}

// summarizeCmd is blis trace summarize.
type summarizeCmd struct {
	File          string   `arg:"" name:"file" type:"path" help:"Decision trace of blis run --trace-out, JSON Lines or msgpack, gzip too; - is standard input."`
	Strategy      string   `default:"issue-focused" placeholder:"STRATEGY" group:"Output" help:"What the text says first: issue-focused, decision-audit, counterfactual or pattern."`
	SummaryFocus  []string `placeholder:"AREA,…" group:"Output" help:"What the text is about, in place of what the strategy puts first: admission, routing, prefix-cache, tenants, tails, time, scale."`
	SummaryTokens int      `default:"1000" group:"Output" help:"Longest text of the summary, in tokens of four characters."`
	Format        string   `default:"text" enum:"text,json" group:"Output" help:"Form of the result on standard output: text or json."`
}

// Help is what blis trace summarize does, with examples.
func (*summarizeCmd) Help() string {
	return `Prints what blis run --summarize-trace STRATEGY prints below the result of the run that wrote the trace; with --format json what it has under the key trace_summary. The trace is read once, and memory does not grow with it. docs/traces.md says what each number is.

A trace holds the decisions of a run and what came of them. It does not hold the configuration, latencies of single tokens, and at --trace-level decisions no steps, preemptions and anomalies: of these the summary has what outcomes say. A run can be repeated with other decisions (--replay-regret), a stored trace cannot.

Examples:

    blis trace summarize trace.jsonl
    blis trace summarize t.msgpack --strategy pattern --summary-tokens 3000
    zcat trace.jsonl.gz | blis trace summarize - --format json`
}

// Run carries the command out.
func (s *summarizeCmd) Run(ctx context.Context, c *console) error {
	strategy, err := strategyOf("--strategy", s.Strategy)
	if err != nil {
		return err
	}
	if err := checkSummaryTokens(s.SummaryTokens); err != nil {
		return err
	}
	focus, err := areasOf(s.SummaryFocus)
	if err != nil {
		return err
	}
	file, name := os.Stdin, "standard input"
	if s.File != "-" {
		if file, err = os.Open(s.File); err != nil {
			return err
		}
		defer file.Close()
		name = s.File
	}
	summary, err := c.summarize(ctx, file, name)
	if err != nil {
		return err
	}
	found, err := summary.Report(strategy, s.SummaryTokens, focus...)
	if err != nil {
		return err
	}
	if n := found.Outcomes.WithoutOutcome; n > 0 {
		c.note("%s: %s no outcome: the run was interrupted, or the file is not whole", name, has(n))
	}
	return c.print(&report.TraceSummary{Report: found}, s.Format)
}

// has is the beginning of a sentence about n requests.
func has(n int64) string {
	if n == 1 {
		return "1 request has"
	}
	return plaintext.Grouped(n) + " requests have"
}

// summarize reads a trace to its end.
func (c *console) summarize(ctx context.Context, from io.Reader, name string) (*trace.Summary, error) {
	r, err := trace.Open(from, name)
	if err != nil {
		return nil, inputError(err.Error())
	}
	bar := c.show("records")
	defer bar.done()
	summary, err := trace.Summarize(r, trace.SummaryOptions{}, func(records int64) error {
		bar.set(records, -1)
		return ctx.Err()
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		err = inputError(err.Error())
	}
	return summary, err
}

func checkSummaryTokens(n int) error {
	if n < trace.LeastSummaryTokens {
		return inputErrorf("--summary-tokens is %d: want at least %d", n, trace.LeastSummaryTokens)
	}
	return nil
}
