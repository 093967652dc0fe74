package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/alecthomas/kong"

	"blis/actors"
	"blis/setup"
)

// settings are the flags that commands with runs share: the settings of a run,
// and where else they may come from.
type settings struct {
	actors.Config

	PolicyConfig string   `type:"path" placeholder:"FILE" group:"Policies" help:"Bundle file with the policies and their parameters (YAML), or a program in Starlark (.star); in place of policies."`
	Set          []string `sep:"none" placeholder:"PATH=VALUE" group:"Policies" help:"Change one field of the bundle, like routing.params.queue-depth=3. Can be given several times."`

	WorkloadKind string `name:"workload" placeholder:"NAME" group:"Workload" help:"As the public simulator takes it: distribution (what the flags say; the default), traces (with --trace), or the lengths of chatbot, contentgen, summarization or multidoc, of which single flags change one."`

	File  string `name:"config" type:"path" placeholder:"FILE" group:"Settings" help:"YAML file with settings, by the names of their flags."`
	Print bool   `name:"print-config" group:"Settings" help:"Print the configuration with everything that is derived, as --config reads it, and stop."`
}

// takeSeed notes whether anybody gave a seed: on the command line, in the
// environment or in the file of settings.
func (s *settings) takeSeed(command *kong.Context) {
	s.SeedGiven = slices.ContainsFunc(command.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == "seed" })
}

// printConfig prints the effective configuration. What it prints is YAML whose
// values are JSON: one form for all types, no quoting rules.
func (s *settings) printConfig(w io.Writer) error {
	effective, _, err := actors.Check(s.Config)
	if err != nil {
		return err
	}
	return writeConfig(w, &effective)
}

// writeConfig writes the settings of a configuration.
func writeConfig(w io.Writer, c *actors.Config) error {
	for _, e := range entries(c) {
		value, err := json.Marshal(e.value)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n", e.name, value); err != nil {
			return err
		}
	}
	return nil
}

// entry is one setting of a configuration.
type entry struct {
	name, group string
	value       any
}

// entries lists the settings that make a run, in their order.
func entries(cfg *actors.Config) []entry {
	var list []entry
	for s := range cfg.Settings() {
		list = append(list, entry{s.Name, s.Tag.Get("group"), s.Value.Interface()})
	}
	return list
}

// decodePath takes a path as it was given: made absolute it would carry the
// machine into results.
func decodePath(ctx *kong.DecodeContext, target reflect.Value) error {
	var path string
	if err := ctx.Scan.PopValueInto("file", &path); err != nil {
		return err
	}
	target.SetString(path)
	return nil
}

// takeWorkload notes whether a seed was given, and carries out --workload.
// Lengths that were given at the same origin, or at a higher one, win over those of
// the workload.
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
	return s.UseWorkload(s.WorkloadKind, func(setting string) bool { return given[setting] >= given["workload"] })
}
