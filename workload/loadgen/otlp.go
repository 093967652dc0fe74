package loadgen

import (
	"slices"

	"blis/input/textio"
)

// otlp reads files of OTLP-JSON. It keeps the spans until it is known which are
// requests.
type otlp struct {
	in   *reader
	list []otlpSpan
	seen map[otlpID]bool
}

type otlpID struct{ trace, span string }

type otlpSpan struct {
	Request
	id, parent otlpID
	server     bool // called llm_request, as vLLM calls its own
}

// Attributes of a span that count tokens: attributes of vLLM, and of
// OpenTelemetry's conventions for generative AI, also by their older names.
var (
	promptAttributes = []string{"gen_ai.usage.prompt_tokens", "gen_ai.usage.input_tokens", "llm.usage.prompt_tokens"}
	answerAttributes = []string{"gen_ai.usage.completion_tokens", "gen_ai.usage.output_tokens", "llm.usage.completion_tokens"}
)

// export reads one export of OTLP-JSON, an object with resourceSpans. Requests
// are spans with gen_ai.usage.*: those called llm_request, which vLLM writes, or
// where there are none, those that no other such span encloses. A span that comes
// twice, as exporters that saw no answer send it, counts once.
func (o *otlp) export() error {
	o.in.fault = nil
	return o.in.fields("export", func(key string) (bool, error) {
		if key != "resourceSpans" {
			return false, nil
		}
		return true, o.in.list(key, func(int) error {
			return o.in.fields("an element of resourceSpans", func(key string) (bool, error) {
				if key != "scopeSpans" && key != "instrumentationLibrarySpans" {
					return false, nil
				}
				return true, o.in.list(key, func(int) error {
					return o.in.fields("an element of scopeSpans", func(key string) (bool, error) {
						if key != "spans" {
							return false, nil
						}
						return true, o.in.list(key, func(int) error { return o.span() })
					})
				})
			})
		})
	})
}

func (o *otlp) span() error {
	o.in.begin()
	s := otlpSpan{}
	var name string
	err := o.in.fields("span", func(key string) (taken bool, err error) {
		switch key {
		case "name":
			name, err = o.in.string(key)
		case "traceId":
			s.id.trace, err = o.in.string(key)
		case "spanId":
			s.id.span, err = o.in.string(key)
		case "parentSpanId":
			s.parent.span, err = o.in.string(key)
		case "startTimeUnixNano":
			o.in.now.Start, err = o.time(key)
		case "attributes":
			err = o.in.list(key, func(int) error { return o.attribute() })
		case "status":
			err = o.in.fields(key, func(key string) (bool, error) {
				if key != "code" {
					return false, nil
				}
				c, err := o.in.Next()
				if err == nil && c == '2' {
					o.in.now.State = Failed
				}
				return false, nil
			})
		default:
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return err
	}
	s.parent.trace = s.id.trace
	s.server = name == "llm_request"
	if o.seen == nil {
		o.seen = map[otlpID]bool{}
	}
	if known := o.seen[s.id]; known && s.id.span != "" {
		return nil
	}
	o.seen[s.id] = true
	if !s.server && o.in.now.Input == Unknown && o.in.now.Output == Unknown {
		o.in.run().Other++
		return nil
	}
	if s.server && (o.in.now.Input == Unknown || o.in.now.Output == Unknown) {
		o.in.now.State = Failed
	}
	if o.in.now.Start == Unknown {
		o.in.missing("startTimeUnixNano", "nanoseconds since 1970")
	}
	run, at := o.in.run(), len(o.in.run().Requests)
	if err := o.in.end(); err != nil || len(run.Requests) == at {
		return err
	}
	s.Request = run.Requests[at]
	run.Requests = run.Requests[:at]
	o.list = append(o.list, s)
	return nil
}

// time is a time in nanoseconds, which JSON of 64-bit integers has as a
// string.
func (o *otlp) time(field string) (int64, error) {
	text, err := o.text(field)
	if err != nil {
		return Unknown, err
	}
	return o.whole(field, text, latest), nil
}

// text is a number, with quotes or without.
func (o *otlp) text(field string) (string, error) {
	c, err := o.in.Next()
	if err != nil {
		return "", o.in.cut(err)
	}
	if c == '"' {
		return o.in.string(field)
	}
	return o.in.number(field, "a number")
}

// attribute takes an attribute that counts tokens, or names the
// conversation.
func (o *otlp) attribute() error {
	key, value := "", ""
	err := o.in.fields("attribute", func(name string) (taken bool, err error) {
		switch name {
		case "key":
			key, err = o.in.string(name)
		case "value":
			err = o.in.fields(name, func(kind string) (taken bool, err error) {
				switch kind {
				case "intValue", "doubleValue", "stringValue":
					value, err = o.text(kind)
				default:
					return false, nil
				}
				return true, err
			})
		default:
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return err
	}
	switch {
	case key == "gen_ai.conversation.id":
		o.in.now.Session = value
	case slices.Contains(promptAttributes, key):
		o.in.now.Input = int32(o.whole(key, value, 1<<31-1))
	case slices.Contains(answerAttributes, key):
		o.in.now.Output = int32(o.whole(key, value, 1<<31-1))
	}
	return nil
}

// join takes the spans that are requests.
func (o *otlp) join() {
	run := o.in.run()
	server := false
	parents := map[otlpID]otlpID{}
	for _, s := range o.list {
		server = server || s.server
		parents[s.id] = s.parent
	}
	for _, s := range o.list {
		if _, within := parents[s.parent]; within && s.parent.span != "" && !server || server && !s.server {
			run.Other++
			continue
		}
		run.Requests = append(run.Requests, s.Request)
	}
	o.list, o.seen = nil, nil
}

// whole is a whole number of an attribute or time.
func (o *otlp) whole(field, text string, high int64) int64 {
	n, ok := textio.Whole(text, 0, high)
	if !ok {
		o.in.wrong(field, text, "a whole number from 0 to %d", high)
		return Unknown
	}
	return n
}
