package report

import "blis/llmd"

// exportSchema names the form of what blis export prints as JSON;
// docs/export.schema.json describes it.
const exportSchema = "blis.export/v1"

// Exported is policies for llm-d as JSON: the file, and what it cannot express.
type Exported struct {
	Schema string `json:"schema"`
	Target string `json:"target"` // the program that reads the file, with its version
	ExportedPolicies
}

// ExportedPolicies is one policy for llm-d.
type ExportedPolicies struct {
	PolicyID    string            `json:"policy_id"`
	Config      *llmd.Config      `json:"config_for_deployment"`
	Needs       []string          `json:"needs"`
	Differences []llmd.Difference `json:"differences"`
}

// target is the program that reads exported files.
const target = "llm-d-router " + llmd.Version

// NewExport returns an export in its form as JSON.
func NewExport(e *llmd.Export) *Exported {
	return &Exported{exportSchema, target, exportedPolicies(e)}
}

func exportedPolicies(e *llmd.Export) ExportedPolicies {
	return ExportedPolicies{e.PolicyID, &e.Config, append([]string{}, e.Needs...), append([]llmd.Difference{}, e.Differences...)}
}
