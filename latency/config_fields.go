package latency

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// config looks fields up in the levels of a config.json, innermost first, and
// collects problems.
type config struct {
	levels   []map[string]json.RawMessage
	kind     string // model_type
	problems problems
	names    map[string]string // by the first of the names of a field, the one that the file uses
}

// err is nil or one line that names the bad fields as the file does.
func (c *config) err(file string) error {
	for i, field := range c.problems.fields {
		if name, ok := c.names[field]; ok {
			c.problems.texts[i] = name + strings.TrimPrefix(c.problems.texts[i], field)
		}
	}
	return c.problems.err(file)
}

// has reports whether one of the names is in the file, even as null.
func (c *config) has(names ...string) bool {
	return slices.ContainsFunc(c.levels, func(level map[string]json.RawMessage) bool {
		return slices.ContainsFunc(names, func(name string) bool { _, ok := level[name]; return ok })
	})
}

// find returns the value of the first of the names that has one, nil if none
// has.
func (c *config) find(names ...string) json.RawMessage {
	for _, level := range c.levels {
		for _, name := range names {
			if raw, ok := level[name]; ok && string(raw) != "null" {
				if name != names[0] {
					if c.names == nil {
						c.names = map[string]string{}
					}
					c.names[names[0]] = name
				}
				return raw
			}
		}
	}
	return nil
}

// needed returns the value of the first name that has one. It adds a problem if
// none has and the model type has no default.
func (c *config) needed(names ...string) int64 {
	if c.find(names...) == nil && classDefaults[c.kind][names[0]] == 0 {
		c.problems.add(names[0], "is missing")
	}
	return c.integer(0, names...)
}

// integer returns the value of the first name that has one, else the default of
// the model type, else otherwise. Problems are under the first name; see err. A
// list with a value per layer counts as its value if all are equal.
func (c *config) integer(otherwise int64, names ...string) int64 {
	raw := c.find(names...)
	if raw == nil {
		if v := classDefaults[c.kind][names[0]]; v != 0 {
			return v
		}
		return otherwise
	}
	var layers []json.RawMessage
	if json.Unmarshal(raw, &layers) == nil && len(layers) > 0 && !slices.ContainsFunc(layers, func(v json.RawMessage) bool { return string(v) != string(layers[0]) }) {
		raw = layers[0]
	}
	v, err := strconv.ParseInt(string(raw), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		c.problems.add(names[0], "is %s, which is out of range", excerpt(raw))
	case err != nil:
		c.problems.add(names[0], "is %s, want an integer", excerpt(raw))
	default:
		return v
	}
	return otherwise
}

func (c *config) flag(otherwise bool, name string) bool {
	raw := c.find(name)
	if raw == nil {
		return otherwise
	}
	var v bool
	if json.Unmarshal(raw, &v) != nil {
		c.problems.add(name, "is %s, want true or false", excerpt(raw))
	}
	return v
}

func (c *config) text(names ...string) string {
	raw := c.find(names...)
	if raw == nil {
		return ""
	}
	var v string
	if json.Unmarshal(raw, &v) != nil {
		c.problems.add(names[0], "is %s, want a string", excerpt(raw))
	}
	return v
}

// list returns a list of integers, nil if there is none: one per layer, or the
// numbers of certain layers.
func (c *config) list(name string) []int64 {
	raw := c.find(name)
	if raw == nil {
		return nil
	}
	var v []int64
	if json.Unmarshal(raw, &v) != nil {
		c.problems.add(name, "is %s, want a list of integers", excerpt(raw))
	}
	return v
}

// excerpt shortens a value from the file, so that an error is one line.
func excerpt(raw json.RawMessage) string {
	return excerptText(strings.Join(strings.Fields(string(raw)), " "))
}

func excerptText(s string) string {
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}
