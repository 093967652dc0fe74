package cli

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"blis/calibrate"
	"blis/input"
	"blis/metrics"
	"blis/report"
	"blis/study"
	"blis/suggest"
)

// rankingCmd is blis ranking.
type rankingCmd struct {
	Predicted string `arg:"" type:"path" help:"What was simulated: JSON of blis compare or of blis export top, or CSV."`
	Measured  string `arg:"" type:"path" help:"What was measured: CSV with a column policy and one per measure; or JSON as for the simulation."`
	By        string `placeholder:"MEASURE" help:"Measure that is compared, like p99_ttft; not given: the only one of both files."`
	form
}

// Help is what blis ranking does, with examples.
func (*rankingCmd) Help() string {
	return `Says whether the simulation has policies in the order in which measurements have them: Spearman's correlation, pairs in the right order and those swapped, and for each policy how far apart both are. Policies are the same by policy_id, else by name. Both files have the same units: JSON has latencies in ms.

Examples:

    blis ranking compared.json measured.csv --by p99_ttft
    blis ranking top.json measured.csv --format json`
}

// judgedFile is the policies of a file with their measures.
type judgedFile struct {
	path     string
	names    []string
	ids      []string // empty: not known
	measures []string
	values   []map[string]float64 // by policy
}

// Run carries the command out.
func (r *rankingCmd) Run(c *console) error {
	predicted, err := readJudged(r.Predicted)
	if err != nil {
		return err
	}
	measured, err := readJudged(r.Measured)
	if err != nil {
		return err
	}
	by, err := r.measure(predicted, measured)
	if err != nil {
		return err
	}
	p, m := predicted.judged(by), measured.judged(by)
	ranking := calibrate.RankPolicies(p, m)
	if len(ranking.Gaps) < 2 {
		return inputErrorf("%s and %s have %d policies with %s in common: want at least 2, with the same name or policy_id", r.Predicted, r.Measured, len(ranking.Gaps), by)
	}
	return c.print(report.NewPolicyRanking(ranking, by, betterOf(by)), r.Format)
}

// measure is the measure to compare.
func (r *rankingCmd) measure(predicted, measured *judgedFile) (string, error) {
	var both []string
	for _, name := range predicted.measures {
		if slices.Contains(measured.measures, name) {
			both = append(both, name)
		}
	}
	switch {
	case r.By != "" && slices.Contains(both, r.By):
		return r.By, nil
	case r.By != "":
		return "", inputErrorf("--by %s: not in both files%s (in both: %s)", r.By, suggest.Hint(r.By, both), strings.Join(both, ", "))
	case len(both) == 0:
		return "", inputErrorf("%s and %s have no measure in common: the columns of CSV are called as in blis compare, like p99_ttft", r.Predicted, r.Measured)
	case len(both) > 1:
		return "", inputErrorf("--by: which of %s?", strings.Join(both, ", "))
	}
	return both[0], nil
}

// betterOf is the direction of a measure of ours; empty for others.
func betterOf(name string) string {
	for _, m := range study.Measures() {
		if m.Name == name {
			if m.Better == metrics.Higher {
				return "higher"
			}
			return "lower"
		}
	}
	return ""
}

// judged are the policies that have the measure.
func (f *judgedFile) judged(by string) []calibrate.Judged {
	var list []calibrate.Judged
	for i, name := range f.names {
		if v, ok := f.values[i][by]; ok {
			list = append(list, calibrate.Judged{Name: name, ID: f.ids[i], Value: v})
		}
	}
	return list
}

// add appends a policy.
func (f *judgedFile) add(name, id string, values map[string]float64) error {
	if name == "" {
		return inputErrorf("%s: a policy without a name", f.path)
	}
	if slices.Contains(f.names, name) {
		return inputErrorf("%s: the policy %s stands there twice: want different names", f.path, name)
	}
	if at := slices.Index(f.ids, id); id != "" && at >= 0 {
		if maps.Equal(f.values[at], values) {
			return nil // the same policies under another name, run once
		}
		return inputErrorf("%s: %s and %s are the same policies with other results: want one of them, as by blis export top --where", f.path, f.names[at], name)
	}
	f.names, f.ids, f.values = append(f.names, name), append(f.ids, id), append(f.values, values)
	for _, m := range slices.Sorted(maps.Keys(values)) { // any order: sorted
		if !slices.Contains(f.measures, m) {
			f.measures = append(f.measures, m)
		}
	}
	return nil
}

// readJudged reads policies with their measures.
func readJudged(path string) (*judgedFile, error) {
	text, err := input.ReadFile(path, input.Report)
	if err != nil {
		return nil, inputError(pathProblem(err))
	}
	f := &judgedFile{path: path}
	if !isObject(text) {
		return f, f.readCSV(string(text))
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if json.Unmarshal(text, &head) == nil && head.Schema == "blis.export-top/v1" {
		return f, f.readTop(text)
	}
	return f, f.readComparison(text)
}

// readTop reads the JSON of blis export top.
func (f *judgedFile) readTop(text []byte) error {
	var top struct {
		Policies []struct {
			Name    string              `json:"name"`
			ID      string              `json:"policy_id"`
			Fitness *float64            `json:"sim_fitness"`
			Metrics map[string]*float64 `json:"sim_metrics"`
		} `json:"policies"`
	}
	if err := json.Unmarshal(text, &top); err != nil {
		return inputErrorf("%s: no result of blis export top: %v", f.path, err)
	}
	for _, p := range top.Policies {
		values := known(p.Metrics)
		if p.Fitness != nil {
			values["fitness"] = *p.Fitness
		}
		if err := f.add(p.Name, p.ID, values); err != nil {
			return err
		}
	}
	return nil
}

// known are the measures that have a value.
func known(measures map[string]*float64) map[string]float64 {
	values := map[string]float64{}
	for name, v := range measures { // any order
		if v != nil {
			values[name] = *v
		}
	}
	return values
}

// readComparison reads the JSON of blis compare.
func (f *judgedFile) readComparison(text []byte) error {
	result, err := readComparison(f.path, text)
	if err != nil {
		return err
	}
	for i := range result.Bundles {
		b := &result.Bundles[i]
		if b.Policies == nil {
			continue
		}
		id, err := b.Policies.ID()
		if err != nil {
			return inputErrorf("%s: %s: %v", f.path, b.Name, err)
		}
		if err := f.add(b.Name, id, known(result.measuresOf(i))); err != nil {
			return err
		}
	}
	return nil
}

// readCSV reads a column policy, and if it is there policy_id; the other columns are
// measures. An empty cell is no value.
func (f *judgedFile) readCSV(text string) error {
	rows := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	rows.TrimLeadingSpace = true
	head, err := rows.Read()
	if err != nil {
		return inputErrorf("%s: no CSV: %v", f.path, err)
	}
	name, id := slices.Index(head, "policy"), slices.Index(head, "policy_id")
	if name < 0 {
		name = id
	}
	if name < 0 {
		return inputErrorf("%s:1: want a column policy with names, or policy_id, beside those of measures", f.path)
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return inputErrorf("%s: %v", f.path, err)
		}
		line, _ := rows.FieldPos(0)
		values := map[string]float64{}
		for i, cell := range row {
			if i == name || i == id || cell == "" {
				continue
			}
			x, err := strconv.ParseFloat(cell, 64)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				return badLine(f.path, line, "%s: %q: want a number", head[i], cell)
			}
			values[head[i]] = x
		}
		policyID := ""
		if id >= 0 {
			policyID = row[id]
		}
		if err := f.add(row[name], policyID, values); err != nil {
			return err
		}
	}
}
