package cli

import (
	"fmt"
	"io"

	"blis/workload/spec"
)

// scenariosCmd is blis workload scenarios.
type scenariosCmd struct {
	Name string `arg:"" optional:"" help:"A scenario, whose specification is printed; all are listed if not given."`
	form
}

// Help is what blis workload scenarios does, with examples.
func (*scenariosCmd) Help() string {
	return `Lists the built-in scenarios. Each is a specification like one of your own; printed into a file it is where to begin.

Examples:

    blis workload scenarios
    blis workload scenarios mixed-slo > mine.yaml
    blis run --workload-spec mine.yaml
    blis run --scenario bursty-traffic`
}

type scenarioItem struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// Run carries the command out.
func (s *scenariosCmd) Run(c *console) error {
	if s.Name != "" {
		if _, err := spec.OpenScenario(s.Name); err != nil {
			return &inputError{err.Error()}
		}
		_, err := c.out.Write(spec.ScenarioText(s.Name))
		return err
	}
	items := []scenarioItem{}
	for _, one := range spec.Scenarios() {
		items = append(items, scenarioItem(one))
	}
	return s.list(c, items, func(w io.Writer) {
		for _, i := range items {
			fmt.Fprintf(w, "%s\t%s\n", i.Name, i.About)
		}
	})
}
