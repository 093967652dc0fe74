package cli

import (
	"fmt"
	"io"
	"strings"

	"blis/policy"
	"blis/suggest"
)

// policiesCmd is blis policies.
type policiesCmd struct {
	Name string `arg:"" optional:"" help:"A policy, or what policies decide about (admission, priority, routing, scheduler, autoscale); all if not given."`
	form
}

type policyItem struct {
	Kind       string          `json:"kind"`
	Name       string          `json:"name"`
	Help       string          `json:"help"`
	Parameters []parameterItem `json:"parameters"`
	Open       *parameterItem  `json:"open_parameters"` // whose names the user makes up; null: none
}

type parameterItem struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases"`
	Type    string   `json:"type"`
	Default string   `json:"default"`
	Allowed string   `json:"allowed"`
	Help    string   `json:"help"`
}

// Run carries the command out.
func (p *policiesCmd) Run(c *console) error {
	items := []policyItem{}
	var names []string
	for _, t := range policy.Templates() {
		names = append(names, t.Name, string(t.Kind))
		if p.Name == "" || p.Name == t.Name || p.Name == string(t.Kind) {
			items = append(items, newPolicyItem(&t))
		}
	}
	if len(items) == 0 {
		return inputErrorf("unknown policy %q%s; blis policies lists all", p.Name, suggest.Hint(p.Name, names))
	}
	return p.list(c, items, func(w io.Writer) {
		kind := ""
		for _, item := range items {
			if item.Kind != kind {
				kind = item.Kind
				fmt.Fprintf(w, "%s\n", strings.ToUpper(kind))
			}
			fmt.Fprintf(w, "  %s: %s\n", item.Name, item.Help)
			for _, q := range item.Parameters {
				fmt.Fprintf(w, "    %s\t%s\t%s (%s)\n", q.Name, q.Default, q.Help, q.Allowed)
			}
			if q := item.Open; q != nil {
				fmt.Fprintf(w, "    %s: {NAME: …}\t\t%s (%s)\n", q.Name, q.Help, q.Allowed)
			}
		}
	})
}

func newPolicyItem(t *policy.Template) policyItem {
	item := policyItem{string(t.Kind), t.Name, t.Help, []parameterItem{}, nil}
	for i := range t.Parameters {
		item.Parameters = append(item.Parameters, newParameterItem(&t.Parameters[i]))
	}
	if t.Open != nil {
		open := newParameterItem(t.Open)
		item.Open = &open
	}
	return item
}

func newParameterItem(q *policy.Parameter) parameterItem {
	return parameterItem{q.Name, append([]string{}, q.Aliases...), q.Type.String(), q.Default, q.Range(), q.Help}
}
