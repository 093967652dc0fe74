package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"blis/actors"
	"blis/bundle"
	"blis/input"
	"blis/setup"
	"blis/suggest"
	"blis/yamldoc"
)

// settingSources resolves flags that the command line leaves open: from the
// environment, else from the file named by --config.
type settingSources struct {
	lookup func(name string) (string, bool)
	loaded bool

	variables map[string]bool // flags whose value comes from a variable
	file      settingsFile
	flags     ofPools // settings of pools in the command line
}

// settingsFile is the settings in a file.
type settingsFile struct {
	settings map[string]setting
	pools    ofPools
}

// setting is a value from outside the command line.
type setting struct {
	where string // for errors: file and line, or the variable
	text  string // as the flag would read it
	file  string // of a bundle: the file whose lines it has
}

// variable is the name of a flag in the environment.
func variable(flag string) string {
	return "BLIS_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Validate implements kong.Resolver: values are checked one by one.
func (l *settingSources) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver.
func (l *settingSources) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if flag.Name == "help" || slices.Contains(pools, flag.Name) { // takePools puts these together
		return nil, nil
	}
	if err := l.load(ctx); err != nil {
		return nil, err
	}
	s, found := l.file.settings[flag.Name]
	if text, ok := l.lookup(variable(flag.Name)); ok {
		s, found = setting{where: variable(flag.Name), text: text}, true
		if l.variables == nil {
			l.variables = map[string]bool{}
		}
		l.variables[flag.Name] = true
	}
	if !found {
		return nil, nil
	}
	if err := s.check(flag); err != nil {
		return nil, err
	}
	return s.text, nil
}

// check reads the text as the flag would, so that an error names its place.
func (s *setting) check(flag *kong.Flag) error {
	if s.file != "" {
		if _, err := bundle.Parse(s.file, []byte(s.text)); err != nil {
			return inputError(err.Error())
		}
		return nil
	}
	scratch := reflect.New(flag.Target.Type()).Elem()
	if err := flag.Parse(kong.Scan().PushTyped(s.text, kong.FlagValueToken), scratch); err != nil {
		problem := strings.TrimPrefix(err.Error(), flag.ShortSummary()+": ")
		return inputErrorf("%s: %s: %s", s.where, flag.Name, problem)
	}
	if flag.Enum != "" && !slices.Contains(flag.EnumSlice(), s.text) {
		return inputErrorf("%s: %s: %q: want one of %s", s.where, flag.Name, s.text, strings.Join(flag.EnumSlice(), ", "))
	}
	return nil
}

// load reads the file once, if there is one.
func (l *settingSources) load(ctx *kong.Context) error {
	if l.loaded {
		return nil
	}
	l.loaded = true
	path := ""
	for _, flag := range ctx.Flags() {
		if flag.Name != "config" || flag.Tag.Type != "path" { // others read their --config themselves
			continue
		}
		path, _ = l.lookup(variable(flag.Name))
		if given, ok := ctx.FlagValue(flag).(string); ok && given != "" {
			path = given
		}
	}
	if path == "" {
		return nil
	}
	text, err := readConfig(path)
	if err != nil {
		return inputError("--config: " + pathProblem(err))
	}
	l.file, err = parseConfig(path, text)
	return err
}

// readConfig reads the settings in a file: all of it, or the configuration in a
// JSON result, which may be much longer.
func readConfig(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := input.ReadAll(path, io.LimitReader(f, input.Settings+1), input.Settings+1)
	if err == nil && len(text) > input.Settings && isObject(text) {
		var rest []byte
		rest, err = input.ReadAll(path, f, input.Report)
		text = append(text, rest...)
	}
	if err != nil {
		return nil, err
	}
	return input.ReadAll(path, bytes.NewReader(configOf(text)), input.Settings)
}

func isObject(text []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) }

// configLimits are the limits of the file. A bundle in it has limits of its own.
var configLimits = yamldoc.Options{Bytes: input.Settings, Depth: 40, Name: 128}

// configOf is the configuration in a JSON result, on the lines that it has there;
// any other text as it is.
func configOf(text []byte) []byte {
	if !isObject(text) {
		return text
	}
	var result struct {
		Schema string          `json:"schema"`
		Config json.RawMessage `json:"config"`
	}
	if json.Unmarshal(text, &result) != nil || !strings.HasPrefix(result.Schema, "blis.") || result.Config == nil {
		return text
	}
	before := text[:max(0, bytes.LastIndex(text, result.Config))]
	return append(bytes.Repeat([]byte("\n"), bytes.Count(before, []byte("\n"))), result.Config...)
}

