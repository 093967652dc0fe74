package latency

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
