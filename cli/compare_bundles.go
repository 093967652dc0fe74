package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"blis/bundle"
	"blis/input"
	"blis/policy"
	"blis/setup"
	"blis/study"
	"blis/suggest"
)

// applyPolicies makes a bundle of every argument, as run does of
// --policy-config with the same flags. So policies in the file of --config do
// not count, and changes by environment, --set and flags apply to all bundles.
func (r *compareCmd) applyPolicies(command *kong.Context, l *settingSources) error {
	if err := r.takeWorkload(command, l); err != nil {
		return err
	}
	given := l.policyFlags(command)
	if r.PolicyConfig != "" {
		return inputError("--policy-config: compare takes bundles as arguments, like blis compare " + r.PolicyConfig + " round-robin")
	}
	for _, p := range command.Path {
		if p.Flag != nil && p.Flag.Name == "policies" && l.origin(p) != setup.FromFile {
			return inputError(l.location("policies", l.origin(p)) + ": compare takes bundles as arguments, files or names of routing policies")
		}
	}
	names, err := bundleNames(r.Arguments)
	if err != nil {
		return err
	}
	for i, argument := range r.Arguments {
		policies, err := r.bundleOf(argument, names[i], given)
		r.bundles = append(r.bundles, study.Bundle{Name: names[i], Policies: policies, Err: err})
	}
	return r.UseBundle(bundle.Bundle{}) // the settings are in the bundles
}

// bundleOf is the bundle of an argument, changed as the settings given say.
func (r *compareCmd) bundleOf(argument, name string, given []setup.Edit) (b bundle.Bundle, err error) {
	s := r.settings // a copy: its bundle is changed alone
	if s.Policies, err = argumentBundle(argument); err != nil {
		return b, err
	}
	if err := s.edit(given, setup.FromEnvironment); err != nil {
		var input *setup.InputError
		if errors.As(err, &input) {
			return b, inputError("bundle " + name + ": " + input.Text)
		}
		return b, err
	}
	return s.Policies, nil
}

// argumentBundle is the bundle that an argument stands for: a file, else the
// name of a routing policy, everything else at its default.
func argumentBundle(argument string) (bundle.Bundle, error) {
	text, err := input.ReadFile(argument, input.Bundle)
	if err == nil {
		return parseBundle(argument, text)
	}
	if !errors.Is(err, os.ErrNotExist) || filepath.Base(argument) != argument || bundleExtension(argument) != "" {
		return bundle.Bundle{}, inputError(pathProblem(err))
	}
	names := routings()
	if !slices.Contains(names, argument) {
		return bundle.Bundle{}, inputErrorf("%s: no such file, and no routing policy%s (there are: %s)",
			argument, suggest.Hint(argument, names), strings.Join(names, ", "))
	}
	var b bundle.Bundle
	return b, b.Set("routing.type", argument)
}

// bundleFiles are the files that may be bundles.
func (r *compareCmd) bundleFiles() []named {
	var files []named
	for _, a := range r.Arguments {
		files = append(files, named{"a bundle", a})
	}
	for i := range r.bundles {
		for _, path := range r.bundles[i].Policies.Files() {
			files = append(files, named{"a policy", path})
		}
	}
	return files
}

// routings are the names of routing policies.
func routings() []string {
	var names []string
	for _, t := range policy.Templates() {
		if t.Kind == policy.RoutingKind {
			names = append(names, t.Name)
		}
	}
	return names
}

// bundleExtension is the extension of a name if bundles may have it.
func bundleExtension(name string) string {
	if e := filepath.Ext(name); isProgram(name) || e == ".yaml" || e == ".yml" || e == ".json" {
		return e
	}
	return ""
}

// bundleNames are what results call the bundles: files without folder and
// extension; where two are the same then, arguments as they were given.
func bundleNames(arguments []string) ([]string, error) {
	short := map[string]int{}
	name := func(argument string) string {
		base := filepath.Base(argument)
		return strings.TrimSuffix(base, bundleExtension(base))
	}
	for i, a := range arguments {
		if a == "" {
			return nil, inputErrorf("bundle %d is empty, want a file or the name of a routing policy", i+1)
		}
		if slices.Contains(arguments[:i], a) {
			return nil, inputError(a + " is given twice, want different bundles")
		}
		short[name(a)]++
	}
	var names []string
	for _, a := range arguments {
		if short[name(a)] == 1 {
			a = name(a)
		}
		names = append(names, a)
	}
	if len(names) < 2 {
		return nil, inputErrorf("%d bundle to compare: want at least 2, files or names of routing policies", len(names))
	}
	return names, nil
}
