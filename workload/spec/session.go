package spec

import (
	"math"

	"blis/vtime"
	"blis/workload/traffic"
	"blis/yamldoc"
)

// requestType is one of what a client's arrivals begin.
type requestType struct {
	place
	kind          string
	share         float64
	input, output *distribution
	session       *session // nil: a single request
}

// session is what a specification says of the requests that follow each other.
type session struct {
	place
	rounds     *distribution
	think      *distribution
	accumulate bool
	growth     given[string]
	limit      int64
	open       bool
	persists   bool // a lost round does not end it
	follow     *distribution

	steps, tokens *distribution // reasoning; nil: none
	kept          bool

	tools *tools
	graph []graphNode
}

// tools are calls between requests.
type tools struct {
	probability float64
	calls       *distribution
	latency     *distribution
	result      *distribution
}

var growths = []string{"linear", "sublinear", "bounded"}

// sessionFields are the fields of every type but completion.
var sessionFields = []string{"rounds", "think_time", "context", "growth", "context_limit", "open", "follow_distribution", "reasoning", "tools", "graph"}

// requestTypes reads the types of a client, whose shares must add up to 1.
func (o *object) requestTypes(name string) []requestType {
	items, at := o.items(name, "types like {type: chat, share: 0.5, rounds: 4}")
	if o.has(name) && len(items) == 0 {
		o.fail(at, "an empty list, want at least one type")
	}
	var types []requestType
	sum := 0.0
	for i, v := range items {
		t := o.requestType(v, at.Item(i, v.Line), len(items) == 1)
		sum += t.share
		types = append(types, t)
	}
	if len(items) > 0 && !(math.Abs(sum-1) <= 1e-6) {
		o.fail(at, "the shares add up to %v, want 1", sum)
	}
	for i := range types { // the last bits of a sum that is 1 ± 1e-6
		types[i].share /= sum
	}
	return types
}

func (o *object) requestType(v *yamldoc.Node, at place, only bool) requestType {
	in := o.object(v, at, append([]string{"type", "share", "input_distribution", "output_distribution"}, sessionFields...))
	t := requestType{place: at}
	kind := in.choice("type", "completion", "chat", "agentic", "reasoning")
	if !kind.set {
		o.fail(kind.place, "not given, want one of completion, chat, agentic, reasoning")
	}
	t.kind = kind.value
	share := in.number("share", positive, 1, "a share above 0 up to 1")
	if !share.set && !only {
		o.fail(share.place, "not given, want the share of the client's arrivals, above 0 up to 1")
	}
	t.share = share.or(1)
	t.input, t.output = in.distribution("input_distribution", inputTokens), in.distribution("output_distribution", outputTokens)
	if t.kind == "completion" {
		for _, f := range sessionFields {
			if v, where := in.get(f); v != nil {
				o.fail(where, "want it with type chat, agentic or reasoning, not with completion")
			}
		}
		return t
	}
	t.session = in.session(t.kind)
	return t
}

// session reads the fields of a session of the type given.
func (o *object) session(kind string) *session {
	s := &session{place: o.place, accumulate: true}
	s.rounds, s.think = o.quantity("rounds", rounds), o.quantity("think_time", delays)
	s.accumulate = o.choice("context", "accumulate", "none").or("accumulate") == "accumulate"
	s.growth = o.choice("growth", growths...)
	limit := o.whole("context_limit", 1, maxTokens, "tokens from 1 to 10000000")
	s.limit, s.open = limit.value, o.flag("open").value
	s.follow = o.distribution("follow_distribution", inputTokens)
	s.readReasoning(o)
	s.readTools(o)
	s.graph = o.graph("graph")
	_, at := o.get("growth")
	switch {
	case s.growth.value == "bounded" && !limit.set:
		o.fail(at, "bounded: want context_limit, the tokens that a prompt carries on at most")
	case limit.set && s.growth.or("bounded") != "bounded":
		o.fail(limit.place, "%d: want it with growth bounded only", limit.value)
	case s.growth.set && !s.accumulate:
		o.fail(at, "%s: want it with context accumulate only", s.growth.value)
	}
	if limit.set && !s.growth.set {
		s.growth = given[string]{place: limit.place, value: "bounded", set: true}
	}
	s.checkKind(o, kind)
	return s
}

// checkKind holds a type to the fields that make it what it is.
func (s *session) checkKind(o *object, kind string) {
	need := func(ok bool, field, want string) {
		if !ok {
			_, at := o.get(field)
			o.fail(at, "not given, want %s with type %s", want, kind)
		}
	}
	switch kind {
	case "chat":
		need(s.rounds != nil, "rounds", "rounds")
	case "agentic":
		need(s.tools != nil || s.graph != nil, "tools", "tools or graph")
	case "reasoning":
		need(s.steps != nil, "reasoning", "reasoning: {steps, tokens_per_step}")
	}
	if kind != "agentic" {
		for _, f := range []string{"tools", "graph"} {
			if v, at := o.get(f); v != nil {
				o.fail(at, "want it with type agentic only, not with %s", kind)
			}
		}
	}
	if s.graph == nil {
		return
	}
	for _, f := range []string{"rounds", "think_time", "open", "follow_distribution", "tools", "reasoning"} {
		if v, at := o.get(f); v != nil {
			o.fail(at, "given beside graph, which says what follows what; want one of them")
		}
	}
}

