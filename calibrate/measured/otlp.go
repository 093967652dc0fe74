package measured

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"blis/vtime"
)

// Trace is what spans of vLLM tell.
type Trace struct {
	Requests []TracedRequest // by Start
	Steps    []Step          // by ID, of one engine; without those that scheduled nothing
	Idle     int             // steps that scheduled nothing, which vLLM takes while it waits

	// Every span of the file is one of Spans: Used, or in Skipped by reason.
	Spans, Used int
	Skipped     map[string]int
	// Events of used spans that no field here needs.
	OtherEvents int
}

// Reasons of Trace.Skipped. A span that is not vLLM's is skipped as "named X".
const (
	skippedTwice   = "the same span again"
	skippedNoSteps = "span of steps without steps"
)

// ReadOTLP reads spans of vLLM in OTLP-JSON: objects with resourceSpans, one
// after the other, or in a list. 64-bit numbers may be strings or numbers.
//
// Of spans called llm_request it takes start and end, the attributes
//
//	gen_ai.request.id, gen_ai.usage.prompt_tokens, gen_ai.usage.completion_tokens
//	gen_ai.latency.time_to_first_token, .e2e, .time_in_queue, .time_in_model_prefill,
//	.time_in_model_decode, .time_in_model_inference   (seconds)
//
// and of these and of spans called llm_core, which belong to the llm_request that
// is their parent or has their request id, the events ARRIVED, HANDOFF_TO_CORE
// (or HANDOFF), QUEUED, SCHEDULED, FIRST_TOKEN, PREEMPTED, FINISHED and DEPARTED,
// also behind a prefix, as in journey.QUEUED. Of several of a name the first
// counts, but for PREEMPTED, which are counted.
//
// Events step.BATCH_SUMMARY of any span are steps. Their attributes are the
// columns of ReadSteps that have a point in their name, and step.ts_start_ns,
// which gives the periods of consecutive steps. Events step.REQUEST_SNAPSHOT of
// the same step.id tell of its requests: request.num_prompt_tokens,
// request.num_computed_tokens (before the step), request.num_output_tokens and
// request.scheduled_tokens_this_step. Where they cover the batch, the sums of a
// Step are known, and what counts as prefill is settled by tokens: a request is
// in decode once its prompt, and all but the last token of what it generated, is
// computed.
func ReadOTLP(path string) (*Trace, error) { return readFile(path, readOTLP) }

func readOTLP(name string, r io.Reader) (*Trace, error) {
	text, err := openJSON(name, r)
	if err != nil {
		return nil, err
	}
	o := &otlpReader{text: text, trace: &Trace{Skipped: map[string]int{}}, seen: map[spanKey]bool{}}
	for {
		token, err := text.token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := o.exports(token); err != nil {
			return nil, err
		}
	}
	if o.trace.Spans == 0 {
		return nil, fmt.Errorf("%s: no spans: want OTLP-JSON, objects with resourceSpans", name)
	}
	o.trace.Requests = o.joined()
	if o.trace.Steps, err = o.steps.list(name, o.trace); err != nil {
		return nil, err
	}
	return o.trace, nil
}

// otlpReader walks an export down to its spans.
type otlpReader struct {
	text  *jsonText
	trace *Trace
	seen  map[spanKey]bool

	requests, cores []rawRequest
	steps           stepEvents
}

// exports reads what begins with token: an export, or a list of them.
func (o *otlpReader) exports(token json.Token) error {
	switch token {
	case json.Delim('{'):
		return o.text.members(o.export)
	case json.Delim('['):
		for o.text.dec.More() {
			if err := o.text.object("export", o.export); err != nil {
				return err
			}
		}
		_, err := o.text.inner()
		return err
	}
	return bad(o.text.name, o.text.line(), "export", fmt.Sprint(token), "an object with resourceSpans, or a list of them")
}

func (o *otlpReader) export(key string) error {
	if key != "resourceSpans" {
		return o.skip()
	}
	return o.text.list(key, func() error {
		return o.text.object("an element of resourceSpans", func(key string) error {
			if key != "scopeSpans" {
				return o.skip()
			}
			return o.text.list(key, func() error { return o.text.object("an element of scopeSpans", o.scope) })
		})
	})
}

func (o *otlpReader) scope(key string) error {
	if key != "spans" {
		return o.skip()
	}
	return o.text.list(key, o.span)
}

func (o *otlpReader) skip() error {
	_, _, err := o.text.value()
	return err
}

// span reads one span and accounts for it.
func (o *otlpReader) span() error {
	raw, line, err := o.text.value()
	if err != nil {
		return err
	}
	o.trace.Spans++
	s := &span{file: o.text.name, line: line}
	if err := s.decode(raw); err != nil {
		return err
	}
	reason := o.use(s)
	if s.fault != nil {
		return s.fault
	}
	if reason == "" {
		o.trace.Used++
	} else {
		o.trace.Skipped[reason]++
	}
	return nil
}

// use takes from a span what it tells; else it returns the reason why nothing.
func (o *otlpReader) use(s *span) (skipped string) {
	if key := s.key(); key != (spanKey{}) {
		if o.seen[key] {
			return skippedTwice // exporters that saw no answer try again
		}
		o.seen[key] = true
	}
	switch s.Name {
	case "llm_request":
		o.requests = append(o.requests, o.request(s))
		return ""
	case "llm_core":
		o.cores = append(o.cores, o.request(s))
		return ""
	}
	if found := o.steps.take(s, o.trace); found {
		return ""
	}
	if s.Name == "scheduler_steps" {
		return skippedNoSteps
	}
	return "named " + quote(s.Name)
}

// Unknown is a duration that is not in the trace.
const Unknown vtime.Duration = -1
