package evaluate

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"blis/bundle"
	"blis/metrics"
	"blis/setup"
	"blis/workload/traces"
	"blis/yamldoc"
)

// Schema is the first field of a suite.
const Schema = "blis.suite/v1"

// MaxBytes is the maximum length of the file of a suite.
const MaxBytes = 4 << 20

// limits of the document. A bundle and a specification in it have limits of their own.
var limits = yamldoc.Options{Bytes: MaxBytes, Depth: 40, Name: 256, Values: 1 << 20}

// What a suite may have.
const (
	maxScenarios = 64
	fewestSeeds  = 2 // with one a program would learn the order of its requests
	maxSeeds     = 16
	maxWeight    = 1e6
)

// Parse reads a suite, which errors call file. A suite names no files: whatever it needs
// stands in it. Every scenario is checked as far as it can be without its run. Errors are an
// *setup.InputError of one line.
func Parse(file string, text []byte) (*Suite, error) {
	d := &document{file: file, suite: &Suite{Name: nameOf(file)}}
	err := d.parse(text)
	var input *setup.InputError
	switch {
	case err == nil:
		return d.suite, nil
	case errors.As(err, &input):
		return nil, err
	}
	return nil, &setup.InputError{Text: err.Error()}
}

// nameOf is the name of a file without folder and extension.
func nameOf(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// suiteFields are the fields of the file.
type suiteFields struct {
	Schema    string          `yaml:"schema"`
	About     string          `yaml:"about"`
	Baseline  *yamldoc.Node   `yaml:"baseline"`
	Measures  *yamldoc.Node   `yaml:"measures"`
	Settings  *yamldoc.Node   `yaml:"settings"`
	Scenarios []*yamldoc.Node `yaml:"scenarios"`
}

// scenarioFields are the fields of a scenario. Measures and settings that it gives come in
// place of those of the suite, each measure and each setting by itself.
type scenarioFields struct {
	Name     *yamldoc.Node `yaml:"name"`
	Weight   *yamldoc.Node `yaml:"weight"`
	Smoke    bool          `yaml:"smoke"`
	HeldOut  bool          `yaml:"held_out"`
	Seeds    *yamldoc.Node `yaml:"seeds"`
	Measures *yamldoc.Node `yaml:"measures"`
	Settings *yamldoc.Node `yaml:"settings"`
	Workload *yamldoc.Node `yaml:"workload"`
	Trace    *yamldoc.Node `yaml:"trace"`
	Failures *yamldoc.Node `yaml:"failures"`
}

// document is a suite that is being read.
type document struct {
	file     string
	suite    *Suite
	fields   suiteFields
	measures []Weighted
}

func (d *document) fault(at yamldoc.Place, format string, args ...any) error {
	return at.Fault(d.file, format, args...)
}

func (d *document) parse(text []byte) error {
	root, err := yamldoc.Read(d.file, text, limits)
	if err != nil {
		return err
	}
	if root == nil {
		return d.fault(yamldoc.Place{}, "empty: want a suite with schema: %s, measures and scenarios", Schema)
	}
	f := &d.fields
	if err := yamldoc.Decode(d.file, yamldoc.Place{}, root, f); err != nil {
		return err
	}
	switch {
	case f.Schema != Schema:
		return d.fault(yamldoc.Place{}.Within("schema", lineOf(root, "schema")), "%q: want %s", yamldoc.Clip(f.Schema), Schema)
	case len(f.Scenarios) == 0 || len(f.Scenarios) > maxScenarios:
		return d.fault(yamldoc.Place{}.Within("scenarios", lineOf(root, "scenarios")), "%d scenarios: want 1 to %d", len(f.Scenarios), maxScenarios)
	}
	d.suite.About = f.About
	if f.Baseline != nil {
		if d.suite.Baseline, err = bundle.Parse(d.file, []byte(f.Baseline.Format())); err != nil {
			return err
		}
	}
	if d.measures, err = d.readMeasures(yamldoc.Place{}.Within("measures", 0), f.Measures, nil); err != nil {
		return err
	}
	for i, n := range f.Scenarios {
		if n == nil {
			return d.fault(yamldoc.Place{Field: "scenarios"}.Item(i, lineOf(root, "scenarios")), "null: want a scenario with name and seeds")
		}
		if err := d.scenario(yamldoc.Place{Field: "scenarios"}.Item(i, n.Line), n); err != nil {
			return err
		}
	}
	return d.checkScenarios(yamldoc.Place{}.Within("scenarios", lineOf(root, "scenarios")))
}

// lineOf is the line of a field, or that of the mapping.
func lineOf(n *yamldoc.Node, name string) int {
	for _, m := range n.Members {
		if m.Name == name {
			return m.Line
		}
	}
	return n.Line
}

// scenario reads a scenario.
func (d *document) scenario(at yamldoc.Place, n *yamldoc.Node) (err error) {
	var f scenarioFields
	if err := yamldoc.Decode(d.file, at, n, &f); err != nil {
		return err
	}
	c := &Scenario{file: d.file, Weight: 1, Smoke: f.Smoke, HeldOut: f.HeldOut}
	d.suite.Scenarios = append(d.suite.Scenarios, c)
	if c.Name, err = d.readName(at, f.Name); err != nil {
		return err
	}
	if f.Weight != nil {
		if c.Weight, err = d.weight(at.Within("weight", f.Weight.Line), f.Weight, false); err != nil {
			return err
		}
	}
	if c.HeldOut && c.Smoke {
		return d.fault(at, "%s is smoke and held_out: want one of them, a held-out scenario has no part in a score", c.Name)
	}
	if c.Seeds, err = d.readSeeds(at, f.Seeds); err != nil {
		return err
	}
	if c.Measures, err = d.readMeasures(at.Within("measures", n.Line), f.Measures, d.measures); err != nil {
		return err
	}
	if !slices.ContainsFunc(c.Measures, func(w Weighted) bool { return w.Weight > 0 }) {
		return d.fault(at, "no measure has a weight: want measures like {slo_attainment: 2, p99_ttft: 1}, for all scenarios or for this one")
	}
	if c.settings, err = d.readSettings(at, d.fields.Settings, f.Settings); err != nil {
		return err
	}
	if c.workload, err = d.inline(at, "workload", "", f.Workload); err != nil {
		return err
	}
	if c.trace, err = d.inlineTrace(at, f.Trace); err != nil {
		return err
	}
	if c.failures, err = d.inline(at, "failures", " (failures)", f.Failures); err != nil {
		return err
	}
	return d.check(at, c)
}

// inline reads a file that stands in a scenario, as its page describes it. The mark tells files
// of one scenario apart.
func (d *document) inline(at yamldoc.Place, name, mark string, n *yamldoc.Node) (f inlineFile, err error) {
	switch {
	case n == nil:
		return f, nil
	case n.Kind != yamldoc.Mapping:
		return f, d.fault(at.Within(name, n.Line), "%s: want a mapping, as docs/%s describes its file", n.Describe(), map[string]string{"workload": "workloads.md", "failures": "failures.md"}[name])
	}
	return inlineFile{d.file + mark, []byte(n.Format()), n.At(1).Format()}, nil
}

// inlineTrace reads a trace that stands in a scenario as a text. Blank lines before it, which readers leave out, put
// it on the lines that it has in the suite. The ending keeps its reader from files beside the suite.
func (d *document) inlineTrace(at yamldoc.Place, n *yamldoc.Node) (f inlineFile, err error) {
	if n == nil {
		return f, nil
	}
	at = at.Within("trace", n.Line)
	if n.Kind != yamldoc.String || strings.TrimSpace(n.Text) == "" {
		return f, d.fault(at, "%s: want the lines of a trace, as docs/formats.md describes its file, after trace: |", n.Describe())
	}
	f = inlineFile{d.file + " (trace.csv)", append(bytes.Repeat([]byte("\n"), n.Line), n.Text...), n.Text}
	if t := traces.Begin(f.path, bytes.NewReader(f.text)); t.IsHeader() || t.IsServeGen() {
		return f, d.fault(at, "of more than one file: a suite stands alone, want a trace of one")
	}
	return f, nil
}

// readName reads the name of a scenario: other programs use it as an id.
func (d *document) readName(at yamldoc.Place, n *yamldoc.Node) (string, error) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
	if n == nil {
		return "", d.fault(at, "has no name, want name: chat")
	}
	if n.Kind != yamldoc.String && n.Kind != yamldoc.Number || n.Text == "" || len(n.Text) > 64 || strings.Trim(n.Text, letters) != "" {
		return "", d.fault(at.Within("name", n.Line), "%s: want 1 to 64 letters, digits, dots, dashes and underscores", n.Describe())
	}
	for _, other := range d.suite.Scenarios {
		if other.Name == n.Text {
			return "", d.fault(at.Within("name", n.Line), "another scenario is called %s too", n.Text)
		}
	}
	return n.Text, nil
}

