package trace

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write summaries into testdata/traces, for a person to read")

// golden compares with a file of testdata/traces, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "../testdata/traces/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not\n%s\nbut\n%s", path, want, got)
	}
}

// busy is the trace of the golden files.
var busy = shape{requests: 600, instances: 4, counterfactual: true, detailed: true, scaling: true, cut: true}

func TestSummariesRead(t *testing.T) {
	s := summarized(t, synthetic(42, busy), SummaryOptions{})
	for _, strategy := range Strategies() {
		golden(t, fmt.Sprintf("summary_%s.txt", strategy), reported(t, s, strategy, DefaultSummaryTokens).Text)
	}
}

// TestLittleToSay has the traces that lack something.
func TestLittleToSay(t *testing.T) {
	var b strings.Builder
	for _, c := range []struct {
		name    string
		records []Record
	}{
		{"header only", synthetic(1, shape{instances: 2})},
		{"no outcomes", without(synthetic(2, shape{requests: 20, instances: 2, counterfactual: true}), "outcome")},
		{"no counterfactuals, no details", synthetic(3, shape{requests: 20, instances: 1})},
		{"outcomes alone", without(synthetic(4, shape{requests: 20, instances: 2}), "admission", "priority", "routing")},
	} {
		for _, strategy := range Strategies() {
			fmt.Fprintf(&b, "---- %s, %s\n%s\n", c.name, strategy, reported(t, summarized(t, c.records, SummaryOptions{}), strategy, 400).Text)
		}
	}
	golden(t, "summary_little.txt", b.String())
}

// without are the records of other kinds.
func without(records []Record, kinds ...string) (rest []Record) {
	for _, r := range records {
		if !strings.Contains(strings.Join(kinds, " "), r.Kind()) {
			rest = append(rest, r)
		}
	}
	return rest
}

// TestSummaryKeys holds the JSON form: each key in its place.
func TestSummaryKeys(t *testing.T) {
	text, err := json.Marshal(reported(t, summarized(t, synthetic(42, busy), SummaryOptions{}), SummaryPattern, 500))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	seen := map[string]bool{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	var walk func(at string)
	walk = func(at string) {
		token, err := decoder.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch token {
		case json.Delim('{'):
			for decoder.More() {
				key, err := decoder.Token()
				if err != nil {
					t.Fatal(err)
				}
				path := fmt.Sprintf("%s.%s", at, key)
				if !seen[path] {
					seen[path] = true
					lines = append(lines, path)
				}
				walk(path)
			}
		case json.Delim('['):
			for decoder.More() {
				walk(at + "[]")
			}
		default:
			return
		}
		if _, err := decoder.Token(); err != nil { // what closes it
			t.Fatal(err)
		}
	}
	walk("")
	golden(t, "summary_keys.txt", strings.Join(lines, "\n")+"\n")
}