// parseConfig reads a YAML mapping from setting to value. Unknown names,
// values of another type than the flag's, and anything that is not a plain
// list of settings are errors with file and line.
func parseConfig(path string, text []byte) (settingsFile, error) {
	file := settingsFile{map[string]setting{}, ofPools{}}
	root, err := yamldoc.Read(path, text, configLimits)
	if err != nil {
		return file, inputError(err.Error())
	}
	switch {
	case root == nil || root.Kind == yamldoc.Null:
		return file, nil
	case root.Kind != yamldoc.Mapping:
		return file, badLine(path, root.Line, "want settings as name: value")
	}
	for i := range root.Members {
		if err := file.read(path, &root.Members[i]); err != nil {
			return file, err
		}
	}
	return file, nil
}

// read reads a setting.
func (s *settingsFile) read(path string, m *yamldoc.Member) error {
	file := s.settings
	t, ok := settingTypes()[m.Name]
	_, _, ofPool := poolFlag(m.Name)
	if !ok && m.Value.Kind != yamldoc.Null {
		name, text, err := setup.ReadSection(path, m)
		if err != nil {
			return inputError(err.Error())
		}
		if name != "" {
			if _, twice := file[name]; twice {
				return badLine(path, m.Line, "%s: %s is given too, want one of them", m.Name, name)
			}
			file[name] = setting{where: fmt.Sprintf("%s:%d", path, m.Line), text: text}
			return nil
		}
	}
	if !ok && !ofPool {
		var names []string
		for _, e := range entries(&actors.Config{}) {
			names = append(names, e.name)
		}
		return badLine(path, m.Line, "unknown setting %q%s", m.Name, suggest.Hint(m.Name, names))
	}
	if m.Value.Kind == yamldoc.Null {
		return nil // not given
	}
	if ofPool || t == reflect.TypeFor[setup.Overrides]() {
		return s.readPoolSetting(path, m)
	}
	if m.Value.Kind == yamldoc.List {
		if err := checkList(path, t, m.Value); err != nil {
			return inputError(err.Error())
		}
	}
	where := fmt.Sprintf("%s:%d", path, m.Line)
	if t == reflect.TypeFor[bundle.Bundle]() {
		file[m.Name] = setting{where: where, text: m.Value.Format(), file: path}
		return nil
	}
	text, want := setup.ValueText(m.Value, t)
	if want != "" {
		name, bad := m.Name, m.Value
		for i, item := range m.Value.Items { // a list of numbers: which one is none
			if _, isNumber := item.Float(); !isNumber && t.Kind() == reflect.Slice {
				name, bad = fmt.Sprintf("%s[%d]", m.Name, i), item
				break
			}
		}
		return badLine(path, bad.Line, "%s: %s: want %s", name, bad.Describe(), want)
	}
	file[m.Name] = setting{where: where, text: text}
	return nil
}

// checkList says what is wrong in a list, with its line.
func checkList(path string, t reflect.Type, n *yamldoc.Node) error {
	switch t {
	case reflect.TypeFor[setup.DeploymentList]():
		return new(setup.DeploymentList).Read(path, n)
	case reflect.TypeFor[setup.NodePoolList]():
		return new(setup.NodePoolList).Read(path, n)
	}
	return nil
}

// settingTypes are the settings that a file may have. Aliases are for the
// command line only.
func settingTypes() map[string]reflect.Type {
	types := map[string]reflect.Type{"workers": reflect.TypeFor[int]()}
	for _, e := range entries(&actors.Config{}) {
		types[e.name] = reflect.TypeOf(e.value)
	}
	return types
}

func badLine(path string, line int, format string, args ...any) error {
	return inputErrorf("%s:%d: %s", path, line, fmt.Sprintf(format, args...))
}

// pathProblem is the error of a file without the system call's name.
func pathProblem(err error) string {
	if e, ok := err.(*os.PathError); ok {
		return e.Path + ": " + e.Err.Error()
	}
	return err.Error()
}

// decodeTimeout is setup.ParseTimeout for flags.
func decodeTimeout(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("duration", &text); err != nil {
		return err
	}
	d, err := setup.ParseTimeout(text)
	if err != nil {
		return err
	}
	target.SetInt(int64(d))
	return nil
}
