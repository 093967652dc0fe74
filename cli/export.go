package cli

import (
	"strings"

	"github.com/alecthomas/kong"

	"blis/llmd"
	"blis/report"
	"blis/setup"
)

// policyExportCmd is blis export.
type policyExportCmd struct {
	LLMD llmdCmd `cmd:"" name:"llm-d" help:"Write the policies as the EndpointPickerConfig of llm-d."`
	Top  topCmd  `cmd:"" help:"Print the best policies of a comparison or a sweep, with what they gave and their files for llm-d."`
}

// llmdCmd is blis export llm-d.
type llmdCmd struct {
	Bundle string `arg:"" optional:"" help:"Bundle file, or the name of a routing policy; not given: what --policy-config and the other flags say."`
	settings

	Deployment string `placeholder:"ID" group:"Export" help:"With --deployments of several: the one to export. llm-d has a pool and an endpoint picker for each model."`
	APIVersion string `name:"api-version" default:"llm-d.ai/v1alpha1" enum:"llm-d.ai/v1alpha1,inference.networking.x-k8s.io/v1alpha1" group:"Export" help:"apiVersion of the file: llm-d.ai/v1alpha1 from llm-d-router v0.9 on, inference.networking.x-k8s.io/v1alpha1 before."`
	Format     string `default:"yaml" enum:"yaml,json" group:"Export" help:"yaml: the file, with what it cannot express as comments; json: both as an object."`
}

// Help is what blis export llm-d does, with examples.
func (*llmdCmd) Help() string {
	return `Writes the routing policies of a configuration as the file that the endpoint picker of llm-d reads: a scorer with its weight for each of ours, filters and profiles for prefill and decode, what follows KV events. What llm-d does otherwise, or has no place for, stands as comments above it and on standard error. A policy to which nothing comes near is an error. docs/llm-d.md has the mapping.

Examples:

    blis export llm-d weighted > epp.yaml
    blis export llm-d best.yaml --prefix-index events --model Llama-3.1-70B
    blis export llm-d --config run.yaml --architecture pd --pd-decider always`
}

// applyPolicies makes the bundle: of the argument, which takes the place of
// --policy-config, or as run does.
func (r *llmdCmd) applyPolicies(command *kong.Context, l *settingSources) error {
	if r.Bundle == "" {
		return r.settings.applyPolicies(command, l)
	}
	if r.PolicyConfig != "" {
		return inputErrorf("%s and --policy-config are both bundles: want one of them", r.Bundle)
	}
	if err := r.takeWorkload(command, l); err != nil {
		return err
	}
	if err := r.takePools(command, l); err != nil {
		return err
	}
	policies, err := argumentBundle(r.Bundle)
	if err != nil {
		return err
	}
	r.Policies = policies
	return r.edit(l.policyFlags(command), setup.FromEnvironment)
}

// Run carries the command out.
func (r *llmdCmd) Run(c *console) error {
	c.warnOfVariables()
	if r.Print {
		return r.printConfig(c.out)
	}
	plan, err := setup.Cluster(r.Config.Config)
	if err != nil {
		return err
	}
	e, err := exportOf(plan, r.Deployment, r.APIVersion)
	if err != nil {
		return err
	}
	for i := range e.Differences {
		c.note("otherwise in llm-d: %s", e.Differences[i].String())
	}
	for _, text := range e.Needs {
		c.note("llm-d needs %s", text)
	}
	if r.Format == "json" {
		return report.WriteIndented(c.out, report.NewExport(e))
	}
	text, err := e.YAML()
	if err == nil {
		_, err = c.out.Write(text)
	}
	return err
}

// exportOf exports the deployment of that name; empty: the only one.
func exportOf(plan *setup.Plan, name, apiVersion string) (*llmd.Export, error) {
	var names []string
	for i := range plan.Deployments {
		d := &plan.Deployments[i]
		if d.ID == name || name == "" && len(plan.Deployments) == 1 {
			return llmd.New(plan, d, apiVersion)
		}
		names = append(names, d.ID)
	}
	if plan.Deployments[0].ID == "" {
		return nil, inputErrorf("--deployment is %q: there are no --deployments", name)
	}
	if name == "" {
		return nil, inputErrorf("--deployment: which of %s? llm-d has a file for each", strings.Join(names, ", "))
	}
	return nil, inputErrorf("--deployment is %q: want one of %s", name, strings.Join(names, ", "))
}
