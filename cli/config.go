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
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"blis/actors"
	"blis/input"
	"blis/input/nesting"
	"blis/latency"
	"blis/policy"
	"blis/setup"
	"blis/suggest"
	"blis/vtime"
)

// settingSources resolves flags that the command line leaves open: from the
// environment, else from the file named by --config.
type settingSources struct {
	lookup func(name string) (string, bool)
	loaded bool

	variables map[string]bool // flags whose value comes from a variable
	file      map[string]setting
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
	if flag.Name == "help" {
		return nil, nil
	}
	if err := l.load(ctx); err != nil {
		return nil, err
	}
	s, found := l.file[flag.Name]
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
		if _, err := policy.ParseBundle(s.file, []byte(s.text)); err != nil {
			return &inputError{err.Error()}
		}
		return nil
	}
	scratch := reflect.New(flag.Target.Type()).Elem()
	if err := flag.Parse(kong.Scan().PushTyped(s.text, kong.FlagValueToken), scratch); err != nil {
		problem := strings.TrimPrefix(err.Error(), flag.ShortSummary()+": ")
		return &inputError{fmt.Sprintf("%s: %s: %s", s.where, flag.Name, problem)}
	}
	if flag.Enum != "" && !slices.Contains(flag.EnumSlice(), s.text) {
		return &inputError{fmt.Sprintf("%s: %s: %q: want one of %s", s.where, flag.Name, s.text, strings.Join(flag.EnumSlice(), ", "))}
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
		if flag.Name != "config" {
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
		return &inputError{"--config: " + pathProblem(err)}
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

// Limits of the file: bundles in it have some of their own.
const (
	deepest     = 40  // mappings and lists inside each other
	longestName = 128 // bytes of a name before a colon
)

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
func parseConfig(path string, text []byte) (file map[string]setting, err error) {
	defer func() {
		if recover() != nil { // the parser has panicked on odd input before
			err = &inputError{path + ": not valid YAML"}
		}
	}()
	if line, problem := nesting.Check(string(text), nesting.Counter{Most: deepest, Name: longestName}); problem != "" {
		return nil, &inputError{fmt.Sprintf("%s:%d: %s", path, line, problem)}
	}
	doc, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, syntaxError(path, err)
	}
	file = map[string]setting{}
	for i, d := range doc.Docs {
		if i > 0 && d.Body != nil {
			return nil, bad(path, d.Body, "want one YAML document")
		}
		var pairs []*ast.MappingValueNode
		switch body := d.Body.(type) {
		case nil, *ast.CommentGroupNode, *ast.NullNode:
			continue
		case *ast.MappingNode:
			pairs = body.Values
		case *ast.MappingValueNode:
			pairs = []*ast.MappingValueNode{body}
		default:
			return nil, bad(path, body, "want settings as name: value")
		}
		for i, pair := range pairs {
			if err := readPair(file, path, pair); err != nil {
				return nil, err
			}
			name := pair.Key.GetToken().Value
			if s, ok := file[name]; ok && s.file != "" {
				var next *ast.MappingValueNode
				if i+1 < len(pairs) {
					next = pairs[i+1]
				}
				s.text = bundleText(text, pair.Value, next)
				file[name] = s
			}
		}
	}
	return file, nil
}

func readPair(file map[string]setting, path string, pair *ast.MappingValueNode) error {
	name := pair.Key.GetToken().Value
	t, ok := settingTypes()[name]
	if !ok {
		var names []string
		for _, e := range entries(&actors.Config{}) {
			names = append(names, e.name)
		}
		return bad(path, pair.Key, "unknown setting %q%s", name, suggest.Hint(name, names))
	}
	if pair.Value.Type() == ast.NullType {
		return nil // not given
	}
	if t == reflect.TypeFor[policy.Bundle]() {
		file[name] = setting{where: location(path, pair), file: path}
		return nil
	}
	text, want := scalar(pair.Value, t)
	if want != "" {
		return bad(path, pair.Value, "%s: %s: want %s", name, pair.Value.String(), want)
	}
	file[name] = setting{where: location(path, pair), text: text}
	return nil
}

// location is the file and line of a setting.
func location(path string, pair *ast.MappingValueNode) string {
	return fmt.Sprintf("%s:%d", path, pair.Key.GetToken().Position.Line)
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

// scalar is a node as text for the flag of the given type; want says what it
// should have been when it is of another type.
func scalar(node ast.Node, t reflect.Type) (text, want string) {
	kind := node.Type()
	value := ""
	if s, ok := node.(ast.ScalarNode); ok {
		value = fmt.Sprint(s.GetValue())
	}
	integer := kind == ast.IntegerType
	number := integer || kind == ast.FloatType || kind == ast.InfinityType || kind == ast.NanType
	switch {
	case t == reflect.TypeFor[setup.RandomDuration]():
		want = "a duration like 40s, or 40s,cv=0.2"
		if kind == ast.StringType || integer {
			return value, ""
		}
	case t == reflect.TypeFor[vtime.Duration]():
		want = "a duration like 50ms, or a whole number of microseconds"
		if kind == ast.StringType || integer {
			return value, ""
		}
	case t == reflect.TypeFor[latency.Bytes]():
		want = "an amount of memory like 1GB or 800MiB, or a whole number of bytes"
		if kind == ast.StringType || integer {
			return value, ""
		}
	case t.Kind() == reflect.Slice:
		want = "a list of numbers like [1, 2.5, 3]"
		if list, ok := node.(*ast.SequenceNode); ok {
			return numberList(list, want)
		}
	case t.Kind() == reflect.String:
		want = "a string"
		if kind == ast.StringType {
			return value, ""
		}
	case t.Kind() == reflect.Bool, t == reflect.TypeFor[*bool]():
		want = "true or false"
		if kind == ast.BoolType {
			return value, ""
		}
	case t.Kind() == reflect.Float64:
		want = "a number"
		if number {
			return value, ""
		}
	default:
		want = "a whole number"
		if integer {
			return value, ""
		}
	}
	return "", want
}

func numberList(list *ast.SequenceNode, want string) (text, problem string) {
	var parts []string
	for _, item := range list.Values {
		part, bad := scalar(item, reflect.TypeFor[float64]())
		if bad != "" {
			return "", want
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ","), ""
}

func bad(path string, node ast.Node, format string, args ...any) error {
	return located(path, node.GetToken(), fmt.Sprintf(format, args...))
}

func located(path string, t *token.Token, text string) error {
	line := 1
	if t != nil && t.Position != nil {
		line = t.Position.Line
	}
	return &inputError{fmt.Sprintf("%s:%d: %s", path, line, text)}
}

// syntaxError is the first line of the parser's error, with file and line.
func syntaxError(path string, err error) error {
	if e, ok := err.(yaml.Error); ok {
		text, _, _ := strings.Cut(e.GetMessage(), "\n")
		return located(path, e.GetToken(), text)
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return &inputError{path + ": " + text}
}

// pathProblem is the error of a file without the system call's name.
func pathProblem(err error) string {
	if e, ok := err.(*os.PathError); ok {
		return e.Path + ": " + e.Err.Error()
	}
	return err.Error()
}
