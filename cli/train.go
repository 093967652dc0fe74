package cli

import (
	"context"
	"runtime"
	"strings"

	"blis/calibrate"
	"blis/report"
)

// trainCmd is blis train.
type trainCmd struct {
	Measured   []string `arg:"" optional:"" help:"Measured runs: a folder with runs.csv and requests/, one requests file, a folder with meta.json and requests.jsonl, or what a load generator wrote (vllm bench serve --save-detailed, GuideLLM, AIPerf, genai-perf, inference-perf)."`
	OTLP       []string `name:"otlp" group:"Data" help:"OTLP-JSON traces of vLLM: requests that ran alone are fitted to as well."`
	ClosedLoop []string `name:"closed-loop" group:"Data" help:"CSV files of benchmarks with a fixed number of users who ask again and again: mean TPOT is fitted to as well, or alone."`
	LoopWeight float64  `name:"closed-loop-weight" default:"0.05" group:"Fit" help:"Weight of one benchmark of --closed-loop, where the decoding of a run has 1: runs are told more exactly."`
	Steps      []string `name:"steps" group:"Data" help:"Steps with their periods, as CSV or OTLP-JSON, or forward passes measured alone, as CSV: regression on them, in place of runs."`
	Only       string   `name:"only" group:"Data" help:"Only runs whose model contains this."`

	Async  bool   `name:"async-scheduling" default:"true" negatable:"" group:"Data" help:"With --steps: batches were formed one step ahead (vLLM's default since 0.14), so the period of a step belongs to the batch before."`
	Engine string `name:"engine" default:"vLLM" group:"Data" help:"With --steps: engine and version, for the file."`
	Signed bool   `name:"signed" group:"Fit" help:"With --steps: let coefficients be negative."`

	Fit fitFlags `embed:""`
	Set setFlags `embed:""`
	measuredFlags
}

// fitFlags say how a fit goes and how it is tested.
type fitFlags struct {
	HoldOut    []string `name:"hold-out" default:"workload" group:"Fit" help:"What is held out to test the fit: workload (a run at a time, of its model), model (a model at a time), tail (the end of each run), none."`
	Share      float64  `name:"train-share" default:"0.8" group:"Fit" help:"Part of a run that tail fits to."`
	Latency    string   `name:"latency-model" default:"physics" enum:"physics,blackbox" group:"Fit" help:"What is fitted: physics, or blackbox, whose coefficients hold for one model, GPU and TP."`
	Iterations int      `name:"iterations" default:"40" group:"Fit" help:"Replays per run at most."`
	Polish     int      `name:"polish" default:"0" group:"Fit" help:"Replays of all runs for a simplex search (Nelder-Mead) that goes on from there, toward the errors of means and 90th percentiles; 0: none."`
	Lambda     *float64 `name:"lambda" group:"Fit" help:"Weight of the ridge that draws coefficients to usual values; 0.0003 if it is not given. One measured run counts about 1; with data of several models 0.004 was best, with those of one 0.0003. With forward passes the weight is relative to what a feature adds to their times, and 0.003 if it is not given; for periods of steps cross-validation chooses it."`
	Own        float64  `name:"own" default:"0" group:"Fit" help:"With --closed-loop and --only: weight of the ridge that draws the model's own fit to a fit to all models; 0: other models do not count."`
}

// setFlags describe the coefficient file.
type setFlags struct {
	Name  string   `name:"name" default:"trained" group:"Output" help:"Name of the set."`
	Out   string   `name:"out" type:"path" group:"Output" help:"Coefficient file to write; without it the file follows the report."`
	Data  string   `name:"data" default:"measured by the user" group:"Output" help:"Provenance for the file, one line."`
	Dates []string `name:"dates" group:"Output" help:"First and last day of measuring for the file, 2026-01-31,2026-02-02."`
	Notes []string `name:"note" sep:"none" group:"Output" help:"A line for the file; may be given several times."`
}

