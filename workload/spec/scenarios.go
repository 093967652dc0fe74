package spec

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"blis/suggest"
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
func withScenario(f *faults, root *node) *node {
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
	base := readDocument(&faults{file: name.value}, text)
	merged := *root
	for _, m := range base.members {
		if o.has(m.name) || o.replaces(m.name) {
			continue
		}
		merged.members = append(slices.Clip(merged.members), member{m.name, name.line, m.value.at(name.line)})
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

// at is a value with all that is in it on one line.
func (n *node) at(line int) *node {
	v := *n
	v.line, v.items, v.members = line, nil, nil
	for _, item := range n.items {
		v.items = append(v.items, item.at(line))
	}
	for _, m := range n.members {
		v.members = append(v.members, member{m.name, line, m.value.at(line)})
	}
	return &v
}

// mapping reads fields of a mapping before all of them are known.
func (f *faults) mapping(n *node) object {
	if n == nil {
		return object{faults: f}
	}
	return object{f, place{line: n.line}, n.members}
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
	return nil, fmt.Errorf("unknown scenario %q%s (there are: %s)", clip(name), suggest.Hint(name, names), strings.Join(names, ", "))
}
