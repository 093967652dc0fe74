package setup

import (
	"iter"
	"reflect"
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
		usual := DefaultConfig()
		others := reflect.ValueOf(&usual).Elem()
		for s := range c.Settings() {
			if !reflect.DeepEqual(s.Value.Interface(), others.FieldByIndex(s.Index).Interface()) && !yield(s) {
				return
			}
		}
	}
}
