package setup

import (
	"encoding"
	"fmt"
	"iter"
	"reflect"
	"strconv"
	"strings"
	"sync"
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
	return func(yield func(Setting) bool) { eachSetting(reflect.ValueOf(c).Elem(), nil, yield) }
}

func eachSetting(v reflect.Value, outer []int, yield func(Setting) bool) bool {
	for i := range v.NumField() {
		f, index := v.Type().Field(i), append(outer[:len(outer):len(outer)], i)
		name, more := f.Tag.Get("json"), true
		switch {
		case name == "-":
		case f.Anonymous:
			more = eachSetting(v.Field(i), index, yield)
		default:
			more = yield(Setting{name, f.Tag, v.Field(i), index})
		}
		if !more {
			return false
		}
	}
	return true
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
	for s := range c.Settings() {
		if s.Name != name {
			continue
		}
		if err := setText(s.Value, text); err != nil {
			return inputErrorf("--%s: %v", name, err)
		}
		return nil
	}
	return inputErrorf("no setting --%s", name)
}

// setText sets a setting to the value of a text.
func setText(f reflect.Value, text string) error {
	if u, ok := f.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch f.Kind() {
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
		return setText(f.Elem(), text)
	case reflect.Slice:
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
		return err
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		f.SetInt(n)
		return err
	case reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, 64)
		f.SetUint(n)
		return err
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		f.SetFloat(x)
		return err
	default:
		return fmt.Errorf("no text form for %s", f.Kind())
	}
	return nil
}
