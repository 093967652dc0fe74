package report

import (
	"blis/llmd"
	"blis/study"
)

// topSchema names the form of the result of blis export top;
// docs/export-top.schema.json describes it.
const topSchema = "blis.export-top/v1"

// Top is the best policies of a study, ready for llm-d.
type Top struct {
	Schema   string      `json:"schema"`
	Target   string      `json:"target"` // the program that reads the configurations
	By       string      `json:"by"`     // measure by which they are the best; empty: the ranking of blis compare
	Policies []TopPolicy `json:"policies"`
}

// TopPolicy is one policy of Top: predictions beside what to deploy. Measures are in the
// unit of their name in blis compare, latencies in ms; nil: not measured.
type TopPolicy struct {
	Name    string             `json:"name"`
	Fitness *float64           `json:"sim_fitness"`
	Metrics map[string]float64 `json:"sim_metrics"`
	Error   *string            `json:"error"` // why there is no configuration; nil: there is one
	ExportedPolicies
}

// NewTop returns an empty list.
func NewTop(by string) *Top { return &Top{topSchema, target, by, []TopPolicy{}} }

// Add appends a policy with its measures and what is exported of it; e is nil with an
// error. id is that of the policy.
func (t *Top) Add(name, id string, measures map[string]*float64, e *llmd.Export, err error) {
	p := TopPolicy{Name: name, Fitness: measures["fitness"], Metrics: map[string]float64{}}
	for _, m := range study.Measures() {
		if v := measures[m.Name]; v != nil && m.Name != "fitness" {
			p.Metrics[m.Name] = *v
		}
	}
	if err != nil {
		text := err.Error()
		p.Error, p.ExportedPolicies = &text, ExportedPolicies{PolicyID: id, Needs: []string{}, Differences: []llmd.Difference{}}
	} else {
		p.ExportedPolicies = exportedPolicies(e)
	}
	t.Policies = append(t.Policies, p)
}
