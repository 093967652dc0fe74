package cli

import (
	"strings"

	"github.com/alecthomas/kong"

	"blis/actors"
	"blis/setup"
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

// takeWorkload notes whether a seed was given, and carries out --workload.
// Lengths that were given at the same origin, or at a higher one, win over the
// preset.
func (s *settings) takeWorkload(command *kong.Context, l *settingSources) error {
	s.takeSeed(command)
	if s.WorkloadKind == "" {
		return nil
	}
	given := map[string]setup.Origin{}
	for _, p := range command.Path {
		if p.Flag != nil {
			given[p.Flag.Name] = max(given[p.Flag.Name], l.origin(p))
		}
	}
	if s.WorkloadKind == tracesWorkload {
		if s.Trace == "" {
			return inputError("--workload: traces: no file is given, want --trace FILE")
		}
		return nil
	}
	for _, other := range []struct{ value, flag string }{{s.Trace, "trace"}, {s.WorkloadSpec, "workload-spec"}, {s.Scenario, "scenario"}} {
		if other.value != "" {
			return inputErrorf("--workload %s and --%s: each says what arrives: want one of them", s.WorkloadKind, other.flag)
		}
	}
	if s.WorkloadKind == distributionWorkload {
		return nil
	}
	names := []string{distributionWorkload, tracesWorkload}
	for i := range presets {
		if presets[i].name == s.WorkloadKind {
			presets[i].enter(&s.Config, func(flag string) bool { return given[flag] >= given["workload"] })
			return nil
		}
		names = append(names, presets[i].name)
	}
	if spec.ScenarioText(s.WorkloadKind) != nil {
		return inputErrorf("--workload: %s: a scenario, want --scenario %s", s.WorkloadKind, s.WorkloadKind)
	}
	return inputErrorf("--workload: unknown workload %q%s (there are: %s)", s.WorkloadKind, suggest.Hint(s.WorkloadKind, names), strings.Join(names, ", "))
}

// enter sets the lengths of a configuration, except flags that keep their values.
func (p *preset) enter(c *actors.Config, keeps func(flag string) bool) {
	for _, f := range []struct {
		flag string
		set  func()
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
		if !keeps(f.flag) {
			f.set()
		}
	}
}