// Help is what blis train does, with examples.
func (*trainCmd) Help() string {
	return `Fits the coefficients of the physics model to measured servers and says how far off they are on what the fit has not seen. Runs are replayed through the engine of the simulation until its schedule and the coefficients agree, so queueing and caching are not fitted twice. Runs in which requests failed are left out. docs/latency.md has the method and the formats.

Examples:

    blis train measurements/ --out mine.yaml --name mine
    blis train measurements/ --hold-out model,workload --format json
    blis train engine-run/ --hardware RTX4090 --hold-out tail --train-share 0.5
    blis train measurements/ --closed-loop benchmarks.csv --hold-out model
    blis train --steps steps.csv --model Llama-3.1-8B --hardware H100
    blis train --steps a-tp1.csv,a-tp2.csv --model Llama-3.1-8B --hardware H100
    blis run --coefficients mine.yaml`
}

// Run carries the command out.
func (t *trainCmd) Run(ctx context.Context, c *console) error {
	c.warnOfVariables()
	if err := t.check(); err != nil {
		return err
	}
	if len(t.Steps) > 0 {
		return t.runSteps(ctx, c)
	}
	if len(t.Measured) == 0 && len(t.ClosedLoop) == 0 {
		return inputError("nothing to fit to: want measured runs, --closed-loop, or --steps")
	}
	holdOuts, err := t.holdOuts()
	if err != nil {
		return err
	}
	samples, notes, err := t.samples()
	if err != nil {
		return err
	}
	loops, beside, leftOut, err := t.chosenLoops()
	if err != nil {
		return err
	}
	options := calibrate.TrainOptions{Family: t.family(), Name: t.Set.Name, Fit: t.fit(), HoldOuts: holdOuts, Share: t.Fit.Share, Data: t.Set.Data, Dates: t.Set.Dates, Notes: t.Set.Notes, Loops: loops, Beside: beside}
	var prefills []calibrate.Prefill
	if len(t.OTLP) > 0 {
		o := t.overrides()
		d, limits, err := o.Deployment("", 0)
		if err != nil {
			return inputOf(err)
		}
		if prefills, err = t.prefills(c, t.OTLP, d, limits); err != nil {
			return err
		}
	}
	file, err := create(ctx, "out", t.Set.Out)
	if err != nil {
		return err
	}
	progress, bar := c.stages("fits")
	options.Progress = progress
	c.begun.Store(true)
	trained, err := calibrate.Train(ctx, samples, prefills, options)
	bar.done()
	if err != nil {
		file.discard()
		return explainTraining(ctx, err)
	}
	if err := file.save(trained.Content()); err != nil {
		return err
	}
	return c.print(&report.Training{Trained: trained, LeftOut: notes, LoopsLeftOut: leftOut, File: t.Set.Out}, t.Format)
}

// chosenLoops are the benchmarks to fit to, with their weights, and with --own those of
// other models.
func (t *trainCmd) chosenLoops() (list, beside []*calibrate.ClosedLoopSample, leftOut []calibrate.LeftOutLoops, err error) {
	all, leftOut, err := t.loops(t.ClosedLoop)
	for _, l := range all {
		l.Weight = t.LoopWeight
		if t.about(l.Server.Deployment.Model.Name) {
			list = append(list, l)
		} else if t.Fit.Own > 0 {
			beside = append(beside, l)
		}
	}
	switch {
	case err != nil:
	case len(t.ClosedLoop) > 0 && len(list) == 0:
		err = inputError("--closed-loop: no benchmark of such a model that can be simulated; blis validate lists why")
	case t.Fit.Own > 0 && len(beside) == 0:
		err = inputError("--own: want --closed-loop and --only, the model whose fit is drawn to that of all models")
	case t.Fit.Own > 0 && len(t.Measured) > 0:
		err = inputError("--own: want --closed-loop alone, not measured runs beside it")
	}
	return list, beside, leftOut, err
}

