package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"blis/report"
	"blis/report/plaintext"
	"blis/trace"
)

// traceCmd is blis trace.
type traceCmd struct {
	Summarize summarizeCmd `cmd:"" help:"Summarize a stored decision trace, as the run that wrote it does."`
}

// summarizeCmd is blis trace summarize.
type summarizeCmd struct {
	File          string `arg:"" name:"file" type:"path" help:"Decision trace of blis run --trace-out, JSON Lines or msgpack, gzip too; - is standard input."`
	Strategy      string `default:"issue-focused" placeholder:"STRATEGY" group:"Output" help:"What the text says first: issue-focused, decision-audit, counterfactual or pattern."`
	SummaryTokens int    `default:"1000" group:"Output" help:"Longest text of the summary, in tokens of four characters."`
	Format        string `default:"text" enum:"text,json" group:"Output" help:"Form of the result on standard output: text or json."`
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
	found, err := summary.Report(strategy, s.SummaryTokens)
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
		return nil, &inputError{err.Error()}
	}
	bar := c.show("records")
	defer bar.done()
	summary, err := trace.Summarize(r, trace.SummaryOptions{}, func(records int64) error {
		bar.set(records, -1)
		return ctx.Err()
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		err = &inputError{err.Error()}
	}
	return summary, err
}

func checkSummaryTokens(n int) error {
	if n < trace.LeastSummaryTokens {
		return &inputError{fmt.Sprintf("--summary-tokens is %d: want at least %d", n, trace.LeastSummaryTokens)}
	}
	return nil
}
