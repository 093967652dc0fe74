package measured

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"blis/input/textio"
	"blis/vtime"
)

// TracedRequest is a request as spans of vLLM tell of it. Times are after the
// first of all times of requests in the trace, Never where they are missing.
// Durations are vLLM's own, or differences of the times where it gives none, or
// Unknown.
type TracedRequest struct {
	ID            string
	Start, End    vtime.Time // of the span: the server was at work on it in between
	Input, Output int32      // tokens, 0 where they are missing, as for a request that failed

	TTFT, E2E       vtime.Duration // as the front end sees them
	Queue           vtime.Duration // queued to scheduled
	Prefill, Decode vtime.Duration // scheduled to first token, first token to last
	Inference       vtime.Duration // scheduled to last token

	Arrived, Handoff, Queued, Scheduled vtime.Time
	FirstToken, Finished, Departed      vtime.Time
	Preemptions                         int
}

// rawRequest is one span of a request; times are nanoseconds since 1970.
type rawRequest struct {
	TracedRequest
	key, parent spanKey
	joined      bool // an llm_request that has its llm_core
}

// times are the times of a request: of events, in the order of eventNames, and of
// the span.
func (r *TracedRequest) times() [9]*vtime.Time {
	return [9]*vtime.Time{&r.Arrived, &r.Handoff, &r.Queued, &r.Scheduled, &r.FirstToken, &r.Finished, &r.Departed, &r.Start, &r.End}
}

// eventNames are in the order in which the events come.
var eventNames = strings.Fields("ARRIVED HANDOFF_TO_CORE QUEUED SCHEDULED FIRST_TOKEN FINISHED DEPARTED")

// request takes from a span of a request what it tells.
func (o *otlpReader) request(s *span) rawRequest {
	p := s.self()
	r := rawRequest{key: s.key()}
	if s.TraceID != "" && s.ParentID != "" {
		r.parent = spanKey{s.TraceID, s.ParentID}
	}
	for _, t := range r.times() {
		*t = vtime.Never
	}
	r.ID, _ = p.text("gen_ai.request.id")
	r.Start = vtime.Time(p.nanos("startTimeUnixNano", s.Start))
	r.End = vtime.Time(p.nanos("endTimeUnixNano", s.End))
	if r.End < r.Start {
		p.bad("endTimeUnixNano", unquoted(s.End), "a time not before startTimeUnixNano %d", int64(r.Start))
	}
	r.Input = int32(p.whole("gen_ai.usage.prompt_tokens", 1, most32, 0))
	r.Output = int32(p.whole("gen_ai.usage.completion_tokens", 0, most32, 0))
	r.TTFT = p.seconds("gen_ai.latency.time_to_first_token")
	r.E2E = p.seconds("gen_ai.latency.e2e")
	r.Queue = p.seconds("gen_ai.latency.time_in_queue")
	r.Prefill = p.seconds("gen_ai.latency.time_in_model_prefill")
	r.Decode = p.seconds("gen_ai.latency.time_in_model_decode")
	r.Inference = p.seconds("gen_ai.latency.time_in_model_inference")
	if r.E2E != Unknown && r.TTFT > r.E2E {
		text, _ := p.text("gen_ai.latency.time_to_first_token")
		p.bad("gen_ai.latency.time_to_first_token", text, "at most gen_ai.latency.e2e %v", r.E2E)
	}
	o.journey(&r, s)
	return r
}

// seconds is an attribute that is a duration in seconds; Unknown where it is not
// there.
func (p part) seconds(key string) vtime.Duration {
	text, there := p.text(key)
	if !there {
		return Unknown
	}
	us, ok := textio.Scaled(text, 6, latest)
	if !ok {
		p.bad(key, text, "seconds from 0 to %d", int64(latest/1_000_000))
	}
	return vtime.Duration(us)
}

// journey takes the events of a request.
func (o *otlpReader) journey(r *rawRequest, s *span) {
	times := r.times()
	for i := range s.Events {
		e := s.event(i)
		name := s.Events[i].Name
		name = name[strings.LastIndexByte(name, '.')+1:]
		if name == "HANDOFF" {
			name = "HANDOFF_TO_CORE"
		}
		if name == "PREEMPTED" {
			r.Preemptions++
			continue
		}
		k := slices.Index(eventNames, name)
		if k < 0 {
			o.trace.OtherEvents++
			continue
		}
		*times[k] = min(*times[k], vtime.Time(e.nanos("timeUnixNano", s.Events[i].Time)))
		if r.Input == 0 {
			r.Input = int32(e.whole("prefill.total_tokens", 0, most32, 0))
		}
		if name == "FINISHED" && r.Output == 0 {
			r.Output = int32(e.whole("decode.done_tokens", 0, most32, 0))
		}
	}
	last := vtime.Time(0)
	for k, name := range eventNames {
		switch at := *times[k]; {
		case at == vtime.Never:
		case at < last:
			s.self().bad(name, fmt.Sprint(int64(at)), "a time not before %d, that of the event that comes before it", int64(last))
		default:
			last = at
		}
	}
}

