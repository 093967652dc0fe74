package otlp

import (
	"bufio"
	"encoding/json"
	"math/bits"
	"strconv"
	"time"

	"blis/actors"
	"blis/metrics"
	"blis/vtime"
)

// Rows returns a function for actors.Config.Row that writes a span llm_request for each request that ended on an
// instance, with vLLM's attributes (vllm/tracing.py, 0.10). Virtual time begins at epoch. Spans of requests that
// did not complete have the status error. Errors of w show when it is flushed.
func Rows(w *bufio.Writer, epoch time.Time) func(*actors.Row) {
	s := &spans{w: w, epoch: epoch.UnixNano(), names: map[string][]byte{}}
	return s.add
}

// spans writes them.
type spans struct {
	w     *bufio.Writer
	epoch int64             // ns since 1970
	names map[string][]byte // as JSON
	more  bool              // the span has an attribute
}

// mostNames is how many names are kept as JSON.
const mostNames = 1 << 12

func (s *spans) add(r *actors.Row) {
	if r.Instance < 0 || r.Finished == vtime.Never || r.State == metrics.Dropped {
		return
	}
	b := s.w.AvailableBuffer()
	b = append(b, `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"vllm"}},{"key":"service.instance.id","value":{"stringValue":`...)
	b = append(b, s.name(r.InstanceName())...)
	b = append(b, `}}]},"scopeSpans":[{"scope":{"name":"vllm.llm_engine"},"spans":[{"traceId":"`...)
	b = appendHex(appendHex(b, mix(uint64(r.ID))), mix(^uint64(r.ID)))
	b = append(b, `","spanId":"`...)
	b = appendHex(b, mix(bits.Reverse64(uint64(r.ID))+1))
	b = append(b, `","name":"llm_request","kind":2,"startTimeUnixNano":"`...)
	b = s.time(b, r.Arrival)
	b = append(b, `","endTimeUnixNano":"`...)
	e2e, _ := r.E2E()
	b = s.time(b, max(r.Finished, r.Arrival.Add(e2e)))
	b = append(b, `","attributes":[`...)
	s.more = false
	b = s.text(b, "gen_ai.request.id", strconv.AppendQuote(nil, "request-"+strconv.FormatInt(r.ID, 10)))
	if model := r.ModelName(); model != "" {
		b = s.text(b, "gen_ai.response.model", s.name(model))
	}
	if r.Session != 0 {
		b = s.text(b, "gen_ai.conversation.id", strconv.AppendQuote(nil, strconv.FormatUint(r.Session, 10)))
	}
	b = s.whole(b, "gen_ai.usage.prompt_tokens", int64(r.Input))
	b = s.whole(b, "gen_ai.usage.completion_tokens", int64(r.Generated))
	b = s.latencies(b, r)
	for _, x := range [...]struct{ key, name string }{{"blis.tenant", r.TenantName()}, {"blis.slo_class", r.ClassName()}} {
		if x.name != "" {
			b = s.text(b, x.key, s.name(x.name))
		}
	}
	b = append(b, ']')
	if r.State != metrics.Completed {
		b = append(append(append(b, `,"status":{"code":2,"message":`...), s.name(r.State.String())...), '}')
	}
	s.w.Write(append(b, "}]}]}]}\n"...))
}

// latencies adds the durations that are known.
func (s *spans) latencies(b []byte, r *actors.Row) []byte {
	between := func(key string, from, to vtime.Time) {
		if from != vtime.Never && to != vtime.Never {
			b = s.seconds(b, key, to.Sub(from))
		}
	}
	between("gen_ai.latency.time_in_queue", r.Queued, r.Scheduled)
	if d, ok := r.TTFT(); ok {
		b = s.seconds(b, "gen_ai.latency.time_to_first_token", d)
	}
	if d, ok := r.E2E(); ok {
		b = s.seconds(b, "gen_ai.latency.e2e", d)
	}
	between("gen_ai.latency.time_in_model_prefill", r.Scheduled, r.FirstToken)
	if r.State == metrics.Completed {
		between("gen_ai.latency.time_in_model_decode", r.FirstToken, r.LastToken)
		between("gen_ai.latency.time_in_model_inference", r.Scheduled, r.LastToken)
	}
	return b
}

// name is a name as JSON.
func (s *spans) name(name string) []byte {
	text, known := s.names[name]
	if !known {
		text, _ = json.Marshal(name) // of a string: no error
		if len(s.names) < mostNames {
			s.names[name] = text
		}
	}
	return text
}

func (s *spans) attribute(b []byte, key string) []byte {
	if s.more {
		b = append(b, ',')
	}
	s.more = true
	return append(append(append(b, `{"key":"`...), key...), `","value":{"`...)
}

// text adds an attribute whose value is JSON of a string.
func (s *spans) text(b []byte, key string, value []byte) []byte {
	b = append(s.attribute(b, key), `stringValue":`...)
	return append(append(b, value...), "}}"...)
}

func (s *spans) whole(b []byte, key string, n int64) []byte {
	b = append(s.attribute(b, key), `intValue":"`...)
	return append(strconv.AppendInt(b, n, 10), `"}}`...)
}

func (s *spans) seconds(b []byte, key string, d vtime.Duration) []byte {
	b = append(s.attribute(b, key), `doubleValue":`...)
	return append(strconv.AppendFloat(b, d.Seconds(), 'f', -1, 64), "}}"...)
}

// time adds a time in ns since 1970.
func (s *spans) time(b []byte, at vtime.Time) []byte {
	return strconv.AppendInt(b, s.epoch+int64(at)*1000, 10)
}

// appendHex adds a number in 16 hexadecimal digits.
func appendHex(b []byte, x uint64) []byte {
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[x>>shift&15])
	}
	return b
}

// mix spreads the bits of a number: ids look like ids. (The finalizer of splitmix64, a bijection.) It is never 0,
// which OpenTelemetry takes for no id, but for one number that no request has.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
