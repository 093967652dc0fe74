package spec

import (
	"embed"
	"fmt"
	"path"
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
