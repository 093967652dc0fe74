package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"blis/policy"
)

// bundleName is the name of the file in errors about a bundle that is read back.
const bundleName = "policies"

// MarshalJSON writes the given fields in the form of the file, in the order of
// sections and parameters.
func (b Bundle) MarshalJSON() ([]byte, error) {
	return jsonNotation.append(nil, b.content())
}

// UnmarshalJSON reads the output of MarshalJSON, with the checks of Parse.
func (b *Bundle) UnmarshalJSON(text []byte) error {
	var compact bytes.Buffer // an indented result may be of any size
	if err := json.Compact(&compact, text); err != nil {
		return &Error{File: bundleName, Problem: "not valid JSON: " + err.Error()}
	}
	return b.unmarshal(compact.Bytes(), maxJSON)
}

// MarshalText writes the given fields as a file that Parse reads, a line for
// each section.
func (b Bundle) MarshalText() ([]byte, error) {
	var text []byte
	for _, e := range b.content() {
		var err error
		text = yamlNotation.appendName(text, e.Name)
		if text, err = yamlNotation.append(text, e.Value); err != nil {
			return nil, err
		}
		text = append(text, '\n')
	}
	return text, nil
}

// Equal reports whether both bundles give the same fields, whatever their files.
func (b Bundle) Equal(o Bundle) bool {
	x, err := b.MarshalText()
	y, other := o.MarshalText()
	return err == nil && other == nil && bytes.Equal(x, y)
}

// UnmarshalText returns Parse for text without a file name.
func (b *Bundle) UnmarshalText(text []byte) error {
	return b.unmarshal(text, maxText)
}

func (b *Bundle) unmarshal(text []byte, limit int) error {
	read, err := parseBundle(bundleName, text, limit)
	if err != nil {
		return err
	}
	*b = read
	return nil
}

// content returns the given fields as a Mapping.
func (b *Bundle) content() Mapping {
	list := Mapping{}
	all := sections()
	for i := range all {
		s := &all[i]
		var given Mapping
		if s.selection != nil {
			given = s.selection(b).content(policy.Kind(s.name))
		}
		for k := range s.fields {
			f := &s.fields[k]
			if text := f.get(b); text != "" {
				given = given.with(strings.Split(f.Name, "."), valueOf(&f.Parameter, text))
			}
		}
		if s.name == metadata {
			given = b.Metadata
		}
		if given != nil {
			list = append(list, Entry{s.name, given})
		}
	}
	return list
}

// with returns the mapping with a value added at a path, through mappings that it
// makes.
func (m Mapping) with(path []string, value any) Mapping {
	if len(path) == 1 {
		return append(m, Entry{path[0], value})
	}
	if last := len(m) - 1; last >= 0 && m[last].Name == path[0] {
		m[last].Value = m[last].Value.(Mapping).with(path[1:], value)
		return m
	}
	return append(m, Entry{path[0], Mapping(nil).with(path[1:], value)})
}

func (c *Selection) content(kind policy.Kind) Mapping {
	var given Mapping
	if c.Type != "" {
		given = Mapping{{"type", c.Type}}
	}
	if len(c.Params) == 0 {
		return given
	}
	t, err := c.template(kind)
	var params, tenants Mapping
	for _, s := range c.Params {
		e := Entry{s.Name, s.Value}
		if err == nil { // else the reader will report the unknown type
			if p := t.Parameter(s.Name); p != nil {
				e.Value = valueOf(p, s.Value)
			}
		}
		if tenant, ok := policy.TenantOf(s.Name); ok {
			tenants = append(tenants, Entry{tenant, e.Value})
		} else {
			params = append(params, e)
		}
	}
	if params != nil {
		given = append(given, Entry{"params", params})
	}
	if tenants != nil {
		given = append(given, Entry{policy.TenantsKey, tenants})
	}
	return given
}

// valueOf returns a parameter's text in the YAML type of the parameter, and as text if
// it is not an allowed value.
func valueOf(p *policy.Parameter, text string) any {
	if !p.Allows(text) || text == policy.Auto {
		return text
	}
	switch {
	case p.Type == policy.Mapping:
		if m := mappingOf(text); m != nil {
			return m
		}
	case p.Type == policy.Flag:
		return text == "true"
	case p.IsNumber():
		return json.Number(plain(p, text))
	}
	return text
}

// plain returns an allowed value of the parameter in a form that JSON can write: 5
// for +5.
func plain(p *policy.Parameter, text string) string {
	if !p.IsNumber() || text == policy.Auto || isNumeral(text) {
		return text
	}
	x, _ := strconv.ParseFloat(text, 64)
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// notation is a way to write values.
type notation struct {
	colon, comma string
	words        bool // names and strings may stand without quotes
}

var (
	jsonNotation = notation{":", ",", false}
	yamlNotation = notation{": ", ", ", true} // in flow style
)

func (n *notation) append(text []byte, x any) ([]byte, error) {
	switch x := x.(type) {
	case nil:
		return append(text, "null"...), nil
	case bool:
		return strconv.AppendBool(text, x), nil
	case json.Number:
		if !isNumeral(string(x)) {
			return nil, fmt.Errorf("%s: %q is not a number", bundleName, x)
		}
		return append(text, x...), nil
	case string:
		return n.appendString(text, x), nil
	case []any:
		return n.appendList(text, x)
	case Mapping:
		return n.appendMapping(text, x)
	}
	return nil, fmt.Errorf("%s: a %T, want nil, bool, json.Number, string, []any or bundle.Mapping", bundleName, x)
}

func (n *notation) appendList(text []byte, list []any) ([]byte, error) {
	text = append(text, '[')
	for i, x := range list {
		if i > 0 {
			text = append(text, n.comma...)
		}
		var err error
		if text, err = n.append(text, x); err != nil {
			return nil, err
		}
	}
	return append(text, ']'), nil
}

func (n *notation) appendMapping(text []byte, m Mapping) ([]byte, error) {
	text = append(text, '{')
	for i, e := range m {
		if i > 0 {
			text = append(text, n.comma...)
		}
		text = n.appendName(text, e.Name)
		var err error
		if text, err = n.append(text, e.Value); err != nil {
			return nil, err
		}
	}
	return append(text, '}'), nil
}

func (n *notation) appendName(text []byte, name string) []byte {
	return append(n.appendString(text, name), n.colon...)
}

func (n *notation) appendString(text []byte, s string) []byte {
	if n.words && isWord(s) {
		return append(text, s...)
	}
	return appendQuoted(text, s)
}

// isWord reports whether YAML reads s without quotes as the string s: names, and
// durations like 50ms.
func isWord(s string) bool {
	if s == "" || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.") != "" {
		return false
	}
	switch strings.ToLower(s) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return false
	}
	isDigit := '0' <= s[0] && s[0] <= '9'
	return unicode.IsLetter(rune(s[0])) || isDigit && strings.HasSuffix(s, "s")
}

// appendQuoted writes s in double quotes, as both JSON and YAML read it.
func appendQuoted(text []byte, s string) []byte {
	text = append(text, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			text = append(text, '\\', byte(r))
		case unicode.IsPrint(r):
			text = append(text, string(r)...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			text = fmt.Appendf(text, `\u%04x\u%04x`, high, low)
		default:
			text = fmt.Appendf(text, `\u%04x`, r)
		}
	}
	return append(text, '"')
}
