package cli

import (
	"context"
	"errors"

	"blis/calibrate"
	"blis/latency"
	"blis/report"
	"blis/setup"
)

// validateCmd is blis validate.
type validateCmd struct {
	Measured     []string `arg:"" optional:"" help:"Measured runs: a folder with runs.csv and requests/, one requests file, a folder with meta.json and requests.jsonl, or what a load generator wrote (vllm bench serve --save-detailed, GuideLLM, AIPerf, genai-perf, inference-perf)."`
	OTLP         []string `name:"otlp" group:"Data" help:"OTLP-JSON traces of vLLM: requests that ran alone are compared too."`
	ClosedLoop   []string `name:"closed-loop" group:"Data" help:"CSV files of benchmarks with a fixed number of users who ask again and again: mean TPOT is compared."`
	LatencyModel []string `name:"latency-model" default:"auto,roofline,blackbox" group:"Model" help:"Latency models to compare: auto, physics, roofline, blackbox."`
	Coefficients string   `name:"coefficients" group:"Model" help:"Coefficients of physics: a file that blis train wrote, or the name of a shipped set; else as auto chooses."`

	Report string `type:"path" placeholder:"FILE" group:"Output" help:"Write a page of the result as HTML; as FILE.md or FILE.csv its tables alone."`

	measuredFlags
}

// Help is what blis validate does, with examples.
func (*validateCmd) Help() string {
	return `Replays measured runs and compares what clients saw with what latency models predict: TTFT, TPOT and E2E by mean and percentiles, signed and absolute errors, the Kolmogorov-Smirnov distance of the distributions, throughput where servers were overloaded, and whether servers and rates come in the right order. What shipped sets were fitted to, and with what error on data held out, is in docs/latency.md.

Examples:

    blis validate measurements/
    blis validate measurements/ --latency-model physics --coefficients mine.yaml
    blis validate engine-run/ --hardware RTX4090 --latency-model roofline
    blis validate vllm-bench-result.json --hardware H100 --tp 2
    blis validate --otlp trace.json.gz --model Llama-2-7b-hf --hardware H100
    blis validate --closed-loop benchmarks.csv --latency-model auto,roofline`
}

// Run carries the command out.
func (v *validateCmd) Run(ctx context.Context, c *console) error {
	c.warnOfVariables()
	if err := v.check(); err != nil {
		return err
	}
	if len(v.Measured) == 0 && len(v.OTLP) == 0 && len(v.ClosedLoop) == 0 {
		return inputError("nothing to compare with: want measured runs, --otlp or --closed-loop")
	}
	set, err := openSet(v.Coefficients)
	if err != nil {
		return err
	}
	subjects, err := calibrate.NewSubjects(v.LatencyModel, set)
	if err != nil {
		return err
	}
	samples, notes, err := v.load(v.Measured)
	if err != nil {
		return err
	}
	prefills, err := v.comparePrefills(c, set)
	if err != nil {
		return err
	}
	loops, leftOut, err := v.loops(v.ClosedLoop)
	if err != nil {
		return err
	}
	page, err := v.page(ctx)
	if err != nil {
		return err
	}
	progress, bar := c.stages("latency models")
	c.begun.Store(true)
	list, err := calibrate.Validate(ctx, samples, subjects, v.workers(), progress)
	if err != nil {
		bar.done()
		page.discard()
		return explainTraining(ctx, err)
	}
	r := &report.Validation{Models: list, Prefills: prefills, LeftOut: notes}
	if len(v.ClosedLoop) > 0 {
		r.Loops = &report.ClosedLoops{LeftOut: leftOut}
		r.Loops.Models, err = calibrate.ValidateClosedLoops(ctx, loops, subjects, v.workers(), progress)
	}
	bar.done()
	if err != nil {
		page.discard()
		return explainTraining(ctx, err)
	}
	return errors.Join(c.print(r, v.Format), savePage(page, r, nil, true, new([]string)))
}

// page begins the file of --report.
func (v *validateCmd) page(ctx context.Context) (*output, error) {
	var read []named
	for _, list := range [][]string{v.Measured, v.OTLP, v.ClosedLoop, {v.Coefficients, v.HardwareConfig}} {
		for _, path := range list {
			read = append(read, named{"an input", path})
		}
	}
	if err := checkDistinct([]named{{"--report", v.Report}}, read); err != nil {
		return nil, err
	}
	return create(ctx, "report", v.Report)
}

// openSet is the coefficient set of a file or a shipped one, nil for an empty
// name.
func openSet(name string) (*latency.PhysicsSet, error) {
	if name == "" {
		return nil, nil
	}
	return setup.OpenCoefficients(name)
}

// comparePrefills compares the requests of OTLP files that ran alone; nil if
// there are none.
func (v *validateCmd) comparePrefills(c *console, set *latency.PhysicsSet) (*report.Prefills, error) {
	if len(v.OTLP) == 0 {
		return nil, nil
	}
	o := v.overrides()
	d, limits, err := o.Deployment("", 0)
	if err != nil {
		return nil, inputOf(err)
	}
	if set == nil {
		if set = calibrate.ChoosePhysics(d, limits); set == nil {
			return nil, inputErrorf("no shipped coefficients cover %s: give --coefficients", d)
		}
	}
	list, err := v.prefills(c, v.OTLP, d, limits)
	if err != nil {
		return nil, err
	}
	return report.NewPrefills(list, set, d), nil
}
