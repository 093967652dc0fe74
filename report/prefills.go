package report

import (
	"blis/calibrate"
	"blis/latency"
)

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
