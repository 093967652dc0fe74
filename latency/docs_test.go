package latency

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The list of features and the example in the documentation are those of the
// program.
func TestDocumentationOfPhysics(t *testing.T) {
	data, err := os.ReadFile("../docs/latency.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	step, queueing, _ := strings.Cut(text, "### Queueing")
	for i, name := range BetaNames {
		if row := fmt.Sprintf("\n| %d | `%s` | ", i+1, name); !strings.Contains(step, row) {
			t.Errorf("no row%q for β", row)
		}
	}
	for i, name := range AlphaNames {
		if row := fmt.Sprintf("\n| %d | `%s` | ", i+1, name); !strings.Contains(queueing, row) {
			t.Errorf("no row%q for α", row)
		}
	}
	_, example, _ := strings.Cut(text, "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	if _, err := ParsePhysicsSet([]byte(example), "docs/latency.md"); err != nil {
		t.Error(err)
	}
}
