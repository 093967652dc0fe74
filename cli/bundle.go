package cli

import (
	"slices"

	"github.com/alecthomas/kong"

	"blis/bundle"
	"blis/input"
	"blis/setup"
)

// policySettings is implemented by commands that run simulations. applyPolicies
// makes the bundles that they run with.
type policySettings interface {
	applyPolicies(command *kong.Context, l *settingSources) error
}

// applyPolicySettings calls applyPolicies of the selected command, if it has
// one.
func applyPolicySettings(command *kong.Context, l *settingSources) error {
	selected := command.Selected()
	if selected == nil {
		return nil
	}
	owner, ok := selected.Target.Addr().Interface().(policySettings)
	if !ok {
		return l.refusePoolFlags()
	}
	return owner.applyPolicies(command, l)
}

// applyPolicies makes one bundle of all settings about policies. It starts with
// the bundle of --policy-config, which ranks above the settings of --config, or
// with the one of the setting policies. Settings of a lower rank than the start
// are ignored.
func (s *settings) applyPolicies(command *kong.Context, l *settingSources) error {
	if err := s.takeWorkload(command, l); err != nil {
		return err
	}
	if err := s.takePools(command, l); err != nil {
		return err
	}
	lowest, err := s.baseBundle(command, l)
	if err != nil {
		return err
	}
	return s.edit(l.policyFlags(command), lowest)
}

// edit changes the bundle by flags, without those of an origin below lowest, and by
// the arguments of --set.
func (s *settings) edit(flags []setup.Edit, lowest setup.Origin) error {
	edits := slices.DeleteFunc(slices.Clone(flags), func(e setup.Edit) bool { return e.Origin < lowest })
	for _, argument := range s.Set {
		edits = append(edits, setup.Edit{Text: argument, Origin: setup.FromSet, Where: "--set"})
	}
	if err := setup.ApplyEdits(&s.Policies, edits); err != nil {
		return inputError(err.Error())
	}
	return s.UseBundle(s.Policies)
}

// policyFlags lists the flags for fields of the bundle that were given.
func (l *settingSources) policyFlags(command *kong.Context) []setup.Edit {
	var list []setup.Edit
	for _, name := range setup.BundleSettings() {
		for _, p := range command.Path {
			if p.Flag == nil || p.Flag.Name != name {
				continue
			}
			from := l.origin(p)
			list = append(list, setup.Edit{Flag: name, Text: setup.Text(p.Flag.Target.Interface()), Origin: from, Where: l.location(name, from)})
			break
		}
	}
	return list
}

// location names the place where a flag was set: file and line, variable, or
// flag.
func (l *settingSources) location(name string, from setup.Origin) string {
	switch from {
	case setup.FromFile:
		return l.file.settings[name].where + ": " + name
	case setup.FromEnvironment:
		return variable(name)
	}
	return "--" + name
}

// baseBundle reads the bundle to start with, and returns the lowest origin of
// flags that count.
func (s *settings) baseBundle(command *kong.Context, l *settingSources) (setup.Origin, error) {
	inline := setup.Origin(0)
	for _, p := range command.Path {
		if p.Flag != nil && p.Flag.Name == "policies" {
			inline = l.origin(p)
		}
	}
	switch {
	case s.PolicyConfig == "" && inline == 0:
		return setup.FromFile, nil
	case s.PolicyConfig == "" && inline == setup.FromFile:
		// As a setting the bundle was parsed without its place. Its text has the line
		// numbers of the file: parsed with the name of the file, its errors name both.
		in := l.file.settings["policies"]
		bundle, err := bundle.Parse(in.file, []byte(in.text))
		if err != nil {
			return 0, inputError(err.Error())
		}
		s.Policies = bundle
		return inline, nil
	case s.PolicyConfig == "":
		return inline, nil
	case inline == setup.FromFlag:
		return 0, inputError("--policy-config and --policies are both bundles: want one of them")
	}
	text, err := input.ReadFile(s.PolicyConfig, input.Bundle)
	if err != nil {
		return 0, inputError("--policy-config: " + pathProblem(err))
	}
	s.Policies, err = parseBundle(s.PolicyConfig, text)
	return setup.FromEnvironment, err
}

// origin is where the value of a flag that was given comes from.
func (l *settingSources) origin(p *kong.Path) setup.Origin {
	switch {
	case !p.Resolved:
		return setup.FromFlag
	case l.variables[p.Flag.Name]:
		return setup.FromEnvironment
	}
	return setup.FromFile
}
