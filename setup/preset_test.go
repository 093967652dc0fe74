package setup

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// A preset is the lengths of eight settings, and docs/workloads.md lists them.
func TestPresetsAreLengths(t *testing.T) {
	docs, err := os.ReadFile("../docs/workloads.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range presets {
		got, want := DefaultConfig(), DefaultConfig()
		if err := got.UseWorkload(p.name, func(setting string) bool { return setting == "output-tokens-max" }); err != nil {
			t.Fatal(err)
		}
		want.PromptTokens, want.PromptTokensStdev, want.PromptTokensMin, want.PromptTokensMax = p.prompt, p.promptStdev, p.promptMin, p.promptMax
		want.OutputTokens, want.OutputTokensStdev, want.OutputTokensMin = p.output, p.outputStdev, p.outputMin
		for s := range got.Settings() {
			if w := settingNamed(&want, s.Name); fmt.Sprint(s.Value) != w {
				t.Errorf("%s: %s is %v, want %s", p.name, s.Name, s.Value, w)
			}
		}
		line := fmt.Sprintf("\n| `%s` | %v ± %v in [%d, %d] | %v ± %v in [%d, %d] |\n", p.name, p.prompt, p.promptStdev, p.promptMin, p.promptMax, p.output, p.outputStdev, p.outputMin, p.outputMax)
		if !strings.Contains(string(docs), line) {
			t.Errorf("docs/workloads.md has no line %s", strings.TrimSpace(line))
		}
	}
}

// settingNamed returns the value of a setting as text.
func settingNamed(c *Config, name string) string {
	for s := range c.Settings() {
		if s.Name == name {
			return fmt.Sprint(s.Value)
		}
	}
	return ""
}
