package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"blis/calibrate"
	"blis/latency"
	"blis/setup"
)

// validateCmd is blis validate.
type validateCmd struct {
	Measured     []string `arg:"" optional:"" help:"Measured runs: a folder with runs.csv and requests/, one requests file, a folder with meta.json and requests.jsonl, or what a load generator wrote (vllm bench serve --save-detailed, GuideLLM, AIPerf, genai-perf, inference-perf)."`
	OTLP         []string `name:"otlp" group:"Data" help:"OTLP-JSON traces of vLLM: requests that ran alone are compared too."`
	LatencyModel []string `name:"latency-model" default:"auto,roofline,blackbox" group:"Model" help:"Latency models to compare: auto, physics, roofline, blackbox."`
	Coefficients string   `name:"coefficients" group:"Model" help:"Coefficients of physics: a file that blis train wrote, or the name of a shipped set; else as auto chooses."`

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
    blis validate --otlp trace.json.gz --model Llama-2-7b-hf --hardware H100`
}

// Run carries the command out.
func (v *validateCmd) Run(ctx context.Context, c *console) error {
	c.warnOfVariables()
	if err := v.check(); err != nil {
		return err
	}
	if len(v.Measured) == 0 && len(v.OTLP) == 0 {
		return &inputError{"nothing to compare with: want measured runs, or --otlp"}
	}
	set, err := openSet(v.Coefficients)
	if err != nil {
		return err
	}
	subjects, err := v.subjects(set)
	if err != nil {
		return err
	}
	samples, skipped, err := v.load(v.Measured)
	if err != nil {
		return err
	}
	prefills, err := v.comparePrefills(c, set)
	if err != nil {
		return err
	}
	report, bar := c.stages("latency models")
	c.begun.Store(true)
	list, err := calibrate.Validate(ctx, samples, subjects, v.workers(), report)
	bar.done()
	if err != nil {
		return explainTraining(ctx, err)
	}
	if v.Format == "json" {
		return printJSON(c.out, newValidationJSON(list, prefills, skipped))
	}
	return writeValidation(c.out, list, prefills, skipped)
}

// openSet is the coefficient set of a file or a shipped one, nil for an empty
// name.
func openSet(name string) (*latency.PhysicsSet, error) {
	if name == "" {
		return nil, nil
	}
	return setup.OpenCoefficients(name)
}

// subjects are the latency models to compare.
func (v *validateCmd) subjects(set *latency.PhysicsSet) ([]calibrate.Subject, error) {
	var list []calibrate.Subject
	known := []string{"auto", "physics", "roofline", "blackbox"}
	for _, name := range v.LatencyModel {
		if !slices.Contains(known, name) {
			return nil, &inputError{fmt.Sprintf("--latency-model is %q: want some of %s", name, strings.Join(known, ", "))}
		}
		if !slices.ContainsFunc(list, func(s calibrate.Subject) bool { return s.Name == name }) {
			list = append(list, calibrate.NewSubject(name, set))
		}
	}
	if len(list) == 0 {
		return nil, &inputError{"--latency-model is empty: want some of " + strings.Join(known, ", ")}
	}
	if set != nil && !slices.ContainsFunc(list, func(s calibrate.Subject) bool { return s.Name == "auto" || s.Name == "physics" }) {
		return nil, &inputError{"--coefficients: want auto or physics among --latency-model: the others have none"}
	}
	return list, nil
}

// prefillRow is the prefill of a request that ran alone.
type prefillRow struct {
	Tokens    int64   `json:"tokens"`
	Measured  float64 `json:"measured_ms"`
	Predicted float64 `json:"predicted_ms"`
}

// prefillTable is the prefills of all OTLP files under one set of coefficients.
type prefillTable struct {
	Set    string       `json:"coefficients"`
	Median float64      `json:"median_ape"`
	Doubt  *string      `json:"doubt"` // what errors of one sign and similar size say; null: nothing
	Rows   []prefillRow `json:"requests"`
}

// comparePrefills compares the requests of OTLP files that ran alone; nil if
// there are none.
func (v *validateCmd) comparePrefills(c *console, set *latency.PhysicsSet) (*prefillTable, error) {
	if len(v.OTLP) == 0 {
		return nil, nil
	}
	d, limits, err := v.deployment("", 0)
	if err != nil {
		return nil, err
	}
	if set == nil {
		if set = calibrate.ChoosePhysics(d, limits); set == nil {
			return nil, &inputError{fmt.Sprintf("no shipped coefficients cover %s: give --coefficients", d)}
		}
	}
	list, err := v.prefills(c, v.OTLP)
	if err != nil {
		return nil, err
	}
	table := &prefillTable{Set: set.Name, Rows: []prefillRow{}}
	for i := range list {
		p := &list[i]
		table.Rows = append(table.Rows, prefillRow{p.Tokens, 1e3 * p.Measured, 1e3 * p.Predicted(&calibrate.Coefficients{Alpha: set.Alpha, Beta: set.Beta})})
	}
	table.Median = calibrate.MedianError(list, &calibrate.Coefficients{Alpha: set.Alpha, Beta: set.Beta})
	var errors []float64
	for _, r := range table.Rows {
		errors = append(errors, r.Predicted/r.Measured-1)
	}
	if doubt := calibrate.Doubt(errors, "prefills", d.String()); doubt != "" {
		table.Doubt = &doubt
	}
	return table, nil
}
