package main

import (
	"errors"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"blis/actors"
	"blis/input"
	"blis/policy"
)

// policySettings is implemented by the commands that run something. settle makes
// the bundles that they run with.
type policySettings interface {
	settle(command *kong.Context, l *layers) error
}

// settlePolicies has the command make its bundles, if it has any.
func settlePolicies(command *kong.Context, l *layers) error {
	selected := command.Selected()
	if selected == nil {
		return nil
	}
	owner, ok := selected.Target.Addr().Interface().(policySettings)
	if !ok {
		return nil
	}
	return owner.settle(command, l)
}

// settle makes one bundle of all that says something about policies. It begins
// with the bundle of --policy-config, which counts as a file and before that of
// --config, or with policies of wherever that is given; what ranks below does
// not count then. What flags said is in the bundle then, and they are back at
// their defaults.
func (s *settings) settle(command *kong.Context, l *layers) error {
	if err := s.takeWorkload(command, l); err != nil {
		return err
	}
	given := l.policyFlags(command)
	least, err := s.baseBundle(command, l)
	if err != nil {
		return err
	}
	return s.change(given, least)
}

// change enters single flags into the bundle: those that choose a policy first,
// then parameters from the file, from the environment, of --set, and of the
// command line. Those from below least do not count.
func (s *settings) change(given []givenFlag, least origin) error {
	chosen := map[string]origin{} // by whom the policy of a kind was chosen
	for _, g := range given {
		if g.from < least || !g.choosesPolicy() {
			continue
		}
		chosen[g.kind()] = g.from
		if err := s.enter(g); err != nil {
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
			err := s.enter(g)
			// A file may say all settings, those too that its policies do not
			// have; and somebody else may have chosen another policy.
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
func (l *layers) policyFlags(command *kong.Context) []givenFlag {
	usual := actors.DefaultConfig()
	var list []givenFlag
	for _, name := range actors.PolicyFlags() {
		for _, p := range command.Path {
			if p.Flag == nil || p.Flag.Name != name {
				continue
			}
			path, _ := actors.PolicyPath(name)
			usually := settingOf(&usual, name)
			from := l.origin(p)
			list = append(list, givenFlag{name, path, actors.Text(p.Flag.Target.Interface()), actors.Text(usually), from, l.place(name, from)})
			p.Flag.Target.Set(reflect.ValueOf(usually))
			break
		}
	}
	return list
}

// place says where a flag of an origin stands.
func (l *layers) place(name string, from origin) string {
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

// baseBundle reads the bundle to begin with, and says from which origin on flags
// count.
func (s *settings) baseBundle(command *kong.Context, l *layers) (origin, error) {
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
		bundle, err := policy.ParseBundle(in.file, []byte(in.text))
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
	if s.Policies, err = policy.ParseBundle(s.PolicyConfig, text); err != nil {
		return 0, &inputError{err.Error()}
	}
	return fromEnvironment, nil
}

// enter changes the bundle as a flag says.
func (s *settings) enter(g givenFlag) error {
	err := s.SetPolicy(g.name, g.text)
	var input *actors.InputError
	if errors.As(err, &input) {
		return &inputError{g.where + strings.TrimPrefix(input.Text, "--"+g.name)}
	}
	return err
}

// applySets carries the arguments of --set out.
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
func (l *layers) origin(p *kong.Path) origin {
	switch {
	case !p.Resolved:
		return fromFlag
	case l.variables[p.Flag.Name]:
		return fromEnvironment
	}
	return fromFile
}
