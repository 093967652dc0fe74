package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"blis/actors"
	"blis/report"
	"blis/report/plaintext"
	"blis/setup"
	"blis/vtime"
	"blis/workload"
	"blis/workload/spec"
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
		if p.Flag != nil && l.origin(p) == setup.FromFlag && slices.Contains([]string{"trace", "workload-spec", "scenario", "concurrency", "workload"}, p.Flag.Name) {
			return inputErrorf("%s and --%s %v are both workloads: want one of them", s.Argument, p.Flag.Name, p.Flag.Target.Interface())
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

// scenariosCmd is blis workload scenarios.
type scenariosCmd struct {
	Name string `arg:"" optional:"" help:"A scenario, whose specification is printed; all are listed if not given."`
	form
}

// Help is what blis workload scenarios does, with examples.
func (*scenariosCmd) Help() string {
	return `Lists the built-in scenarios. Each is a specification like one of your own; printed into a file it is where to begin.

Examples:

    blis workload scenarios
    blis workload scenarios mixed-slo > mine.yaml
    blis run --workload-spec mine.yaml
    blis run --scenario bursty-traffic`
}

type scenarioItem struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// Run carries the command out.
func (s *scenariosCmd) Run(c *console) error {
	if s.Name != "" {
		if _, err := spec.OpenScenario(s.Name); err != nil {
			return inputError(err.Error())
		}
		_, err := c.out.Write(spec.ScenarioText(s.Name))
		return err
	}
	items := []scenarioItem{}
	for _, one := range spec.Scenarios() {
		items = append(items, scenarioItem(one))
	}
	return s.list(c, items, func(w io.Writer) {
		for _, i := range items {
			fmt.Fprintf(w, "%s\t%s\n", i.Name, i.About)
		}
	})
}

// exportCmd is blis workload export.
type exportCmd struct {
	subject
	Out string `required:"" type:"path" placeholder:"FILE" group:"Output" help:"File to write, FILE.csv or FILE.csv.gz."`
}

// Help is what blis workload export does, with examples.
func (*exportCmd) Help() string {
	return `Writes the requests that blis run would take with the same flags as a trace of our own format, which blis run --trace reads. docs/formats.md has the columns.

Examples:

    blis workload export --rate 20 --num-requests 100000 --out requests.csv.gz
    blis workload export --config run.yaml --out requests.csv
    blis run --trace requests.csv`
}

// Run carries the command out.
func (e *exportCmd) Run(ctx context.Context, c *console) error {
	c.warnOfVariables()
	if e.Print {
		return e.printConfig(c.out)
	}
	return c.export(ctx, e.Config, named{"--out", e.Out}, e.read())
}

// convertCmd is blis workload convert.
type convertCmd struct {
	In  string `arg:"" name:"in" type:"path" help:"Trace of any format, gzip too."`
	Out string `arg:"" name:"out" type:"path" help:"File to write, FILE.csv or FILE.csv.gz."`
	traceReading
}

// traceReading is the flags that say how a trace is read: a part of the flags
// of run.
type traceReading struct {
	TraceFormat    string         `json:"trace-format" group:"Workload" help:"blis, azure, mooncake, burstgpt, tokens, inference-sim, vidur, lengths, vllm-bench, guidellm, aiperf, genai-perf, inference-perf, otlp or servegen; empty: by content."`
	TraceIgnore    string         `json:"trace-ignore-columns" name:"trace-ignore-columns" group:"Workload" help:"Columns of a CSV trace to leave out, a,b."`
	TraceBlockSize int32          `json:"trace-block-size" default:"512" group:"Workload" help:"Tokens per hash id of a Mooncake trace."`
	TraceSpeedup   float64        `json:"trace-speedup" default:"1" group:"Workload" help:"Factor on the arrival rate of a trace."`
	TraceLimit     int64          `json:"trace-limit" group:"Workload" help:"Replay at most this many requests; 0: all."`
	TraceOffset    int64          `json:"trace-offset" group:"Workload" help:"Skip this many requests."`
	SpreadTies     bool           `json:"spread-ties" group:"Workload" help:"Move requests with equal coarse timestamps apart."`
	SkipBadRows    bool           `json:"skip-bad-rows" group:"Workload" help:"Leave out bad rows of a trace and count them."`
	Rate           float64        `json:"rate" group:"Workload" help:"Mean arrivals per second over the cluster; 0: 80 % of the capacity that the latency model gives, or what the specification or the trace says. A trace is stretched or squeezed to it."`
	Arrival        string         `json:"arrival" default:"poisson" enum:"poisson,constant,gamma,weibull" group:"Workload" help:"Arrival process."`
	CV             float64        `json:"cv" group:"Workload" help:"Coefficient of variation of the gaps, for gamma and weibull."`
	Seed           uint64         `json:"seed" default:"42" group:"Run" help:"Seed of everything random."`
	Timeout        vtime.Duration `json:"timeout" type:"timeout" default:"0" group:"Workload" help:"Requests give up this long after arrival, like 300s; 0 or negative: never. A number without a unit is refused."`
}

// config is the configuration of a run of the trace.
func (r *traceReading) config(trace string) actors.Config {
	cfg := actors.DefaultConfig()
	cfg.Trace = trace
	from, to := reflect.ValueOf(r).Elem(), reflect.ValueOf(&cfg).Elem()
	for i := range from.NumField() {
		to.FieldByName(from.Type().Field(i).Name).Set(from.Field(i))
	}
	return cfg
}

// Help is what blis workload convert does, with examples.
func (*convertCmd) Help() string {
	return `Reads a trace as blis run --trace does with the same flags and writes it as a trace of our own format, in order of arrival.

Examples:

    blis workload convert AzureLLMInferenceTrace_conv.csv azure.csv.gz
    blis workload convert trace.jsonl part.csv --trace-offset 1000`
}

// Run carries the command out.
func (v *convertCmd) Run(ctx context.Context, c *console) error {
	c.warnOfVariables()
	return c.export(ctx, v.config(v.In), named{"OUT", v.Out}, []named{{"IN", v.In}})
}

// export writes the workload of a configuration as a trace. A file that does
// not become whole is removed: nothing in it would tell.
func (c *console) export(ctx context.Context, cfg actors.Config, out named, read []named) error {
	zipped := strings.HasSuffix(strings.ToLower(out.path), ".csv.gz")
	if !zipped && !strings.HasSuffix(strings.ToLower(out.path), ".csv") {
		return inputErrorf("%s: %s: want a name that ends in .csv or .csv.gz", out.by, out.path)
	}
	if err := checkDistinct([]named{out}, read); err != nil {
		return err
	}
	source, effective, setup, err := actors.Workload(cfg)
	if err != nil {
		return err
	}
	file, err := createBy(ctx, out)
	if err != nil {
		return err
	}
	c.begun.Store(true)
	bar, watch := c.watch(ctx, totalOf(&effective, &setup))
	w := &watchedSource{Source: source, watch: watch}
	failed := writeTrace(file.Writer, zipped, w)
	bar.done()
	var disk *fs.PathError
	switch {
	case w.err != nil:
		file.discard()
		return w.err
	case failed != nil && !errors.As(failed, &disk): // what the trace cannot say
		file.discard()
		return inputError(failed.Error())
	}
	if err := file.finishWhole(failed); err != nil {
		return err
	}
	for _, note := range setup.Notes {
		c.note("note: %s", note)
	}
	c.note("%s requests written to %s: %s", plaintext.Grouped(w.requests), out.path, setup.Workload)
	return nil
}

// writeTrace pulls a source empty and writes it.
func writeTrace(w *bufio.Writer, zipped bool, source workload.Source) error {
	if !zipped {
		return traces.Write(w, source)
	}
	return writeZipped(w, func(to io.Writer) error { return traces.Write(to, source) })
}

// watchedSource calls watch every few thousand requests and keeps the error of
// its source.
type watchedSource struct {
	workload.Source
	watch    func(requests int64) error
	requests int64
	err      error
}

// Pull implements workload.Source.
func (w *watchedSource) Pull(r *workload.Request) (bool, error) {
	const between = 1 << 12
	if w.requests%between == 0 {
		if w.err = w.watch(w.requests); w.err != nil {
			return false, w.err
		}
	}
	var more bool
	if more, w.err = w.Source.Pull(r); more {
		w.requests++
	}
	return more, w.err
}
