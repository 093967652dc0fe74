package loadgen

import "blis/input/textio"

// spans are the requests of an OTLP file until it is known which count.
type spans struct {
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

// otlpExport reads one export of OTLP-JSON, an object with resourceSpans. Requests
// are spans with gen_ai.usage.*: those called llm_request, which vLLM writes, or
// where there are none, those that no other such span encloses. A span that comes
// twice, as exporters that saw no answer send it, counts once.
func (r *reader) otlpExport() error {
	r.fault = nil
	return r.fields("export", func(key string) (bool, error) {
		if key != "resourceSpans" {
			return false, nil
		}
		return true, r.list(key, func(int) error {
			return r.fields("an element of resourceSpans", func(key string) (bool, error) {
				if key != "scopeSpans" && key != "instrumentationLibrarySpans" {
					return false, nil
				}
				return true, r.list(key, func(int) error {
					return r.fields("an element of scopeSpans", func(key string) (bool, error) {
						if key != "spans" {
							return false, nil
						}
						return true, r.list(key, func(int) error { return r.otlpSpan() })
					})
				})
			})
		})
	})
}

func (r *reader) otlpSpan() error {
	r.begin()
	s := otlpSpan{}
	var name string
	err := r.fields("span", func(key string) (taken bool, err error) {
		switch key {
		case "name":
			name, err = r.string(key)
		case "traceId":
			s.id.trace, err = r.string(key)
		case "spanId":
			s.id.span, err = r.string(key)
		case "parentSpanId":
			s.parent.span, err = r.string(key)
		case "startTimeUnixNano":
			r.now.Start, err = r.otlpTime(key)
		case "attributes":
			err = r.list(key, func(int) error { return r.otlpAttribute() })
		case "status":
			err = r.fields(key, func(key string) (bool, error) {
				if key != "code" {
					return false, nil
				}
				c, err := r.Next()
				if err == nil && c == '2' {
					r.now.State = Failed
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
	if r.otlp.seen == nil {
		r.otlp.seen = map[otlpID]bool{}
	}
	if known := r.otlp.seen[s.id]; known && s.id.span != "" {
		return nil
	}
	r.otlp.seen[s.id] = true
	if !s.server && r.now.Input == Unknown && r.now.Output == Unknown {
		r.run().Other++
		return nil
	}
	if s.server && (r.now.Input == Unknown || r.now.Output == Unknown) {
		r.now.State = Failed
	}
	if r.now.Start == Unknown {
		r.missing("startTimeUnixNano", "nanoseconds since 1970")
	}
	run, at := r.run(), len(r.run().Requests)
	if err := r.end(); err != nil || len(run.Requests) == at {
		return err
	}
	s.Request = run.Requests[at]
	run.Requests = run.Requests[:at]
	r.otlp.list = append(r.otlp.list, s)
	return nil
}

// otlpTime is a time in nanoseconds, which JSON of 64-bit integers has as a
// string.
func (r *reader) otlpTime(field string) (int64, error) {
	text, err := r.otlpText(field)
	if err != nil {
		return Unknown, err
	}
	return r.otlpWhole(field, text, latest), nil
}

// otlpText is a number, with quotes or without.
func (r *reader) otlpText(field string) (string, error) {
	c, err := r.Next()
	if err != nil {
		return "", r.cut(err)
	}
	if c == '"' {
		return r.string(field)
	}
	return r.number(field, "a number")
}

// otlpAttribute takes an attribute that counts tokens, or names the
// conversation.
func (r *reader) otlpAttribute() error {
	key, value := "", ""
	err := r.fields("attribute", func(name string) (taken bool, err error) {
		switch name {
		case "key":
			key, err = r.string(name)
		case "value":
			err = r.fields(name, func(kind string) (taken bool, err error) {
				switch kind {
				case "intValue", "doubleValue", "stringValue":
					value, err = r.otlpText(kind)
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
		r.now.Session = value
	case one(promptAttributes, key):
		r.now.Input = int32(r.otlpWhole(key, value, 1<<31-1))
	case one(answerAttributes, key):
		r.now.Output = int32(r.otlpWhole(key, value, 1<<31-1))
	}
	return nil
}

func one(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// joinSpans takes the spans that are requests.
func (r *reader) joinSpans() {
	o, run := &r.otlp, r.run()
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

// otlpWhole is a whole number of an attribute or time.
func (r *reader) otlpWhole(field, text string, high int64) int64 {
	n, ok := textio.Whole(text, 0, high)
	if !ok {
		r.wrong(field, text, "a whole number from 0 to %d", high)
		return Unknown
	}
	return n
}
