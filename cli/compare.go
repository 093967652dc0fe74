package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"blis/report"
	"blis/setup"
	"blis/study"
)

// compareCmd is blis compare.
type compareCmd struct {
	Arguments []string `arg:"" name:"bundle" help:"Bundle file, or the name of a routing policy for a bundle of it alone. The first is the baseline."`
	settings

	Seeds      int      `default:"10" group:"Comparison" help:"Runs of each bundle, with seeds from --seed on, where intervals come from seeds."`
	Intervals  string   `default:"auto" enum:"auto,seeds,bootstrap" group:"Comparison" help:"Where confidence intervals come from: seeds; bootstrap, one run of each bundle whose windows of time are resampled; auto, the bootstrap for a trace, else seeds."`
	Margin     float64  `default:"0.01" group:"Comparison" help:"Smallest relative difference that matters."`
	Objectives []string `group:"Comparison" placeholder:"NAME,…" help:"Measures over which bundles are ranked; not given: those of --fitness-weights, else throughput (goodput with --slo-targets), p99_ttft, mean_tpot, and cost or replica_hours where they differ."`
	Measures   []string `group:"Comparison" placeholder:"NAME,…" help:"Measures that the text has, or all; JSON always has all."`

	Format      string `default:"text" enum:"text,json,markdown,csv,latex" group:"Output" help:"Form of the result on standard output: text, json, markdown, csv or latex."`
	ResultsPath string `type:"path" placeholder:"FILE" group:"Output" help:"Write the result as JSON."`
	Report      string `type:"path" placeholder:"FILE" group:"Output" help:"Write a page of the result as HTML; as FILE.md or FILE.csv its tables alone."`

	bundles []study.Bundle // of Arguments
}

// Help is what blis compare does, with examples.
func (*compareCmd) Help() string {
	return `Runs every bundle under the same requests, with several seeds, and compares all with the first: means with 95 % confidence intervals, differences seed by seed, and a verdict per measure. Under a trace each bundle runs once, and windows of its time are resampled. Each column is what blis run --policy-config BUNDLE gives with the same flags; --workers is how many runs go on at a time. A bundle that cannot run has an error in place of a result, the others run, and the exit code is 1. docs/studies.md has the method.

Examples:

    blis compare round-robin least-loaded weighted
    blis compare today.yaml tomorrow.yaml --trace requests.csv
    blis compare a.yaml b.yaml --seeds 30 --objectives goodput,cost`
}

// Run carries the command out.
func (r *compareCmd) Run(ctx context.Context, c *console) error {
	c.warnOfVariables()
	rows, err := r.rows()
	if err != nil {
		return err
	}
	r.Config.Open = new(pipes).open
	if err := r.warmUp(ctx, c); err != nil {
		return err
	}
	comparison := study.NewComparison(r.Config, r.bundles...)
	comparison.Replicates, comparison.Margin, comparison.Objectives = r.Seeds, r.Margin, r.Objectives
	comparison.Pool.Workers = r.Workers
	if r.Intervals != "auto" {
		comparison.Intervals = study.Method(r.Intervals)
	}
	bar := c.runs(&comparison.Pool)
	defer bar.done()
	c.warnOfSize(&r.Config)
	plan, err := study.NewPlan(comparison)
	if err != nil {
		return err
	}
	if r.Print {
		return printConfigs(c.out, plan)
	}
	if err := checkDistinct([]named{{"--results-path", r.ResultsPath}, {"--report", r.Report}}, append(r.read(), r.bundleFiles()...)); err != nil {
		return err
	}
	file, err := create(ctx, "results-path", r.ResultsPath)
	if err != nil {
		return err
	}
	page, err := create(ctx, "report", r.Report)
	if err != nil {
		file.discard()
		return err
	}
	c.begun.Store(true)
	result, err := plan.Run(ctx)
	bar.done()
	if result == nil {
		file.discard()
		page.discard()
		return err
	}
	var kept []string
	compared := &report.Comparison{Result: result, Rows: rows}
	failed := errors.Join(r.print(c, compared), save(file, compared, err == nil, &kept), savePage(page, compared, r.command(), err == nil, &kept))
	c.noteKept(kept)
	return firstOf(failed, err, failedBundles(result.Bundles))
}

// command are the words that repeat the comparison.
func (r *compareCmd) command() []string {
	words := append([]string{"blis", "compare"}, r.Arguments...)
	words = append(words, setup.Flags(&r.Config.Config)...)
	words = append(words, fmt.Sprintf("--seeds=%d", r.Seeds), "--intervals="+r.Intervals, fmt.Sprintf("--margin=%v", r.Margin))
	if len(r.Objectives) > 0 {
		words = append(words, "--objectives="+strings.Join(r.Objectives, ","))
	}
	return words
}

// failedBundles is the error of a comparison of which some bundles have no
// result. Each of them says why in the result.
func failedBundles(bundles []study.Compared) error {
	var names []string
	for i := range bundles {
		if bundles[i].Err != nil {
			names = append(names, bundles[i].Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d bundles have no result: %s", len(names), len(bundles), strings.Join(names, ", "))
}

// rows are the measures that the text has, nil for the usual ones.
func (r *compareCmd) rows() ([]study.Measure, error) {
	switch {
	case r.Measures == nil:
		return nil, nil
	case len(r.Measures) == 1 && r.Measures[0] == "all":
		return study.Measures(), nil
	}
	return study.SelectMeasures("--measures", r.Measures)
}

// print writes the result to standard output.
func (r *compareCmd) print(c *console, compared *report.Comparison) error {
	switch r.Format {
	case "markdown":
		return compared.Markdown(c.out)
	case "csv":
		return compared.CSV(c.out)
	case "latex":
		return compared.LaTeX(c.out)
	}
	return c.print(compared, r.Format)
}

// save writes the result to the file of --results-path: see output.end.
func save(file *output, compared *report.Comparison, whole bool, kept *[]string) error {
	if file == nil {
		return nil
	}
	return file.end(compared.JSON(file.Writer), whole, kept, (*output).finishWhole)
}

// printConfigs prints the effective configuration of every bundle, each a
// document of its own.
func printConfigs(w io.Writer, plan *study.Plan) error {
	for i, b := range plan.Bundles() {
		if i > 0 {
			fmt.Fprintln(w, "---")
		}
		fmt.Fprintf(w, "# %s\n", b.Name)
		if b.Err != nil {
			fmt.Fprintf(w, "# %s\n", errorLine(b.Err))
			continue
		}
		if err := writeConfig(w, &b.Config); err != nil {
			return err
		}
	}
	return failedBundles(plan.Bundles())
}
