package setup

import (
	"fmt"

	"blis/yamldoc"
)

// ClusterSettings is what a user sets of what deployments share. The tags are as those of Config.
type ClusterSettings struct {
	NodePools      NodePoolList `json:"node-pools" placeholder:"LIST" group:"Prefill/decode" help:"Nodes with GPUs, on which instances are placed: [{id: h100, gpu: H100, nodes: 4, gpus_per_node: 8, cost_per_gpu_hour: 2.5}]. Empty: GPUs are unlimited. See docs/deployments.md."`
	AdmissionScope string       `json:"admission-scope" default:"global" enum:"global,deployment" group:"Prefill/decode" help:"global: one admission policy decides on all requests; deployment: each deployment has one of its own, which knows of its requests alone."`
}

// Scopes of the admission policy.
const (
	AdmissionGlobal     = "global"     // one object for the run
	AdmissionDeployment = "deployment" // one for each deployment; deployments of one model share one
)

// AdmissionApart reports whether each model of a plan, or of a part of it, has an admission policy of
// its own.
func AdmissionApart(p *Plan) bool {
	return p.Config.AdmissionScope == AdmissionDeployment && len(p.Config.Deployments.list) > 1
}

func unusedOfCluster(c *Config) []unused {
	several := len(c.Deployments.list) > 1
	return []unused{
		{!several, []string{"admission-scope"}, "there is one deployment"},
		{several && admitsAlike(c), []string{"admission-scope"}, "admission-policy " + c.Policies.Admission.Type + " decides alike on all requests"},
	}
}

// admitsAlike reports whether the admission policy looks at nothing.
func admitsAlike(c *Config) bool {
	policy := c.Policies.Admission.Type
	return c.Custom.Admission == nil && (policy == "always-admit" || policy == "reject-all")
}

// noteScope notes a scope of the admission policy that makes no difference as deployments of one model share a
// policy in any case.
func noteScope(p *Plan) {
	if len(p.Deployments) > 1 && oneModel(p.Deployments) && !admitsAlike(&p.Config) {
		p.noteIfSet([]string{"admission-scope"}, "all deployments have one model, and share its admission policy")
	}
}

// readAdmission reads the section admission of a file of settings or deployments: the scope of the
// policy.
func readAdmission(file string, n *yamldoc.Node) (scope string, err error) {
	at := yamldoc.Place{}.Within("admission", n.Line)
	var v struct {
		Scope *yamldoc.Node `yaml:"scope"`
	}
	if n.Kind != yamldoc.Mapping {
		return "", at.Fault(file, "%s is not allowed, want {scope: %s}; the policy is --admission-policy", n.Describe(), AdmissionDeployment)
	}
	if err := yamldoc.Decode(file, at, n, &v); err != nil {
		return "", fmt.Errorf("%w; the policy is --admission-policy", err)
	}
	if v.Scope == nil || v.Scope.Text != AdmissionGlobal && v.Scope.Text != AdmissionDeployment {
		return "", at.Fault(file, "want scope, %s or %s", AdmissionGlobal, AdmissionDeployment)
	}
	return v.Scope.Text, nil
}

// ReadSection reads a section of a file of settings that is no setting by its name: node_pools and
// admission, as they stand in a file of deployments. It returns the setting and its text; an empty name:
// it is none of these. Its errors are those of the section, with its place.
func ReadSection(file string, m *yamldoc.Member) (setting, text string, err error) {
	switch m.Name {
	case "node_pools":
		var l NodePoolList
		err = l.Read(file, m.Value)
		return "node-pools", l.String(), err
	case "admission":
		text, err = readAdmission(file, m.Value)
		return "admission-scope", text, err
	}
	return "", "", nil
}

// openSections gives c what a file of deployments says beside them.
func openSections(c *Config, file string, nodePools, admission *yamldoc.Node) error {
	if nodePools != nil {
		if !c.NodePools.Empty() {
			return yamldoc.Place{}.Within("node_pools", nodePools.Line).Fault(file, "there are node pools among the settings too (--node-pools): want one of them")
		}
		if err := c.NodePools.Read(file, nodePools); err != nil {
			return err
		}
	}
	if admission != nil {
		scope, err := readAdmission(file, admission)
		if err != nil {
			return err
		}
		if c.AdmissionScope != AdmissionGlobal && c.AdmissionScope != scope {
			return yamldoc.Place{}.Within("admission", admission.Line).Fault(file, "--admission-scope is %s: want one of them", c.AdmissionScope)
		}
		c.AdmissionScope = scope
	}
	return nil
}
