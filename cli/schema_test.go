package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// schema is a JSON Schema of the part of draft 2020-12 that ours uses. A
// keyword it does not know is an error, so that none goes unchecked.
type schema struct{ root map[string]any }

func loadSchema(t *testing.T) *schema {
	t.Helper()
	return loadSchemaOf(t, "run")
}

func loadSchemaOf(t *testing.T, command string) *schema {
	t.Helper()
	s := &schema{}
	if err := json.Unmarshal([]byte(read(t, "../docs/"+command+".schema.json")), &s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// check returns what is wrong with a document, place by place.
func (s *schema) check(text string) []string {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return []string{err.Error()}
	}
	return s.value(s.root, v, "$")
}

func (s *schema) value(rule map[string]any, v any, at string) (bad []string) {
	add := func(format string, args ...any) { bad = append(bad, at+": "+fmt.Sprintf(format, args...)) }
	for keyword, want := range rule {
		switch keyword {
		case "$schema", "title", "description", "$defs":
		case "$ref":
			name := strings.TrimPrefix(want.(string), "#/$defs/")
			target, ok := s.root["$defs"].(map[string]any)[name].(map[string]any)
			if !ok {
				add("no definition %v", want)
				continue
			}
			bad = append(bad, s.value(target, v, at)...)
		case "type":
			if !hasType(want, v) {
				add("%v is no %v", v, want)
			}
		case "const":
			if !reflect.DeepEqual(v, want) {
				add("%v is not %v", v, want)
			}
		case "enum":
			if !slices.Contains(want.([]any), v) {
				add("%v is none of %v", v, want)
			}
		case "minimum":
			if x, ok := v.(float64); ok && x < want.(float64) {
				add("%v is below %v", x, want)
			}
		case "maximum":
			if x, ok := v.(float64); ok && x > want.(float64) {
				add("%v is above %v", x, want)
			}
		case "pattern":
			if x, ok := v.(string); ok && !regexp.MustCompile(want.(string)).MatchString(x) {
				add("%q does not match %v", x, want)
			}
		case "anyOf":
			if !slices.ContainsFunc(want.([]any), func(r any) bool { return len(s.value(r.(map[string]any), v, at)) == 0 }) {
				add("fits none of %d forms", len(want.([]any)))
			}
		case "items":
			list, _ := v.([]any)
			for i, item := range list {
				bad = append(bad, s.value(want.(map[string]any), item, fmt.Sprintf("%s[%d]", at, i))...)
			}
		case "properties", "required", "additionalProperties":
			if o, ok := v.(map[string]any); ok && keyword == "properties" {
				bad = append(bad, s.object(rule, o, at)...)
			} else if ok && rule["properties"] == nil {
				bad = append(bad, s.object(rule, o, at)...)
			}
		default:
			add("the schema says %q, which the test does not know", keyword)
		}
	}
	return bad
}

// object checks the keys of o, and their values.
func (s *schema) object(rule, o map[string]any, at string) (bad []string) {
	known, _ := rule["properties"].(map[string]any)
	required, _ := rule["required"].([]any)
	for _, name := range required {
		if _, ok := o[name.(string)]; !ok {
			bad = append(bad, fmt.Sprintf("%s: %v is missing", at, name))
		}
	}
	for name, v := range o {
		if r, ok := known[name].(map[string]any); ok {
			bad = append(bad, s.value(r, v, at+"."+name)...)
			continue
		}
		switch other := rule["additionalProperties"].(type) {
		case bool:
			bad = append(bad, fmt.Sprintf("%s: %s is unknown", at, name))
		case map[string]any:
			bad = append(bad, s.value(other, v, at+"."+name)...)
		}
	}
	return bad
}

func hasType(want, v any) bool {
	if list, ok := want.([]any); ok {
		return slices.ContainsFunc(list, func(one any) bool { return hasType(one, v) })
	}
	switch v := v.(type) {
	case nil:
		return want == "null"
	case bool:
		return want == "boolean"
	case string:
		return want == "string"
	case float64:
		return want == "number" || want == "integer" && v == math.Trunc(v)
	case []any:
		return want == "array"
	}
	return want == "object"
}

// The validator must see what is wrong, or the tests that use it prove
// nothing.
func TestSchemaRefusesWhatIsWrong(t *testing.T) {
	s := loadSchema(t)
	good := done(t, small("--format", "json")...).out
	if bad := s.check(good); bad != nil {
		t.Fatal(bad)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"blis.run/v1"`, `"blis.run/v0"`, "$.schema"},
		{`"completed_requests": 60`, `"completed_requests": -1`, "$.completed_requests"},
		{`"completed_requests": 60`, `"completed_requests": 1.5`, "$.completed_requests"},
		{`"completed_requests": 60,`, ``, "completed_requests is missing"},
		{`"partial": false`, `"partial": null`, "$.partial"},
		{`"partial": false`, `"partial": false, "more": 1`, "more is unknown"},
		{`"limit": "none"`, `"limit": "luck"`, "$.limit"},
		{`"queued":0`, `"queued":"0"`, "$.overall"},
		{`"digest": "`, `"digest": "x`, "$.digest"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if bad := strings.Join(s.check(text), "\n"); text == good || !strings.Contains(bad, c.want) {
			t.Errorf("%s for %s: %q, want it to name %q", c.new, c.old, bad, c.want)
		}
	}
}
