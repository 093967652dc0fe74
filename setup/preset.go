package setup

import (
	"strings"

	"blis/suggest"
	"blis/workload/spec"
)

// preset is a value of --workload that stands for lengths, in tokens: the lengths of
// the public simulator's workload of that name.
type preset struct {
	name                 string
	prompt, promptStdev  float64
	promptMin, promptMax int32
	output, outputStdev  float64
	outputMin, outputMax int32
}

var presets = []preset{
	{"chatbot", 256, 100, 2, 800, 256, 100, 1, 1024},
	{"contentgen", 1024, 150, 10, 2048, 1024, 200, 10, 2048},
	{"summarization", 4096, 500, 100, 8192, 512, 150, 10, 2048},
	{"multidoc", 10240, 1200, 500, 20480, 1536, 300, 50, 4096},
}

// The other values of --workload: prompts drawn as the flags say, which is so
// without it too, and a trace.
const (
	distributionWorkload = "distribution"
	tracesWorkload       = "traces"
)

// WorkloadNames returns the names that UseWorkload takes.
func WorkloadNames() []string {
	names := []string{distributionWorkload, tracesWorkload}
	for i := range presets {
		names = append(names, presets[i].name)
	}
	return names
}

// UseWorkload sets what --workload NAME stands for, except settings that keep their
// values: distribution is what the settings say anyway, traces wants a trace, and the
// others are lengths. Its errors are an *InputError.
func (c *Config) UseWorkload(name string, keeps func(setting string) bool) error {
	if name == tracesWorkload {
		if c.Trace == "" {
			return inputErrorf("--workload: traces: no file is given, want --trace FILE")
		}
		return nil
	}
	for _, other := range []struct{ value, flag string }{{c.Trace, "trace"}, {c.WorkloadSpec, "workload-spec"}, {c.Scenario, "scenario"}} {
		if other.value != "" {
			return inputErrorf("--workload %s and --%s: each says what arrives: want one of them", name, other.flag)
		}
	}
	if name == distributionWorkload {
		return nil
	}
	for i := range presets {
		if presets[i].name == name {
			presets[i].enter(c, keeps)
			return nil
		}
	}
	if spec.ScenarioText(name) != nil {
		return inputErrorf("--workload: %s: a scenario, want --scenario %s", name, name)
	}
	names := WorkloadNames()
	return inputErrorf("--workload: unknown workload %q%s (there are: %s)", name, suggest.Hint(name, names), strings.Join(names, ", "))
}

// enter sets the lengths of a configuration, except settings that keep their values.
func (p *preset) enter(c *Config, keeps func(setting string) bool) {
	for _, f := range []struct {
		setting string
		set     func()
	}{
		{"prompt-tokens", func() { c.PromptTokens = p.prompt }},
		{"prompt-tokens-stdev", func() { c.PromptTokensStdev = p.promptStdev }},
		{"prompt-tokens-min", func() { c.PromptTokensMin = p.promptMin }},
		{"prompt-tokens-max", func() { c.PromptTokensMax = p.promptMax }},
		{"output-tokens", func() { c.OutputTokens = p.output }},
		{"output-tokens-stdev", func() { c.OutputTokensStdev = p.outputStdev }},
		{"output-tokens-min", func() { c.OutputTokensMin = p.outputMin }},
		{"output-tokens-max", func() { c.OutputTokensMax = p.outputMax }},
	} {
		if !keeps(f.setting) {
			f.set()
		}
	}
}
