package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"blis/actors"
	"blis/report"
	"blis/workload/survey"
	"blis/workload/traces"
)

// workloadCmd is blis workload.
type workloadCmd struct {
	Show      showCmd      `cmd:"" help:"Say what a workload yields: rates, lengths, shares, reuse of prompts."`
	Export    exportCmd    `cmd:"" help:"Write a workload as a trace of our own format."`
	Convert   convertCmd   `cmd:"" help:"Write any trace as one of our own format."`
	Scenarios scenariosCmd `cmd:"" help:"List the built-in scenarios, or print the specification of one."`
}

// subject is the workload that a command is about: the workload of a run with the same
// flags, from wherever they come, or a file.
type subject struct {
	Argument string `arg:"" optional:"" name:"file" type:"path" help:"Specification or trace, as with --workload-spec or --trace; without it the flags say what arrives."`
	settings
}

// applyPolicies makes the bundle as run does, and opens the argument.
func (s *subject) applyPolicies(command *kong.Context, l *settingSources) error {
	if s.Argument == "" {
		return s.settings.applyPolicies(command, l)
	}
	for _, p := range command.Path {
		if p.Flag != nil && l.origin(p) == fromFlag && slices.Contains([]string{"trace", "workload-spec", "scenario", "concurrency", "workload"}, p.Flag.Name) {
			return &inputError{fmt.Sprintf("%s and --%s %v are both workloads: want one of them", s.Argument, p.Flag.Name, p.Flag.Target.Interface())}
		}
	}
	s.Trace, s.WorkloadSpec, s.Scenario, s.WorkloadKind, s.Concurrency = "", "", "", "", 0
	s.takeFile(s.Argument)
	return s.settings.applyPolicies(command, l)
}

// takeFile makes a file the workload: a specification if it is YAML, but for the
// header of a trace; else a trace.
func (s *subject) takeFile(path string) {
	yaml := strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")
	if yaml && !traces.IsHeaderFile(path) {
		s.WorkloadSpec = path
		return
	}
	s.Trace = path
}

// showCmd is blis workload show.
type showCmd struct {
	subject
	Format string `default:"text" enum:"text,json" group:"Output" help:"Form of the result on standard output: text or json."`
}

// Help is what blis workload show does, with examples.
func (*showCmd) Help() string {
	return `Takes the requests that blis run would take with the same flags and says what they are, without running anything. The ideal prefix hit is what an infinite cache would find that serves requests one after the other, in blocks of --block-size-in-tokens.

Examples:

    blis workload show --arrival gamma --cv 3 --rate 20 --prefix-tokens 500
    blis workload show requests.csv
    blis workload show --scenario diurnal-cycle
    blis workload show examples/workloads/chat.yaml
    blis workload show trace.jsonl --trace-limit 10000 --format json`
}

// Run carries the command out.
func (s *showCmd) Run(ctx context.Context, c *console) error {
	c.warnOfVariables()
	if s.Print {
		return s.printConfig(c.out)
	}
	source, cfg, setup, err := actors.Workload(s.Config)
	if err != nil {
		return err
	}
	c.begun.Store(true)
	bar, watch := c.watch(ctx, totalOf(&cfg, &setup))
	result, err := survey.Take(source, survey.Options{BlockSize: cfg.BlockSizeInTokens, Watch: watch})
	bar.done()
	if result == nil {
		return err
	}
	return firstOf(c.print(report.NewSurvey(result, &cfg, &setup, err != nil), s.Format), err)
}

// watch makes a function that a pass over requests calls now and then: it shows
// how far the pass has come, and ends it when ctx does.
func (c *console) watch(ctx context.Context, total int64) (*progress, func(requests int64) error) {
	p := c.show("requests")
	return p, func(requests int64) error {
		p.set(requests, total)
		return ctx.Err()
	}
}
