package cli

import (
	"errors"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"blis/actors"
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
		return nil
	}
	return owner.applyPolicies(command, l)
}

// applyPolicies makes one bundle of all settings about policies. It starts with
// the bundle of --policy-config, which ranks above the settings of --config, or
// with the one of the setting policies. Settings of a lower rank than the start
// are ignored. Then the flags are applied to the bundle and set back to their
// defaults.
func (s *settings) applyPolicies(command *kong.Context, l *settingSources) error {
	if err := s.takeWorkload(command, l); err != nil {
		return err
	}
	given := l.policyFlags(command)
	least, err := s.baseBundle(command, l)
	if err != nil {
		return err
	}
	return s.applyFlags(given, least)
}

// applyFlags applies single flags to the bundle: first flags that choose a
// policy; then parameters from the file, the environment, --set and the command
// line, in this order. Flags with an origin below least are ignored.
func (s *settings) applyFlags(given []givenFlag, least origin) error {
	chosen := map[string]origin{} // by whom the policy of a kind was chosen
	for _, g := range given {
		if g.from < least || !g.choosesPolicy() {
			continue
		}
		chosen[g.kind()] = g.from
		if err := s.setField(g); err != nil {
			return err
		}
	}
	for _, from := range []origin{fromFile, fromEnvironment, fromSet, fromFlag} {
		if from == fromSet {
			if err := s.applySets(); err != nil {
				return err
			}
		}
		for _, g := range given {
			if g.from != from || g.from < least || g.choosesPolicy() && s.Policies.Get(g.path) == g.text {
				continue
			}
			err := s.setField(g)
			// A file may have all settings, also settings that its policies do not
			// have; and a higher origin may have chosen another policy.
			if err != nil && (from != fromFile || g.text != g.usual) && chosen[g.kind()] <= from {
				return err
			}
		}
	}
	return nil
}

// origin is where a value comes from.
type origin int

const (
	fromFile origin = iota + 1
	fromEnvironment
	fromSet
	fromFlag
)

// givenFlag is a flag for a field of the bundle that was given.
type givenFlag struct {
	name, path  string
	text, usual string // its value and its default
	from        origin
	where       string // for errors
}

func (g *givenFlag) choosesPolicy() bool { return strings.HasSuffix(g.path, ".type") }

// kind is what the policy decides about.
func (g *givenFlag) kind() string {
	kind, _, _ := strings.Cut(g.path, ".")
	return kind
}

// policyFlags takes the flags for fields of the bundle that were given, and puts
// them back to their defaults.
func (l *settingSources) policyFlags(command *kong.Context) []givenFlag {
	usual := actors.DefaultConfig()
	var list []givenFlag
	for _, name := range setup.PolicyFlags() {
		for _, p := range command.Path {
			if p.Flag == nil || p.Flag.Name != name {
				continue
			}
			path, _ := setup.PolicyPath(name)
			usually := settingOf(&usual, name)
			from := l.origin(p)
			list = append(list, givenFlag{name, path, setup.Text(p.Flag.Target.Interface()), setup.Text(usually), from, l.location(name, from)})
			p.Flag.Target.Set(reflect.ValueOf(usually))
			break
		}
	}
	return list
}

// location names the place where a flag was set: file and line, variable, or
// flag.
func (l *settingSources) location(name string, from origin) string {
	switch from {
	case fromFile:
		return l.file[name].where + ": " + name
	case fromEnvironment:
		return variable(name)
	}
	return "--" + name
}

// settingOf is the value of a setting in a configuration.
func settingOf(c *actors.Config, name string) any {
	for _, e := range entries(c) {
		if e.name == name {
			return e.value
		}
	}
	return nil
}

// baseBundle reads the bundle to start with, and returns the lowest origin of
// flags that count.
func (s *settings) baseBundle(command *kong.Context, l *settingSources) (origin, error) {
	inline := origin(0)
	for _, p := range command.Path {
		if p.Flag != nil && p.Flag.Name == "policies" {
			inline = l.origin(p)
		}
	}
	switch {
	case s.PolicyConfig == "" && inline == 0:
		return fromFile, nil
	case s.PolicyConfig == "" && inline == fromFile: // read again, with its place
		in := l.file["policies"]
		bundle, err := bundle.Parse(in.file, []byte(in.text))
		if err != nil {
			return 0, &inputError{err.Error()}
		}
		s.Policies = bundle
		return inline, nil
	case s.PolicyConfig == "":
		return inline, nil
	case inline == fromFlag:
		return 0, &inputError{"--policy-config and --policies are both bundles: want one of them"}
	}
	text, err := input.ReadFile(s.PolicyConfig, input.Bundle)
	if err != nil {
		return 0, &inputError{"--policy-config: " + pathProblem(err)}
	}
	if s.Policies, err = bundle.Parse(s.PolicyConfig, text); err != nil {
		return 0, &inputError{err.Error()}
	}
	return fromEnvironment, nil
}

// setField sets the field of the bundle that a flag stands for.
func (s *settings) setField(g givenFlag) error {
	err := s.SetPolicy(g.name, g.text)
	var input *actors.InputError
	if errors.As(err, &input) {
		return &inputError{g.where + strings.TrimPrefix(input.Text, "--"+g.name)}
	}
	return err
}

// applySets applies the arguments of --set to the bundle.
func (s *settings) applySets() error {
	for _, argument := range s.Set {
		path, value, found := strings.Cut(argument, "=")
		if !found {
			return &inputError{"--set " + argument + ": want path=value, like routing.params.queue-depth=3"}
		}
		if err := s.Policies.Set(strings.TrimSpace(path), strings.TrimSpace(value)); err != nil {
			return &inputError{"--set " + err.Error()}
		}
	}
	return nil
}

// origin is where the value of a flag that was given comes from.
func (l *settingSources) origin(p *kong.Path) origin {
	switch {
	case !p.Resolved:
		return fromFlag
	case l.variables[p.Flag.Name]:
		return fromEnvironment
	}
	return fromFile
}
