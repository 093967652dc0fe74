package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"blis/report/plaintext"
)

// Lists fit the terminal: row 37 of what new users ran into.
func TestListsFitTheWidth(t *testing.T) {
	for _, command := range []string{"policies", "models", "models sets", "hardware", "workload scenarios"} {
		for line := range strings.Lines(done(t, strings.Fields(command)...).out) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > plaintext.Narrowest {
				t.Errorf("%s: %d columns: %s", command, n, line)
			}
		}
	}
}
