package spec

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"blis/suggest"
	"blis/yamldoc"
)

//go:embed scenarios/*.yaml
var scenarioFiles embed.FS

// Scenario is a built-in specification.
type Scenario struct {
	Name  string
	About string // one line, the first of its file
}

// Scenarios lists the built-in scenarios by name.
func Scenarios() []Scenario {
	files, err := scenarioFiles.ReadDir("scenarios")
	if err != nil {
		panic("spec: " + err.Error()) // they are part of the program
	}
	list := make([]Scenario, len(files))
	for i, f := range files {
		name := strings.TrimSuffix(f.Name(), ".yaml")
		first, _, _ := strings.Cut(string(ScenarioText(name)), "\n")
		list[i] = Scenario{name, strings.TrimPrefix(first, "# ")}
	}
	return list
}

// ScenarioText is the file of a built-in scenario, nil when there is none of
// that name.
func ScenarioText(name string) []byte {
	text, err := scenarioFiles.ReadFile(path.Join("scenarios", name+".yaml"))
	if err != nil {
		return nil
	}
	return text
}

// withScenario is a specification on the base of a built-in scenario, if it names
// one: its own fields at the top replace the fields of the scenario. What is left
// of the scenario counts as written where it is named.
func withScenario(f *faults, root *yamldoc.Node) *yamldoc.Node {
	o := f.mapping(root)
	name := o.text("scenario", "the name of a built-in scenario")
	if !name.set || !f.ok() {
		return root
	}
	text := ScenarioText(name.value)
	if text == nil {
		_, err := OpenScenario(name.value)
		f.fail(name.place, "%v", err)
		return root
	}
	base := document(&faults{file: name.value}, text)
	merged := *root
	for _, m := range base.Members {
		if o.has(m.Name) || o.replaces(m.Name) {
			continue
		}
		merged.Members = append(slices.Clip(merged.Members), yamldoc.Member{Name: m.Name, Line: name.Line, Value: m.Value.At(name.Line)})
	}
	return &merged
}

// replaces reports whether a field that is given stands for another.
func (o *object) replaces(field string) bool {
	for _, ways := range [][]string{{"aggregate_rate", "utilization"}, {"clients", "cohorts", "inference_perf", "servegen_data"}} {
		if slices.Contains(ways, field) && slices.ContainsFunc(ways, o.has) {
			return true
		}
	}
	return false
}

// mapping reads fields of a mapping before all of them are known.
func (f *faults) mapping(n *yamldoc.Node) object {
	if n == nil {
		return object{faults: f}
	}
	return object{f, place{Line: n.Line}, n.Members}
}

// OpenScenario is the specification of a built-in scenario. Of an unknown name
// the error says the nearest.
func OpenScenario(name string) (*Spec, error) {
	var names []string
	for _, s := range Scenarios() {
		if s.Name == name {
			return Parse("scenario "+name, ScenarioText(name))
		}
		names = append(names, s.Name)
	}
	return nil, fmt.Errorf("unknown scenario %q%s (there are: %s)", yamldoc.Clip(name), suggest.Hint(name, names), strings.Join(names, ", "))
}