// weight reads a weight, which may be 0 if zero is true.
func (d *document) weight(at yamldoc.Place, n *yamldoc.Node, zero bool) (float64, error) {
	x, ok := n.Float()
	if ok && x >= 0 && x <= maxWeight && (x >= 1/maxWeight || zero && x == 0) {
		return x, nil
	}
	if zero {
		return 0, d.fault(at, "%s: want a weight from 1e-6 to 1e6, or 0 for a measure that is only reported", n.Describe())
	}
	return 0, d.fault(at, "%s: want a weight from 1e-6 to 1e6", n.Describe())
}

// readSeeds reads the seeds of a scenario.
func (d *document) readSeeds(at yamldoc.Place, n *yamldoc.Node) (seeds []uint64, err error) {
	if n == nil {
		return nil, d.fault(at, "has no seeds, want at least %d, like seeds: [1, 2]", fewestSeeds)
	}
	at = at.Within("seeds", n.Line)
	if n.Kind != yamldoc.List || len(n.Items) < fewestSeeds || len(n.Items) > maxSeeds {
		return nil, d.fault(at, "want a list of %d to %d seeds, like [1, 2]: with one alone a program learns the order of its requests", fewestSeeds, maxSeeds)
	}
	for i, item := range n.Items {
		seed, err := strconv.ParseUint(item.Text, 10, 64)
		if item.Kind != yamldoc.Number || err != nil {
			return nil, d.fault(at.Item(i, item.Line), "%s: want a whole number from 0", item.Describe())
		}
		if slices.Contains(seeds, seed) {
			return nil, d.fault(at.Item(i, item.Line), "%d is given twice, want it once", seed)
		}
		seeds = append(seeds, seed)
	}
	return seeds, nil
}

