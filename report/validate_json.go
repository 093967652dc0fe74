package report

import (
	"blis/calibrate"
	"blis/latency"
)

// ValidationJSON is the JSON form of a validation.
type ValidationJSON struct {
	Schema   string           `json:"schema"`
	Models   []subjectJSON    `json:"latency_models"`
	Prefills *Prefills        `json:"prefills"`     // null: no OTLP files were given
	Loops    *closedLoopsJSON `json:"closed_loops"` // null: no files of closed loops were given
	Skipped  []string         `json:"skipped"`
}

type subjectJSON struct {
	Name     string              `json:"name"`
	Runs     []runResultJSON     `json:"runs"`
	Summary  []calibrate.Summary `json:"summary"`
	Cold     []calibrate.Summary `json:"cold_summary"`
	ColdTTFT *float64            `json:"cold_ttft_median_ape"` // of single requests; null: none was cold
	Rankings []calibrate.Ranking `json:"rankings"`
	Doubt    *string             `json:"doubt"` // what errors of one sign and similar size say; null: nothing
}

type runResultJSON struct {
	Run         string                `json:"run"`
	Model       string                `json:"model"`
	Hardware    string                `json:"hardware"`
	TP          int                   `json:"tp"`
	Latency     *string               `json:"latency"` // null: no such model for this run
	Missing     *string               `json:"missing"` // why
	Overloaded  bool                  `json:"overloaded"`
	Throughput  *calibrate.Throughput `json:"throughput"`
	All         *errorsJSON           `json:"all"` // null when overloaded
	Cold        *errorsJSON           `json:"cold"`
	StageErrors []stageJSON           `json:"stages"`
}

type errorsJSON struct {
	Requests   int                          `json:"requests"`
	Scores     []calibrate.Score            `json:"scores"`
	KS         map[calibrate.Metric]float64 `json:"ks"`
	PerRequest map[calibrate.Metric]float64 `json:"per_request_median_ape"`
}

type stageJSON struct {
	Rate float64 `json:"rate"`
	errorsJSON
}

func newValidationJSON(all *Validation) *ValidationJSON {
	j := &ValidationJSON{Schema: "blis.validate/v1", Models: []subjectJSON{}, Prefills: all.Prefills, Loops: newClosedLoopsJSON(all.Loops), Skipped: listed(all.LeftOut)}
	for i := range all.Models {
		v := &all.Models[i]
		s := subjectJSON{v.Subject, []runResultJSON{}, listed(v.Summary), listed(v.Cold), nil, listed(v.Rankings), nil}
		if cold, known := v.ColdTTFT(); known {
			s.ColdTTFT = &cold
		}
		if doubt := v.Doubt(); doubt != "" {
			s.Doubt = &doubt
		}
		for k := range v.Runs {
			s.Runs = append(s.Runs, newRunResultJSON(&v.Runs[k]))
		}
		j.Models = append(j.Models, s)
	}
	return j
}

func newRunResultJSON(r *calibrate.RunResult) runResultJSON {
	d := r.Sample.Server.Deployment
	j := runResultJSON{Run: r.Sample.Run.ID, Model: d.Model.Name, Hardware: d.GPU.Name, TP: d.TP, Overloaded: r.Overloaded, StageErrors: []stageJSON{}}
	if r.Missing != "" {
		j.Missing = &r.Missing
		return j
	}
	j.Latency, j.Throughput = &r.Description, &r.Throughput
	if r.Overloaded {
		return j
	}
	j.All, j.Cold = newErrorsJSON(&r.All), newErrorsJSON(&r.Cold)
	for k := range r.Stages {
		j.StageErrors = append(j.StageErrors, stageJSON{r.Sample.Run.Stages[k].Rate, *newErrorsJSON(&r.Stages[k])})
	}
	return j
}

func newErrorsJSON(c *calibrate.Comparison) *errorsJSON {
	return &errorsJSON{c.Requests, listed(c.Scores), c.KS, c.RequestError}
}

// Prefills compares the prefills of requests that ran alone with what one set of
// coefficients predicts.
type Prefills struct {
	Set    string       `json:"coefficients"`
	Median float64      `json:"median_ape"`
	Doubt  *string      `json:"doubt"` // what errors of one sign and similar size say; null: nothing
	Rows   []PrefillRow `json:"requests"`
}

// PrefillRow is the prefill of a request that ran alone.
type PrefillRow struct {
	Tokens    int64   `json:"tokens"`
	Measured  float64 `json:"measured_ms"`
	Predicted float64 `json:"predicted_ms"`
}

// NewPrefills compares measured prefills of a deployment with those that a set
// predicts.
func NewPrefills(list []calibrate.Prefill, set *latency.PhysicsSet, d *latency.Deployment) *Prefills {
	c := &calibrate.Coefficients{Alpha: set.Alpha, Beta: set.Beta}
	table := &Prefills{Set: set.Name, Median: calibrate.MedianError(list, c), Rows: []PrefillRow{}}
	var errors []float64
	for i := range list {
		r := PrefillRow{list[i].Tokens, 1e3 * list[i].Measured, 1e3 * list[i].Predicted(c)}
		table.Rows = append(table.Rows, r)
		errors = append(errors, r.Predicted/r.Measured-1)
	}
	if doubt := calibrate.Doubt(errors, "prefills", d.String()); doubt != "" {
		table.Doubt = &doubt
	}
	return table
}
