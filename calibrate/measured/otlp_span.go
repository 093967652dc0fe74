package measured

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"blis/input/textio"
)

// span is one span as OTLP-JSON has it. Its values are taken one after the
// other, and the first that is wrong is the fault.
type span struct {
	TraceID    string          `json:"traceId"`
	SpanID     string          `json:"spanId"`
	ParentID   string          `json:"parentSpanId"`
	Name       string          `json:"name"`
	Start      json.RawMessage `json:"startTimeUnixNano"`
	End        json.RawMessage `json:"endTimeUnixNano"`
	Attributes []attribute     `json:"attributes"`
	Events     []event         `json:"events"`

	file  string
	line  int // where it begins
	fault error
}

type event struct {
	Time       json.RawMessage `json:"timeUnixNano"`
	Name       string          `json:"name"`
	Attributes []attribute     `json:"attributes"`
}

type attribute struct {
	Key   string `json:"key"`
	Value struct {
		String *string         `json:"stringValue"`
		Int    json.RawMessage `json:"intValue"`
		Double json.RawMessage `json:"doubleValue"`
		Bool   *bool           `json:"boolValue"`
	} `json:"value"`
}

// spanKey tells spans apart. Ids are only given where both are.
type spanKey struct{ trace, span string }

func (s *span) key() spanKey {
	if s.TraceID == "" || s.SpanID == "" {
		return spanKey{}
	}
	return spanKey{s.TraceID, s.SpanID}
}

// decode parses the span. The JSON has been checked by then; types have not.
func (s *span) decode(raw json.RawMessage) error {
	err := json.Unmarshal(raw, s)
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		field := "span"
		if kind.Field != "" {
			field += "." + kind.Field
		}
		return fmt.Errorf("%s:%d: %s: a JSON %s: want %s", s.file, s.line, field, kind.Value, article(kind.Type))
	}
	if err != nil {
		return fmt.Errorf("%s:%d: span: %w", s.file, s.line, err)
	}
	return nil
}

// article names what JSON would be right for a type of span.
func article(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

// part is the span itself, or one of its events: what has attributes and a place
// in errors.
type part struct {
	*span
	attributes []attribute
	where      string // for errors: "" or ` event 2`
}

func (s *span) self() part { return part{s, s.Attributes, ""} }

func (s *span) event(i int) part {
	return part{s, s.Events[i].Attributes, fmt.Sprintf(" event %d", i+1)}
}

// bad makes a value the fault of the span, unless it has one.
func (p part) bad(field, value, want string, args ...any) {
	if p.fault == nil {
		p.fault = bad(p.file, p.line, fmt.Sprintf("%s %s%s: %s", p.called(), quote(p.SpanID), p.where, field), value, want, args...)
	}
}

// called is the name of the span, for errors.
func (s *span) called() string {
	switch s.Name {
	case "llm_request", "llm_core", "scheduler_steps":
		return s.Name
	}
	return "span"
}

// text is an attribute as text, whatever its type; false when it is not there.
func (p part) text(key string) (string, bool) {
	for i := range p.attributes {
		if p.attributes[i].Key != key {
			continue
		}
		v := &p.attributes[i].Value
		switch {
		case v.String != nil:
			return *v.String, true
		case v.Int != nil:
			return unquoted(v.Int), true
		case v.Double != nil:
			return unquoted(v.Double), true
		case v.Bool != nil:
			return fmt.Sprint(*v.Bool), true
		}
		return "", true
	}
	return "", false
}

// unquoted is a number, which JSON of 64-bit integers has as a string.
func unquoted(raw json.RawMessage) string {
	var s string
	if strings.HasPrefix(string(raw), `"`) && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// whole is an attribute that is a whole number; otherwise where it is not there.
func (p part) whole(key string, low, high, otherwise int64) int64 {
	text, there := p.text(key)
	if !there {
		return otherwise
	}
	n, ok := textio.Whole(text, low, high)
	if !ok {
		p.bad(key, text, "a whole number from %d to %d", low, high)
	}
	return n
}

// needed is an attribute that must be there, a whole number.
func (p part) needed(key string, high int64) int64 {
	if _, there := p.text(key); !there {
		p.bad(key, "", "a whole number from 0 to %d", high)
	}
	return p.whole(key, 0, high, 0)
}

// decimal is an attribute that is a number from 0 to high, 0 where it is not
// there.
func (p part) decimal(key string, high float64) float64 {
	text, there := p.text(key)
	if !there {
		return 0
	}
	x, ok := decimal(text, high)
	if !ok {
		p.bad(key, text, "a number from 0 to %v", high)
	}
	return x
}

// nanos is a time since 1970.
func (p part) nanos(field string, raw json.RawMessage) int64 {
	ns, ok := textio.Whole(unquoted(raw), 1, latest)
	if !ok {
		p.bad(field, unquoted(raw), "nanoseconds since 1970, from 1 to %d", int64(latest))
	}
	return ns
}