// readMeasures reads measures with their weights, which come in place of those given before.
func (d *document) readMeasures(at yamldoc.Place, n *yamldoc.Node, before []Weighted) ([]Weighted, error) {
	list := slices.Clone(before)
	if n == nil {
		return list, nil
	}
	if n.Kind != yamldoc.Mapping {
		return nil, d.fault(yamldoc.Place{Field: at.Field, Line: n.Line}, "%s: want measures with weights, like {slo_attainment: 2, p99_ttft: 1}", n.Describe())
	}
	for _, m := range n.Members {
		in := at.Within(m.Name, m.Line)
		w, err := d.readMeasure(in, &m)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(list, func(o Weighted) bool { return o.key() == w.key() }); i >= 0 {
			list[i] = w
		} else {
			list = append(list, w)
		}
	}
	return list, nil
}

func (d *document) readMeasure(at yamldoc.Place, m *yamldoc.Member) (w Weighted, err error) {
	class, tenant, name, scoped := metrics.CutClass(m.Name)
	w.Class, w.Tenant = class, tenant
	if scoped && w.ofAll() {
		return w, d.fault(at, "names no class and no tenant: want p99_ttft, batch:p99_ttft or tenant/gold:p99_ttft")
	}
	switch w.Measure, err = metrics.FindMeasure(name); {
	case err != nil && m.Value.Kind != yamldoc.Number: // {batch:p99_ttft: 1} without quotes
		return w, d.fault(at, "%v: %s: want a measure with its weight, one of a class in quotes, like \"batch:p99_ttft\": 1", err, m.Value.Describe())
	case err != nil:
		return w, d.fault(at, "%v", err)
	}
	if w.key() != m.Name {
		return w, d.fault(at, "another name of %s: want that", w.key())
	}
	if scoped && !ofRequests(&w.Measure) {
		return w, d.fault(at, "%s is of whole runs, not of single requests: want it of all, or one of %s", w.Name, namesOf(ofRequests))
	}
	if w.Weight, err = d.weight(at, m.Value, true); err != nil {
		return w, err
	}
	if w.Weight > 0 && !mayCount(&w.Measure) {
		return w, d.fault(at, "leaves out requests that did not complete, so that a policy wins by refusing work: want weight 0, to report it, or one of %s", namesOf(mayCount))
	}
	return w, nil
}

// checkScenarios checks the scenarios together.
func (d *document) checkScenarios(at yamldoc.Place) error {
	seeds := map[uint64]*Scenario{} // of scored scenarios
	for _, c := range d.suite.Scenarios {
		if !c.HeldOut {
			for _, seed := range c.Seeds {
				seeds[seed] = c
			}
		}
	}
	if len(seeds) == 0 {
		return d.fault(at, "all are held out: want one that is not")
	}
	for _, c := range d.suite.Scenarios {
		for _, seed := range c.Seeds {
			if other := seeds[seed]; c.HeldOut && other != nil {
				return d.fault(at, "%s is held out and has seed %d, as %s has: want other seeds, or what is learned of one is tested with the same", c.Name, seed, other.Name)
			}
		}
	}
	return nil
}

// warnings says what is doubtful about the scored scenarios of a suite that the options choose.
func (s *Suite) warnings(list []*Scenario) (warnings []string) {
	for _, c := range list {
		if !slices.ContainsFunc(c.Measures, func(w Weighted) bool { return w.Weight > 0 && w.ofAll() && slices.Contains(ofAllRequests, w.Name) }) {
			warnings = append(warnings, fmt.Sprintf("scenario %s weighs none of %s of all requests: a policy may win by refusing work", c.Name, strings.Join(ofAllRequests, ", ")))
		}
		for _, text := range c.unused {
			warnings = append(warnings, "scenario "+c.Name+": "+text)
		}
	}
	return warnings
}
