package main

import (
	"os"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"blis/actors"
	"blis/policy"
)

// policySettings is implemented by the commands that run something.
type policySettings interface{ policySettings() *settings }

func (s *settings) policySettings() *settings { return s }

// settlePolicies makes one bundle of all that says something about policies:
// the bundle of --policy-config, or policies of the file of --config with the
// flags that are in that file; over it the environment, then --set, then the
// flags given. What a flag said is in the bundle then, and the flag is back at
// its default.
func settlePolicies(command *kong.Context, l *layers) error {
	selected := command.Selected()
	if selected == nil {
		return nil
	}
	owner, ok := selected.Target.Addr().Interface().(policySettings)
	if !ok {
		return nil
	}
	s := owner.policySettings()
	if s.PolicyConfig != "" {
		text, err := os.ReadFile(s.PolicyConfig)
		if err != nil {
			return &inputError{"--policy-config: " + pathProblem(err)}
		}
		if s.Policies, err = policy.ParseBundle(s.PolicyConfig, text); err != nil {
			return &inputError{err.Error()}
		}
	}
	for _, from := range []origin{fromFile, fromEnvironment, fromSet, fromFlag} {
		if from == fromSet {
			// The parameters of --set are those of the types that flags choose.
			if err := s.applyTypes(command, l); err != nil {
				return err
			}
			if err := s.applySets(); err != nil {
				return err
			}
			continue
		}
		if err := s.applyFlags(command, l, from, from == fromFile && s.PolicyConfig != ""); err != nil {
			return err
		}
	}
	return nil
}

// origin is where a value comes from.
type origin int

const (
	fromFile origin = iota
	fromEnvironment
	fromSet
	fromFlag
)

// applyTypes enters the policies that flags choose.
func (s *settings) applyTypes(command *kong.Context, l *layers) error {
	for _, p := range command.Path {
		if p.Flag == nil || l.origin(p) != fromFlag {
			continue
		}
		if path, _ := actors.PolicyPath(p.Flag.Name); strings.HasSuffix(path, ".type") {
			if err := s.SetPolicy(p.Flag.Name, actors.Text(p.Flag.Target.Interface())); err != nil {
				return err
			}
		}
	}
	return nil
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

// applyFlags enters the flags of one origin, or only puts them back.
func (s *settings) applyFlags(command *kong.Context, l *layers, from origin, ignored bool) error {
	usual := actors.DefaultConfig()
	for _, p := range command.Path {
		if p.Flag == nil || l.origin(p) != from {
			continue
		}
		if _, ok := actors.PolicyPath(p.Flag.Name); !ok {
			continue
		}
		usually := settingOf(&usual, p.Flag.Name)
		text := actors.Text(p.Flag.Target.Interface())
		p.Flag.Target.Set(reflect.ValueOf(usually))
		if ignored {
			continue
		}
		// A file may say all settings, those too that its policies do not have.
		err := s.SetPolicy(p.Flag.Name, text)
		if err != nil && (from != fromFile || text != actors.Text(usually)) {
			return err
		}
	}
	return nil
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
