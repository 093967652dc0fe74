package latency

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The embedded lists are cut as text; decoded whole they must say the same.
func TestEntriesOfEmbeddedListsAreTheWholeFile(t *testing.T) {
	models, err := parseModels(modelsYAML, "models.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(models, all(builtinModels())); d != "" {
		t.Errorf("models (-whole +entries):\n%s", d)
	}
	gpus, err := ParseHardware(hardwareYAML, "hardware.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(gpus, all(builtinHardware())); d != "" {
		t.Errorf("GPUs (-whole +entries):\n%s", d)
	}
	if len(models) < 13 || len(gpus) < 6 {
		t.Errorf("%d models, %d GPUs", len(models), len(gpus))
	}
}

// The names that an entry shows without being decoded are those it has, and
// each leads to its own value and to no other entry's.
func TestEmbeddedNamesFindTheirValues(t *testing.T) {
	checkNames(t, builtinModels(), FindModel, func(s ModelSpec) (string, []string) { return s.Name, s.Aliases })
	checkNames(t, builtinHardware(), func(name string) (Hardware, error) { return FindHardware(name) },
		func(g Hardware) (string, []string) { return g.Name, g.Aliases })
	for _, s := range AllModels() {
		if got, err := FindModel(strings.ToUpper(baseName(s.Name))); err != nil || got.Name != s.Name {
			t.Errorf("%s by its base name: %s, %v", s.Name, got.Name, err)
		}
	}
}

func checkNames[T any](t *testing.T, list []embedded[T], look func(string) (T, error), named func(T) (string, []string)) {
	t.Helper()
	for _, e := range list {
		var has []string
		for _, v := range e.values() {
			name, aliases := named(v)
			has = append(append(has, name), aliases...)
			for _, n := range append([]string{name}, aliases...) {
				if got, err := look(strings.ToLower(n)); err != nil || cmp.Diff(v, got) != "" {
					t.Errorf("%q finds %+v, %v, want %s", n, got, err, name)
				}
			}
		}
		shown := slices.Clone(e.names)
		slices.Sort(has)
		slices.Sort(shown)
		if d := cmp.Diff(has, shown); d != "" {
			t.Errorf("names (-decoded +shown):\n%s", d)
		}
	}
}

// A run that names one model and one GPU decodes these and nothing else.
func TestLookingUpDecodesOneEntry(t *testing.T) {
	decoded := 0
	list := embeddedList([]byte("# about\n\nthings:\n  - ids: [o/One, o/Other]\n    aliases: [first]\n    size: 1\n  - ids: [o/Two]\n    size: 2\n"), "f",
		func(data []byte, file string) ([]string, error) { decoded++; return []string{string(data)}, nil })
	is := func(text *string, name string) bool { return strings.Contains(*text, name) }
	for _, name := range []string{"Other", "first", "o/One"} {
		if got, ok := find(list, name, is); !ok || got != "things:\n  - ids: [o/One, o/Other]\n    aliases: [first]\n    size: 1\n" {
			t.Errorf("%s: %v, %q", name, ok, got)
		}
	}
	if _, ok := find(list, "Three", is); ok || decoded != 1 {
		t.Errorf("unknown name found: %v; decoded %d entries, want 1", ok, decoded)
	}
}
