package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"blis/bundle"
	"blis/input"
	"blis/metrics"
	"blis/report"
	"blis/setup"
	"blis/study"
	"blis/study/sweepfile"
)

// topCmd is blis export top.
type topCmd struct {
	Result string `arg:"" type:"path" help:"Result of blis compare as JSON (--results-path), or the folder of a sweep."`

	Count      int    `short:"n" name:"count" default:"3" placeholder:"N" help:"How many, at most."`
	By         string `placeholder:"MEASURE" help:"Measure by whose mean policies are ordered, like p99_ttft; not given: the ranking of blis compare, for a sweep its fitness."`
	Where      string `placeholder:"EXPR" help:"Of a sweep: only combinations for which this is true, like rate == 40; as in blis sweep show."`
	Deployment string `placeholder:"ID" help:"With --deployments of several: the one to export."`
	APIVersion string `name:"api-version" default:"llm-d.ai/v1alpha1" enum:"llm-d.ai/v1alpha1,inference.networking.x-k8s.io/v1alpha1" help:"apiVersion of the configurations, as for blis export llm-d."`
}

// Help is what blis export top does, with examples.
func (*topCmd) Help() string {
	return `Prints the best policies of a study as JSON: for each its policy_id, sim_fitness, sim_metrics and config_for_deployment, the EndpointPickerConfig that blis export llm-d writes for it. A policy that llm-d cannot have has an error in place of the configuration. docs/llm-d.md has the form.

Examples:

    blis export top compared.json -n 5
    blis export top routing.sweep --by p99_ttft --where "rate == 40"`
}

// candidate is a policy with its measures, in the units of results.
type candidate struct {
	name     string
	config   setup.Config
	measures map[string]*float64
}

// Run carries the command out.
func (r *topCmd) Run(ctx context.Context, c *console) error {
	if r.Count < 1 {
		return inputErrorf("--count is %d: want at least 1", r.Count)
	}
	if r.By != "" {
		if _, err := study.SelectMeasures("--by", []string{r.By}); err != nil {
			return err
		}
	}
	info, err := os.Stat(r.Result)
	if err != nil {
		return inputError(pathProblem(err))
	}
	var list []candidate
	if info.IsDir() {
		list, err = r.ofSweep(ctx)
	} else {
		list, err = r.ofComparison()
	}
	if err != nil {
		return err
	}
	top := report.NewTop(r.By)
	for i := range list[:min(r.Count, len(list))] {
		if err := r.add(c, top, &list[i]); err != nil {
			return err
		}
	}
	return report.WriteIndented(c.out, top)
}

// add exports a candidate.
func (r *topCmd) add(c *console, top *report.Top, one *candidate) error {
	plan, err := setup.Cluster(one.config)
	if err != nil {
		return inputErrorf("%s: %v", one.name, err)
	}
	id, err := plan.Config.Policies.ID()
	if err != nil {
		return err
	}
	e, err := exportOf(plan, r.Deployment, r.APIVersion)
	if err != nil {
		c.note("%s: %v", one.name, err)
	}
	top.Add(one.name, id, one.measures, e, err)
	return nil
}

// best orders candidates by a measure, of which all have a value.
func (r *topCmd) best(list []candidate, measure string) ([]candidate, error) {
	if len(list) == 0 {
		return nil, inputErrorf("%s: none of its policies has a value of %s", r.Result, measure)
	}
	by, err := study.SelectMeasures("--by", []string{measure})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		x, y := *a.measures[measure], *b.measures[measure]
		if by[0].Better == metrics.Higher {
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	})
	return list, nil
}

// comparedResult is what top reads of the JSON of blis compare.
type comparedResult struct {
	Schema  string   `json:"schema"`
	Ranking []string `json:"ranking"`
	Bundles []struct {
		Name     string         `json:"name"`
		Policies *bundle.Bundle `json:"policies"`
		Measures map[string]struct {
			Mean *float64 `json:"mean"`
		} `json:"measures"`
	} `json:"bundles"`
}

