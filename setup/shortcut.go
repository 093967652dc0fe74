package setup

import (
	"reflect"
	"strings"
)

// shortcut is a setting of Config that is also a field of the policy bundle,
// as its tag says.
type shortcut struct {
	flag  string
	path  string // of the field in the bundle
	index []int  // of the setting in Config
}

// scorers is the path of --routing-scorers: all parameters that are weights.
const scorers = "routing.params"

func (s *shortcut) isType() bool      { return strings.HasSuffix(s.path, ".type") }
func (s *shortcut) isParameter() bool { return strings.Contains(s.path, ".params") }
func (s *shortcut) isScaling() bool   { return strings.HasPrefix(s.path, "autoscale.") }

// shortcuts are all shortcuts, in the order of Config: types come before the
// parameters of their policies.
var shortcuts = func() []shortcut {
	var list []shortcut
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		f := t.Field(i)
		if path, ok := f.Tag.Lookup("bundle"); ok {
			list = append(list, shortcut{f.Tag.Get("json"), path, f.Index})
		}
	}
	return list
}()

// eachShortcut calls do with every shortcut and its value in a Config.
func eachShortcut(config reflect.Value, do func(shortcut, reflect.Value) error) error {
	for _, s := range shortcuts {
		if err := do(s, config.FieldByIndex(s.index)); err != nil {
			return err
		}
	}
	return nil
}

// PolicyFlags are the flags that stand for a field of the policy bundle, those
// that choose a policy before those of its parameters.
func PolicyFlags() []string {
	var list []string
	for _, s := range shortcuts {
		list = append(list, s.flag)
	}
	return list
}

// PolicyPath is the field of the policy bundle that a flag stands for, and
// whether it stands for one.
func PolicyPath(flag string) (path string, ok bool) {
	for _, s := range shortcuts {
		if s.flag == flag {
			return s.path, true
		}
	}
	return "", false
}
