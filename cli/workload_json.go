package cli

import (
	"blis/actors"
	"blis/workload/survey"
)

// workloadSchema names the form of the JSON result of blis workload show;
// docs/workload.schema.json describes it.
const workloadSchema = "blis.workload/v1"

// surveyed is the result of blis workload show, in its order.
type surveyed struct {
	Schema   string   `json:"schema"`
	Partial  bool     `json:"partial"`
	Workload string   `json:"workload"`
	Notes    []string `json:"notes"`
	survey.Survey
	Config actors.Config `json:"config"`
}