// readComparison reads the JSON of blis compare.
func readComparison(path string, text []byte) (*comparedResult, error) {
	var result comparedResult
	if err := json.Unmarshal(text, &result); err != nil {
		return nil, inputErrorf("%s: no result of blis compare: %v", path, err)
	}
	if result.Schema != "blis.compare/v1" {
		return nil, inputErrorf("%s: its schema is %q: want blis.compare/v1, the result of blis compare as JSON, or the folder of a sweep", path, result.Schema)
	}
	return &result, nil
}

// measuresOf returns the means of a bundle by measure.
func (r *comparedResult) measuresOf(i int) map[string]*float64 {
	values := map[string]*float64{}
	for name, m := range r.Bundles[i].Measures { // any order
		values[name] = m.Mean
	}
	return values
}

// ofComparison are the bundles of a comparison that have a result, the best first.
func (r *topCmd) ofComparison() ([]candidate, error) {
	if r.Where != "" {
		return nil, inputErrorf("--where %s: %s is no folder of a sweep", r.Where, r.Result)
	}
	text, err := input.ReadFile(r.Result, input.Report)
	if err != nil {
		return nil, inputError(pathProblem(err))
	}
	result, err := readComparison(r.Result, text)
	if err != nil {
		return nil, err
	}
	base, err := readBase(r.Result, configOf(text))
	if err != nil {
		return nil, err
	}
	var list []candidate
	for i := range result.Bundles {
		b := &result.Bundles[i]
		if b.Policies == nil {
			continue
		}
		one := candidate{b.Name, base, result.measuresOf(i)}
		if r.By != "" && one.measures[r.By] == nil {
			continue
		}
		if err := one.config.UseBundle(*b.Policies); err != nil {
			return nil, inputErrorf("%s: %s: %v", r.Result, b.Name, err)
		}
		list = append(list, one)
	}
	if r.By != "" {
		return r.best(list, r.By)
	}
	place := func(name string) int { return slices.Index(result.Ranking, name) }
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(place(a.name), place(b.name)) })
	return list, nil
}

// ofSweep are the combinations of a sweep with a result, the best first.
func (r *topCmd) ofSweep(ctx context.Context) ([]candidate, error) {
	sweep, err := ReadSweep(filepath.Join(r.Result, sweepfile.LockName))
	if err != nil {
		return nil, noFolder(r.Result, err)
	}
	name := cmp.Or(r.By, "fitness")
	if r.By == "" && sweep.Base.FitnessWeights == "" {
		return nil, inputErrorf("--by: want the measure by which combinations of %s are ordered: its runs have no fitness", r.Result)
	}
	var names []string
	for _, m := range study.Measures() {
		names = append(names, m.Name)
	}
	v, err := study.NewSweepView(&sweep, names, nil, r.Where)
	if err != nil {
		return nil, err
	}
	rows, err := sweepRows(r.Result)
	if err != nil {
		return nil, err
	}
	if err := addAll(ctx, v, rows); err != nil {
		return nil, err
	}
	v.Finish()
	plan, err := study.NewSweepPlan(ctx, sweep, study.Pool{})
	if err != nil {
		return nil, err
	}
	var list []candidate
	for i := range v.Groups {
		g := &v.Groups[i]
		one := candidate{name: nameOf(g), measures: map[string]*float64{}}
		for k, m := range v.Measures {
			one.measures[m.Name] = g.Estimates[k].Mean
		}
		if one.measures[name] == nil {
			continue
		}
		if one.config, err = plan.Config(g.Index); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return r.best(list, name)
}

// nameOf names a combination by its values.
func nameOf(g *study.SweepGroup) string {
	var list []string
	for _, c := range g.Coordinates {
		list = append(list, c.Axis+"="+strings.Trim(string(c.Value), `"`))
	}
	return strings.Join(list, " ")
}