func (s *session) readReasoning(o *object) {
	v, at := o.get("reasoning")
	if v == nil {
		return
	}
	in := o.object(v, at, []string{"steps", "tokens_per_step", "kept"})
	s.steps, s.tokens = in.quantity("steps", rounds), in.quantity("tokens_per_step", inputTokens)
	s.kept = in.flag("kept").value
	if s.steps == nil || s.tokens == nil {
		o.fail(at, "want steps and tokens_per_step")
	}
}

func (s *session) readTools(o *object) {
	v, at := o.get("tools")
	if v == nil {
		return
	}
	in := o.object(v, at, []string{"probability", "calls", "latency", "result_tokens"})
	t := &tools{probability: in.number("probability", 0, 1, "a probability from 0 to 1").or(1)}
	t.calls, t.latency, t.result = in.quantity("calls", counts), in.quantity("latency", delays), in.quantity("result_tokens", inputTokens)
	if t.calls == nil || t.result == nil {
		o.fail(at, "want calls, the most in a row, and result_tokens")
	}
	s.tools = t
}

// session is s for the engine. Rounds of a tenant with sessions of a length of
// its own replace the rounds of s.
func (b *builder) session(s *session, tune *tuning) *traffic.Session {
	out := &traffic.Session{Think: b.draws.delay(s.think), Limit: int32(s.limit), Open: s.open, Persists: s.persists, Growth: b.growth(s)}
	if s.accumulate {
		out.Context = traffic.Accumulate
	}
	if s.graph != nil {
		out.Graph = b.graph(s.graph, tune)
		return out
	}
	length := s.rounds
	if tune.rounds != nil {
		length = tune.rounds
	}
	if length == nil {
		length = constantOf(s.place, rounds, 1)
	}
	out.Rounds = b.draws.length(length)
	if s.follow != nil {
		out.Follow = b.draws.lengthOf(b.draws.times(s.follow, tune.prompts))
	}
	if s.steps != nil {
		out.Reasoning = &traffic.Reasoning{Steps: b.draws.length(s.steps), Tokens: b.draws.length(s.tokens), Kept: s.kept}
	}
	if t := s.tools; t != nil {
		out.Tools = &traffic.Tools{Probability: t.probability, Calls: b.draws.length(t.calls), Latency: b.draws.delay(t.latency), Result: b.draws.length(t.result)}
	}
	return out
}

// growth is the growth of the session, else the one that correlations give.
func (b *builder) growth(s *session) traffic.Growth {
	name := s.growth.or(b.spec.correlations.growth.value)
	if !s.accumulate {
		return traffic.Linear
	}
	switch name {
	case "sublinear":
		return traffic.Sublinear
	case "bounded":
		if s.limit == 0 {
			b.fail(s.place, "context_limit is not given, want it as correlations.session_growth is bounded")
		}
		return traffic.Bounded
	}
	return traffic.Linear
}

// chat is the session of the public simulator's reasoning.multi_turn.
func chat(at place, maxRounds int64, think vtime.Duration, accumulate, open bool) *session {
	s := &session{place: at, accumulate: accumulate, open: open}
	s.rounds = constantOf(at, rounds, float64(maxRounds))
	s.think = constantOf(at, delays, float64(think))
	return s
}

// sessions reads what the arrivals of a client begin: request_types, or the
// public simulator's reasoning.
func (r *reader) sessions(o *object, c *client) {
	c.types = o.requestTypes("request_types")
	closed := o.flag("closed_loop")
	v, at := o.get("reasoning")
	if v == nil {
		if closed.set && closed.value && !o.has("concurrency") {
			r.note(closed.place, "has no effect without reasoning.multi_turn or concurrency")
		}
		return
	}
	if c.types != nil {
		r.fail(at, "given beside request_types, want one of them")
	}
	in := r.object(v, at, []string{"reason_ratio_distribution", "multi_turn"})
	r.reasonRatio(&in)
	if m, where := in.get("multi_turn"); m != nil {
		r.multiTurn(m, where, c, closed.or(true))
	}
}

// reasonRatio reads how much of an output is thought there, in percent: a
// label of requests, which changes no length.
func (r *reader) reasonRatio(o *object) {
	percent := measure{"percent", 0, 0, 100, false}
	d := o.distribution("reason_ratio_distribution", percent)
	if d == nil {
		return
	}
	if len(d.params) == 0 || d.params[0] != 0 || d.max.value != 0 {
		r.note(d.place, "changes no length: outputs are as long as output_distribution says, thoughts included")
	}
}

func (r *reader) multiTurn(v *yamldoc.Node, at place, c *client, closed bool) {
	in := r.object(v, at, []string{"max_rounds", "think_time_us", "context_growth", "single_session"})
	length := in.whole("max_rounds", 1, int64(rounds.most), "rounds from 1 to 100000")
	if !length.set {
		r.fail(length.place, "not given, want rounds from 1 to 100000")
	}
	think := in.duration("think_time_us")
	accumulate := in.choice("context_growth", "accumulate", "").value == "accumulate"
	s := chat(at, length.value, think.value, accumulate, !closed)
	c.types = []requestType{{place: at, kind: "chat", share: 1, session: s}}
	single := in.flag("single_session")
	if single.value {
		c.single = length.value
		if c.requests.set {
			r.fail(c.requests.place, "%d: given beside single_session, which has max_rounds requests", c.requests.value)
		}
	}
}