// about reports whether --only lets a model pass.
func (t *trainCmd) about(model string) bool {
	return strings.Contains(strings.ToLower(model), strings.ToLower(t.Only))
}

// samples are the measured runs that can be fitted together.
func (t *trainCmd) samples() (samples []*calibrate.Sample, notes []string, err error) {
	if len(t.Measured) == 0 {
		return nil, nil, nil
	}
	all, notes, err := t.load(t.Measured)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range all {
		if t.about(s.Server.Deployment.Model.Name) {
			samples = append(samples, s)
		}
	}
	if len(samples) == 0 {
		return nil, nil, inputErrorf("--only %q: no run of such a model that can be replayed", t.Only)
	}
	if err := calibrate.CheckSamples(samples, t.family()); err != nil {
		return nil, nil, inputError(err.Error())
	}
	return samples, notes, nil
}

// explainTraining is an interruption, or a fault of the data.
func explainTraining(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return inputError(err.Error())
}

// family is the latency model that is fitted.
func (t *trainCmd) family() *calibrate.Family {
	if t.Fit.Latency == "blackbox" {
		return calibrate.Blackbox
	}
	return calibrate.Physics
}

// defaultLambda is --lambda of a fit to runs and closed loops.
const defaultLambda = 0.0003

func (t *trainCmd) fit() calibrate.FitOptions {
	o := calibrate.DefaultFit()
	o.Iterations, o.Lambda, o.Own, o.Polish, o.Workers = t.Fit.Iterations, defaultLambda, t.Fit.Own, t.Fit.Polish, t.workers()
	if t.Fit.Lambda != nil {
		o.Lambda = *t.Fit.Lambda
	}
	return o
}

func (f *measuredFlags) workers() int {
	if f.Workers > 0 {
		return f.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// holdOuts checks the flags of the fit.
func (t *trainCmd) holdOuts() ([]calibrate.HoldOut, error) {
	list, err := calibrate.ParseHoldOuts(t.Fit.HoldOut)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Fit.Latency == "blackbox" && t.Set.Out != "":
		return nil, inputError("--out: blackbox has no coefficient file: its coefficients are flags of blis run, which the report ends with")
	case t.Fit.Latency == "blackbox" && len(t.OTLP) > 0:
		return nil, inputError("--otlp: prefills of requests that ran alone are fitted to by physics, not by blackbox")
	case t.Fit.Latency == "blackbox" && len(t.ClosedLoop) > 0:
		return nil, inputError("--closed-loop: benchmarks are fitted to by physics, not by blackbox")
	case !(t.LoopWeight > 0 && t.LoopWeight <= 1e6):
		return nil, inputErrorf("--closed-loop-weight is %v: want above 0, at most 1000000", t.LoopWeight)
	case !(t.Fit.Share > 0 && t.Fit.Share < 1):
		return nil, inputErrorf("--train-share is %v: want above 0 and below 1", t.Fit.Share)
	case t.Fit.Iterations < 1 || t.Fit.Iterations > 10_000:
		return nil, inputErrorf("--iterations is %d: want 1 to 10000", t.Fit.Iterations)
	case !(t.Fit.Own >= 0 && t.Fit.Own <= 1e6):
		return nil, inputErrorf("--own is %v: want 0 to 1000000", t.Fit.Own)
	case t.Fit.Polish < 0 || t.Fit.Polish > 100_000:
		return nil, inputErrorf("--polish is %d: want 0 to 100000", t.Fit.Polish)
	}
	return list, t.checkLambda()
}

func (t *trainCmd) checkLambda() error {
	if t.Fit.Lambda != nil && !(*t.Fit.Lambda > 0 && *t.Fit.Lambda <= 1e6) {
		return inputErrorf("--lambda is %v: want above 0, at most 1000000: features that look alike need a ridge to be told apart", *t.Fit.Lambda)
	}
	return nil
}
