package study

import (
	"crypto/sha256"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"blis/actors"
	"blis/bundle"
	"blis/latency"
	"blis/setup"
	"blis/study/pointlog"
)

// KeyFormat is the version of what the key of a point is made of: the settings that there
// are, and how they are written. A folder of a sweep has one.
const KeyFormat = 2

// keyWriter writes keys of one sweep. It is not safe for concurrent use.
type keyWriter struct {
	inputs *inputFiles
	text   []byte
	known  [16]knownPolicies // few bundles follow each other: JSON of one takes as long as all the rest
	next   int               // of known, to be replaced
}

// knownPolicies is a bundle and its JSON.
type knownPolicies struct {
	bundle bundle.Bundle
	json   []byte
}

// prefix is what all seeds of a point have in common: the settings of the effective
// configuration in the order of their names, each as JSON. In place of the path of a file
// stands the hash of its content. Seeds, and what has no effect, are left out. The result is
// a hash.
func (w *keyWriter) prefix(effective *setup.Config) (sum [sha256.Size]byte, err error) {
	c := *effective
	c.Policies.Metadata = nil
	inputs := w.inputs
	if setup.SeveralPools(&c) {
		if err := setup.ReplacePoolFiles(&c, inputs.contentOf); err != nil {
			return sum, err
		}
	}
	v := reflect.ValueOf(&c).Elem()
	text := fmt.Appendf(w.text[:0], "blis point %d, semantics %d, data %s\n", KeyFormat, actors.SemanticsVersion, latency.DataSum)
	for _, s := range keySettings() {
		value := v.FieldByIndex(s.index)
		text = append(append(text, s.name...), ':')
		if s.path && value.Len() > 0 || s.name == "coefficients" && isFile(value.String(), inputs) {
			content, err := inputs.sum(value.String())
			if err != nil {
				return sum, err
			}
			text = append(append(text, "sha256 "...), content...)
			if s.name == "workload-spec" {
				if text, err = inputs.appendNamed(text, value.String()); err != nil {
					return sum, err
				}
			}
		} else {
			if s.name == "policies" {
				text, err = w.appendPolicies(text, &c.Policies)
			} else {
				text, err = s.append(text, value)
			}
			if err != nil {
				return sum, fmt.Errorf("%s: %w", s.name, err)
			}
		}
		text = append(text, '\n')
	}
	w.text = text
	return sha256.Sum256(text), nil
}

// appendPolicies appends a bundle as JSON.
func (w *keyWriter) appendPolicies(text []byte, b *bundle.Bundle) ([]byte, error) {
	for i := range w.known {
		if k := &w.known[i]; k.json != nil && k.bundle.Identical(b) {
			return append(text, k.json...), nil
		}
	}
	value, err := json.Marshal(b)
	if err != nil {
		return text, err
	}
	w.known[w.next] = knownPolicies{*b, value}
	w.next = (w.next + 1) % len(w.known)
	return append(text, value...), nil
}

// keySetting is a setting that counts in a key.
type keySetting struct {
	name  string
	group string // of its flag
	index []int
	path  bool // its value is the path of a file
	own   bool // its type writes itself
}

// keySettings are in the order of their names.
var keySettings = sync.OnceValue(func() (list []keySetting) {
	c := setup.DefaultConfig()
	for s := range c.Settings() {
		if s.Name != "seed" && s.Name != "workload-seed" {
			list = append(list, keySetting{s.Name, s.Tag.Get("group"), s.Index, s.Tag.Get("type") == "path", s.Value.Type().Implements(reflect.TypeFor[encoding.TextMarshaler]())})
		}
	}
	slices.SortFunc(list, func(a, b keySetting) int { return strings.Compare(a.name, b.name) })
	return list
})

// AppendSettings appends settings of an effective configuration as they count in the key of a
// point: in the order of their names, each as JSON on a line of its own. counts is asked for
// the name and the group of each; seeds never count. Of a file its path counts, not its content.
func AppendSettings(text []byte, effective *setup.Config, counts func(name, group string) bool) ([]byte, error) {
	c := *effective
	c.Policies.Metadata = nil
	v := reflect.ValueOf(&c).Elem()
	for _, s := range keySettings() {
		if !counts(s.name, s.group) {
			continue
		}
		var err error
		if text, err = s.append(append(append(text, s.name...), ':'), v.FieldByIndex(s.index)); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		text = append(text, '\n')
	}
	return text, nil
}

// append appends the value of the setting as JSON. Kinds that many settings have are written without
// the detours of encoding/json.
func (s *keySetting) append(text []byte, v reflect.Value) ([]byte, error) {
	switch kind := v.Kind(); {
	case kind == reflect.Int || kind == reflect.Int32 || kind == reflect.Int64: // durations and bytes too
		return strconv.AppendInt(text, v.Int(), 10), nil
	case s.own:
	case kind == reflect.String:
		return strconv.AppendQuote(text, v.String()), nil
	case kind == reflect.Bool:
		return strconv.AppendBool(text, v.Bool()), nil
	case kind == reflect.Float64:
		return strconv.AppendFloat(text, v.Float(), 'g', -1, 64), nil
	}
	value, err := json.Marshal(v.Interface())
	return append(text, value...), err
}

// keyOf is the key of a point with its seeds.
func keyOf(prefix [sha256.Size]byte, seeds Seeds) (key pointlog.Key) {
	sum := sha256.Sum256(fmt.Appendf(prefix[:], "seed %d, workload seed %d", seeds.Seed, seeds.Workload))
	copy(key[:], sum[:])
	return key
}

// contentOf returns what stands in a key for the path of a setting of a pool, or for the name of a
// coefficient set.
func (f *inputFiles) contentOf(setting, path string) (string, error) {
	if setting == "coefficients" && !isFile(path, f) {
		return path, nil
	}
	content, err := f.sum(path)
	return "sha256 " + content, err
}

// isFile reports whether a setting that is a name or a path is a path.
func isFile(name string, inputs *inputFiles) bool {
	if name == "" {
		return false
	}
	if _, err := latency.FindPhysicsSet(name); err == nil {
		return false
	}
	return inputs.has(name)
}
