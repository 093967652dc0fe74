package latency

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
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

var update = flag.Bool("update", false, "write data/physics.json anew")

// TestShippedSetsAreTheFiles: the sets that come with the program are those of
// data/physics, checked as a user's file is, in order of name.
func TestShippedSetsAreTheFiles(t *testing.T) {
	files, err := filepath.Glob("data/physics/*.yaml") // sorted
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var sets []*PhysicsSet
	var shipped []shippedSet
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		set, err := ParsePhysicsSet(data, file)
		if err != nil {
			t.Fatal(err)
		}
		if set.Name+".yaml" != filepath.Base(file) {
			t.Errorf("%s: the set is called %s", file, set.Name)
		}
		sets = append(sets, set)
		shipped = append(shipped, shippedSet{*set, set.TrainedOn.AsyncScheduling, set.TrainedOn.ChunkedPrefill})
	}
	text, err := json.MarshalIndent(shipped, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if text = append(text, '\n'); *update {
		if err := os.WriteFile("data/physics.json", text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(text, physicsSets) {
		t.Error("data/physics.json is not what the files say: go test ./latency -run ShippedSets -update")
	}
	if d := cmp.Diff(sets, PhysicsSets()); d != "" {
		t.Error(d)
	}
}

// Whoever changes shipped data changes its date: blis version and every result
// carry it.
func TestDataDateIsThatOfTheData(t *testing.T) {
	if _, err := time.Parse(time.DateOnly, DataDate); err != nil {
		t.Error(err)
	}
	sum := xxhash.New()
	for _, pattern := range []string{"data/*.yaml", "data/physics/*.yaml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatal(pattern, err)
		}
		for _, path := range paths { // Glob sorts
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(sum, path, len(text))
			sum.Write(text)
		}
	}
	if got := fmt.Sprintf("%016x", sum.Sum64()); got != DataSum {
		t.Errorf("data/ changed: set DataDate (%s) to the day of the change, and DataSum to %q", DataDate, got)
	}
}
