package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"blis/latency"
	"blis/report/plaintext"
)

// Every built-in model on every GPU: a table, within the width, no odd number.
func TestModelsShownFitAHundredColumns(t *testing.T) {
	for _, s := range latency.AllModels() {
		for _, g := range latency.AllHardware() {
			shown, err := NewModel(&latency.Deployment{Model: &s, GPU: &g, TP: 1}, latency.DefaultMemory())
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			if err := shown.Text(&text, plaintext.Style{}); err != nil {
				t.Fatal(err)
			}
			out := text.String()
			for line := range strings.Lines(out) {
				line = strings.TrimSuffix(line, "\n")
				if n := utf8.RuneCountInString(line); n > plaintext.Narrowest && strings.Contains(line[plaintext.LabelWidth:], " ") {
					t.Errorf("%s on %s: %d columns: %s", s.Name, g.Name, n, line)
				}
				if strings.Contains(line, "NaN") || strings.Contains(line, "Inf") || strings.Contains(line, "%!") || strings.HasSuffix(line, " ") {
					t.Errorf("%s on %s: %q", s.Name, g.Name, line)
				}
			}
			if !strings.Contains(out, "\n  TP ") || strings.HasSuffix(out, "\n\n") {
				t.Errorf("%s on %s:\n%s", s.Name, g.Name, out)
			}
		}
	}
}
