package setup

import (
	"encoding"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"blis/vtime"
)

// Setting is one setting of a configuration.
type Setting struct {
	Name  string // of its flag, and in files and results
	Tag   reflect.StructTag
	Value reflect.Value // can be set
	Index []int         // of the field in Config, for reflect
}

// Settings yields the settings that make a run, in their order. Those of an embedded
// struct stand in its place; Custom has none.
func (c *Config) Settings() iter.Seq[Setting] {
	v := reflect.ValueOf(c).Elem()
	return func(yield func(Setting) bool) {
		for _, s := range settingFields() {
			s.Value = v.FieldByIndex(s.Index)
			if !yield(s) {
				return
			}
		}
	}
}

// settingFields are the settings without values, as tags take long to read.
var settingFields = sync.OnceValue(func() []Setting { return appendSettings(nil, reflect.TypeFor[Config](), nil) })

func appendSettings(list []Setting, t reflect.Type, outer []int) []Setting {
	for i := range t.NumField() {
		f, index := t.Field(i), append(outer[:len(outer):len(outer)], i)
		switch name := f.Tag.Get("json"); {
		case name == "-":
		case f.Anonymous:
			list = appendSettings(list, f.Type, index)
		default:
			list = append(list, Setting{Name: name, Tag: f.Tag, Index: index})
		}
	}
	return list
}

// NotDefault yields the settings that are not at their defaults.
func (c *Config) NotDefault() iter.Seq[Setting] {
	return func(yield func(Setting) bool) {
		for s := range c.Settings() {
			if !s.isDefault() && !yield(s) {
				return
			}
		}
	}
}

// isDefault reports whether the setting is at its default.
func (s *Setting) isDefault() bool {
	return reflect.DeepEqual(s.Value.Interface(), defaults().FieldByIndex(s.Index).Interface())
}

// defaults is DefaultConfig, to compare with.
var defaults = sync.OnceValue(func() reflect.Value { return reflect.ValueOf(DefaultConfig()) })

// DefaultConfig returns the configuration of `blis run` without flags: four
// instances of Llama-3.1-8B on H100 under 1,000 generated requests.
func DefaultConfig() Config {
	var c Config
	setDefaults(reflect.ValueOf(&c).Elem())
	return c
}

// setDefaults gives every field the value of its default tag.
func setDefaults(v reflect.Value) {
	for i := range v.NumField() {
		f, tag := v.Field(i), v.Type().Field(i)
		if tag.Anonymous {
			setDefaults(f)
			continue
		}
		text, ok := tag.Tag.Lookup("default")
		if !ok {
			continue
		}
		if err := setText(f, text); err != nil { // a tag of ours
			panic(fmt.Sprintf("setup: default of %s: %v", tag.Name, err))
		}
	}
}

// Set sets the setting of that name, as its flag has it, to the value of the text.
func (c *Config) Set(name, text string) error {
	list := settingFields()
	i := slices.IndexFunc(list, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return setOfPool(c, name, text)
	}
	s := list[i]
	s.Value = reflect.ValueOf(c).Elem().FieldByIndex(s.Index)
	if err := s.set(text); err != nil {
		return inputErrorf("--%s: %v", name, err)
	}
	return nil
}

// set gives the setting the value of a text, as its flag would.
func (s *Setting) set(text string) error {
	if enum := s.Tag.Get("enum"); enum != "" {
		if choices := strings.Split(enum, ","); !slices.Contains(choices, text) {
			return fmt.Errorf("%q: want one of %s", text, strings.Join(choices, ", "))
		}
	}
	if s.Tag.Get("type") == "timeout" {
		d, err := ParseTimeout(text)
		s.Value.SetInt(int64(d))
		return err
	}
	return setText(s.Value, text)
}

// ParseTimeout reads how long clients wait. Scripts for the public simulator, whose
// flag has the same name, give it in whole seconds, or negative for no timeout; a bare
// number is µs for all other durations. So here it must say.
func ParseTimeout(text string) (vtime.Duration, error) {
	if n, err := strconv.ParseFloat(text, 64); err == nil && n > 0 && !math.IsInf(n, 0) {
		return 0, fmt.Errorf("%s has no unit: want %ss for seconds (as the public simulator has it) or %sus for microseconds", text, text, text)
	}
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		if _, err := vtime.ParseDuration(rest); err == nil {
			return 0, nil
		}
	}
	d, err := vtime.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration: want 50ms, 300s or 2m, or 0 for none", text)
	}
	return d, nil
}

// setText sets a setting to the value of a text.
func setText(f reflect.Value, text string) error {
	if u, ok := f.Addr().Interface().(encoding.TextUnmarshaler); ok {
		f.SetZero() // some add to what they have
		return u.UnmarshalText([]byte(text))
	}
	switch f.Kind() {
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
		return setText(f.Elem(), text)
	case reflect.Slice:
		if text == "" {
			f.SetZero()
			return nil
		}
		parts := strings.Split(text, ",")
		f.Set(reflect.MakeSlice(f.Type(), len(parts), len(parts)))
		for i, part := range parts {
			if err := setText(f.Index(i), part); err != nil {
				return err
			}
		}
	case reflect.String:
		f.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		f.SetBool(b)
		return wanted(text, err, "true or false")
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, f.Type().Bits())
		f.SetInt(n)
		return wanted(text, err, "a whole number")
	case reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, 64)
		f.SetUint(n)
		return wanted(text, err, "a whole number from 0")
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		f.SetFloat(x)
		return wanted(text, err, "a number")
	default:
		return fmt.Errorf("no text form for %s", f.Kind())
	}
	return nil
}

// wanted words the error of a number that cannot be read, nil if err is.
func wanted(text string, err error, want string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%s is out of range: want %s", text, want)
	}
	return fmt.Errorf("%q: want %s", text, want)
}
