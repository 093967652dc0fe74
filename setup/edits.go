package setup

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"blis/bundle"
	"blis/policy"
)

// Edit changes one field of the policy bundle. A flag, a line of a file of settings, a
// variable of the environment and an argument of --set are edits.
type Edit struct {
	Flag   string // the setting that stands for the field; empty: Text says which field
	Text   string // the new value, as the flag has it; without Flag path=value
	Origin Origin
	Where  string // for errors: the flag, or file, line and name of the setting
}

// Origin is where an edit comes from. A higher one wins.
type Origin int

// Origins, the lowest first.
const (
	FromFile Origin = iota + 1
	FromEnvironment
	FromSet
	FromFlag
)

// bundleSetting is a setting of Config that stands for a field of the policy bundle,
// as its tag says.
type bundleSetting struct {
	flag      string
	path      string // of the field in the bundle
	byDefault string // value of the setting without a flag
	index     []int  // of the setting in Config
}

// isParameter reports whether only some policies have the field.
func (s *bundleSetting) isParameter() bool { return strings.Contains(s.path, ".params") }

// scorers is the path of --routing-scorers: all parameters that are weights.
const scorers = "routing.params"

// bundleSettings are in the order of Config: types come before the parameters of
// their policies.
var bundleSettings = func() []bundleSetting {
	var list []bundleSetting
	defaults := DefaultConfig()
	for s := range defaults.Settings() {
		if path, ok := s.Tag.Lookup("bundle"); ok {
			list = append(list, bundleSetting{s.Name, path, Text(s.Value.Interface()), s.Index})
		}
	}
	return list
}()

// BundleSettings returns the names of the settings that stand for a field of the
// policy bundle. A setting that chooses a policy comes before the parameters of it.
func BundleSettings() []string {
	var list []string
	for _, s := range bundleSettings {
		list = append(list, s.flag)
	}
	return list
}

// settingOf returns the setting of a name, nil if it stands for no field of the bundle.
func settingOf(flag string) *bundleSetting {
	if i := slices.IndexFunc(bundleSettings, func(s bundleSetting) bool { return s.flag == flag }); i >= 0 {
		return &bundleSettings[i]
	}
	return nil
}

// ApplyEdits changes the bundle. First come flags that choose a policy, as another
// policy drops the parameters of the one before; then all edits by origin, edits of one
// origin in the order given. A file may have settings that its policies do not have,
// if they are at their defaults or if an edit of a higher origin chose the policy:
// these are left out. Any other edit that does not fit is an *InputError.
func ApplyEdits(b *bundle.Bundle, edits []Edit) error {
	chosen := map[string]Origin{} // kind → origin of the edit that chose its policy
	for i := range edits {
		if e := &edits[i]; e.choosesPolicy() {
			chosen[e.kind()] = e.Origin
			if err := e.apply(b); err != nil {
				return err
			}
		}
	}
	for origin := FromFile; origin <= FromFlag; origin++ {
		for i := range edits {
			e := &edits[i]
			if e.Origin != origin || e.choosesPolicy() && b.Get(e.path()) == e.Text {
				continue
			}
			if err := e.apply(b); err != nil && !e.dispensable(chosen[e.kind()]) {
				return err
			}
		}
	}
	return nil
}

// path returns the field of the bundle, empty without Flag.
func (e *Edit) path() string {
	if e.Flag == "" {
		return ""
	}
	return settingOf(e.Flag).path
}

func (e *Edit) choosesPolicy() bool { return e.Flag != "" && strings.HasSuffix(e.path(), ".type") }

// kind returns what the policy decides about.
func (e *Edit) kind() string {
	kind, _, _ := strings.Cut(e.path(), ".")
	return kind
}

// dispensable reports whether the edit may be left out where it cannot be made.
func (e *Edit) dispensable(chosen Origin) bool {
	return e.Flag != "" && (chosen > e.Origin || e.Origin == FromFile && e.Text == settingOf(e.Flag).byDefault)
}

// apply makes the edit.
func (e *Edit) apply(b *bundle.Bundle) error {
	if e.Flag == "" {
		path, value, found := strings.Cut(e.Text, "=")
		if !found {
			return inputErrorf("%s %s: want path=value, like routing.params.queue-depth=3", e.Where, e.Text)
		}
		if err := b.Set(strings.TrimSpace(path), strings.TrimSpace(value)); err != nil {
			return inputErrorf("%s %v", e.Where, err)
		}
		return nil
	}
	var err error
	switch path := e.path(); {
	case path == scorers && e.Text == "":
	case path == scorers:
		err = setScorers(b, e.Text)
	default:
		err = b.Set(path, e.Text)
	}
	if err != nil {
		return inputErrorf("%s: %v", e.Where, err)
	}
	return nil
}

// setScorers makes the scorers of weighted those of the text, in that order. Its other
// parameters stay.
func setScorers(b *bundle.Bundle, text string) error {
	settings, err := policy.ParseScorers(text)
	if err != nil {
		return err
	}
	weighted, err := policy.Find(policy.RoutingKind, "weighted")
	if err != nil {
		return err
	}
	b.Routing.Params = slices.DeleteFunc(slices.Clone(b.Routing.Params), func(s policy.Setting) bool {
		p := weighted.Parameter(s.Name)
		return p == nil || p.Type == policy.Weight
	})
	for i, s := range settings {
		if slices.ContainsFunc(settings[:i], func(earlier policy.Setting) bool { return earlier.Name == s.Name }) {
			return fmt.Errorf("%s is given twice", s.Name)
		}
		if err := b.Set("routing.params."+s.Name, s.Value); err != nil {
			return err
		}
	}
	return nil
}

// edits returns the settings of c that are neither at their defaults nor in its bundle.
func (c *Config) edits() []Edit {
	var list []Edit
	v := reflect.ValueOf(c).Elem()
	for _, s := range bundleSettings {
		if text := Text(v.FieldByIndex(s.index).Interface()); text != s.byDefault && text != c.Policies.Get(s.path) {
			list = append(list, Edit{Flag: s.flag, Text: text, Origin: FromFlag, Where: "--" + s.flag})
		}
	}
	return list
}

// UseBundle makes b the policies of the configuration. The settings that stand for a
// field of a bundle show b from then on: they are at their defaults where b has
// nothing. So is RoutingScorers, whose scorers are parameters of b.
func (c *Config) UseBundle(b bundle.Bundle) error {
	c.Policies = b
	v := reflect.ValueOf(c).Elem()
	for _, s := range bundleSettings {
		f, text := v.FieldByIndex(s.index), b.Get(s.path)
		if (text == "" || text == s.byDefault) && f.Kind() != reflect.Pointer && f.Kind() != reflect.Slice { // as setText sets it, but faster
			f.Set(defaults().FieldByIndex(s.index))
			continue
		}
		if text == "" {
			text = s.byDefault
		}
		if err := setText(f, text); err != nil {
			return err
		}
	}
	return nil
}

// Text returns the value of a setting as its flag reads it.
func Text(value any) string {
	switch x := value.(type) {
	case fmt.Stringer:
		return x.String()
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return fmt.Sprint(value)
}