// joined are the requests of the trace: each llm_request with its llm_core. An
// llm_core without one, or beside another, stands for itself.
func (o *otlpReader) joined() []TracedRequest {
	bySpan, byID := map[spanKey]int{}, map[string]int{}
	for i := range o.requests {
		bySpan[o.requests[i].key] = i
		byID[o.requests[i].ID] = i
	}
	delete(bySpan, spanKey{})
	delete(byID, "")
	for i := range o.cores {
		core := &o.cores[i]
		k, found := bySpan[core.parent]
		if !found {
			k, found = byID[core.ID]
		}
		if !found || o.requests[k].joined {
			o.requests = append(o.requests, *core)
			continue
		}
		o.requests[k].absorb(core)
	}
	return relative(o.requests)
}

// absorb adds to an llm_request what its llm_core tells. What both tell counts
// as the former has it.
func (r *rawRequest) absorb(core *rawRequest) {
	r.joined = true
	mine, its := r.times(), core.times()
	for k := range eventNames {
		if *mine[k] == vtime.Never {
			*mine[k] = *its[k]
		}
	}
	for _, d := range []struct{ mine, its *vtime.Duration }{
		{&r.TTFT, &core.TTFT}, {&r.E2E, &core.E2E}, {&r.Queue, &core.Queue},
		{&r.Prefill, &core.Prefill}, {&r.Decode, &core.Decode}, {&r.Inference, &core.Inference},
	} {
		if *d.mine == Unknown {
			*d.mine = *d.its
		}
	}
	r.ID = cmp.Or(r.ID, core.ID)
	r.Input, r.Output = cmp.Or(r.Input, core.Input), cmp.Or(r.Output, core.Output)
	r.Preemptions += core.Preemptions
}

// relative turns nanoseconds since 1970 into microseconds after the first time
// of all, derives the durations that are missing, and sorts by start.
func relative(list []rawRequest) []TracedRequest {
	first := vtime.Never
	for i := range list {
		for _, t := range list[i].times() {
			first = min(first, *t)
		}
	}
	var out []TracedRequest
	for i := range list {
		r := list[i].TracedRequest
		for _, t := range r.times() {
			if *t != vtime.Never {
				*t = vtime.Time(micros(int64(*t - first)))
			}
		}
		r.derive()
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b TracedRequest) int { return cmp.Compare(a.Start, b.Start) })
	return out
}

// derive computes missing durations from the times of events.
func (r *TracedRequest) derive() {
	for _, d := range []struct {
		length   *vtime.Duration
		from, to vtime.Time
	}{
		{&r.TTFT, r.Arrived, r.FirstToken}, {&r.E2E, r.Arrived, r.Departed}, {&r.Queue, r.Queued, r.Scheduled},
		{&r.Prefill, r.Scheduled, r.FirstToken}, {&r.Decode, r.FirstToken, r.Finished}, {&r.Inference, r.Scheduled, r.Finished},
	} {
		if *d.length == Unknown && d.from != vtime.Never && d.to != vtime.Never && d.from <= d.to {
			*d.length = d.to.Sub(d.from)
		}
	}
}

// Alone returns the requests that overlap with no other request from Start to End,
// both included, in order of Start. The server had no other work, so their time is a
// prefill and decodes in batches of one. Requests without known tokens and prefill
// are not returned, but others that overlap with them are left out. In a trace that
// was sampled some of the returned requests may not have been alone.
func Alone(requests []TracedRequest) []TracedRequest {
	list := slices.Clone(requests)
	slices.SortStableFunc(list, func(a, b TracedRequest) int { return cmp.Compare(a.Start, b.Start) })
	var alone []TracedRequest
	busy := vtime.Time(-1) // the last end of all before
	for i, r := range list {
		free := busy < r.Start && (i+1 == len(list) || r.End < list[i+1].Start)
		busy = max(busy, r.End)
		if free && r.Input > 0 && r.Output > 0 && r.Prefill != Unknown {
			alone = append(alone, r)
		}
	}
	return alone
}
