package evaluate

import (
	"embed"
	"strings"
	"sync"

	"blis/suggest"
)

//go:embed suites/*.yaml
var suiteFiles embed.FS

// Default is the suite that is meant where none is named.
const Default = "standard"

// Names lists the shipped suites by name.
func Names() []string {
	files, err := suiteFiles.ReadDir("suites")
	if err != nil {
		panic("evaluate: " + err.Error()) // they are part of the program
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".yaml"))
	}
	return names
}

// Text is the file of a shipped suite, to begin one's own with; nil if there is none of that
// name.
func Text(name string) []byte {
	text, err := suiteFiles.ReadFile("suites/" + name + ".yaml")
	if err != nil {
		return nil
	}
	return text
}

// shipped are the suites that were asked for.
var shipped struct {
	sync.Mutex
	suites map[string]*Suite
}

// Shipped returns the suite of that name, which is part of the program; no name is Default. An
// unknown name is an *setup.InputError.
func Shipped(name string) (*Suite, error) {
	if name == "" {
		name = Default
	}
	text := Text(name)
	if text == nil {
		return nil, inputErrorf("no suite is called %q%s (there are: %s)", name, suggest.Hint(name, Names()), strings.Join(Names(), ", "))
	}
	shipped.Lock()
	defer shipped.Unlock()
	if s := shipped.suites[name]; s != nil {
		return s, nil
	}
	s, err := Parse(name+".yaml", text)
	if err != nil {
		return nil, err
	}
	if shipped.suites == nil {
		shipped.suites = map[string]*Suite{}
	}
	shipped.suites[name] = s
	return s, nil
}
