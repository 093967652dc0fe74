package traffic

import (
	"blis/vtime"
	"blis/workload"
)

// start schedules the first requests of session i, which begins at a time.
func (s *Source) start(q *queue, i int32, at vtime.Time) {
	x := s.sessions.at(i)
	source := workload.FirstSource + uint32(x.client)
	if x.kind.Graph == nil {
		x.roots = 1
		q.push(entry{at, source, x.number << stepBits, i})
		return
	}
	for k := range x.nodes {
		if from := at.Add(x.steps[k].wait); x.nodes[k].pending == 0 && !s.past(from) {
			x.roots++
			q.push(entry{from, source, x.number<<stepBits | uint64(k), i})
		}
	}
}

// send fills r with the request of an entry.
func (s *Source) send(e entry, r *workload.Request) {
	c := &s.clients[e.client()]
	if e.slot == userSlot {
		s.userRequest(c, e, r)
		return
	}
	x := s.sessions.at(e.slot)
	k := e.step()
	st := &x.steps[k]
	c.fill(r, e.at, st.input, st.output)
	r.Index, r.Session, r.Round, r.Awaited = e.index, x.label, int32(k), !x.kind.Open
	r.Begins = x.sent == 0
	x.sent++
	if x.root(k) {
		x.roots--
	} else {
		x.scheduled-- // of an open session never read
	}
	if x.kind.Graph != nil {
		x.waiting++
		s.buildNodePrompt(c, x, k, r)
		return
	}
	last := k+1 == len(x.steps)
	s.buildPrompt(c, x, k, r, last)
	if !x.kind.Open {
		x.waiting++
		return
	}
	x.appendRound(c, k, r.Output)
	if last || s.past(e.at.Add(x.steps[k+1].wait)) {
		s.sessions.drop(e.slot)
		return
	}
	s.open.push(entry{e.at.Add(x.steps[k+1].wait), e.source, e.index + 1, e.slot})
}

// root reports whether the session began with step k.
func (x *session) root(k int) bool {
	if x.kind.Graph == nil {
		return k == 0
	}
	return len(x.kind.Graph[k].After) == 0
}

// buildPrompt writes the prompt of round k of a conversation: prefix, context,
// and the new tokens. Only content that a later prompt repeats gets a name.
func (s *Source) buildPrompt(c *client, x *session, k int, r *workload.Request, last bool) {
	st := &x.steps[k]
	spans := append(s.spans[s.side][:0], x.context...)
	r.Input = tokensOf(x.context) + st.input
	if x.kind.Context == Accumulate && !last {
		spans = append(spans, workload.Span{Content: promptContent(c, x, k), Length: st.input})
		if st.thought == 0 {
			r.OutputContent = answerContent(c, x, k)
		}
	}
	s.setSpans(r, spans)
}

// setSpans gives r spans. They are in the memory of s.side: one for Pull and
// one for Pop.
func (s *Source) setSpans(r *workload.Request, spans []workload.Span) {
	s.spans[s.side] = spans
	if len(spans) > 0 {
		r.Spans = spans
	}
}

// appendRound appends round k to the context: its prompt, and its answer of
// generated tokens.
func (x *session) appendRound(c *client, k int, generated int32) {
	if x.kind.Context == NoContext {
		return
	}
	st := &x.steps[k]
	before := len(x.context)
	x.context = append(x.context, workload.Span{Content: promptContent(c, x, k), Length: st.input})
	if n := generated - st.thought; n > 0 {
		x.context = append(x.context, workload.Span{Content: answerContent(c, x, k), Length: n})
	}
	x.rounds = append(x.rounds, int32(len(x.context)-before))
	if x.kind.Growth == Bounded {
		x.dropOldRounds()
	}
}

// dropOldRounds drops the oldest rounds of the context until it is within the
// limit, prefix included.
func (x *session) dropOldRounds() {
	keep := 0
	if x.prefix.Length > 0 {
		keep = 1
	}
	for len(x.rounds) > 0 && tokensOf(x.context) > x.kind.Limit {
		n := int(x.rounds[0])
		x.context = append(x.context[:keep], x.context[keep+n:]...)
		x.rounds = append(x.rounds[:0], x.rounds[1:]...)
	}
}

// promptContent names the new tokens of round k of a session.
func promptContent(c *client, x *session, k int) workload.ContentID {
	return content(c.hash, x.number, 2*uint64(k)+1)
}

// answerContent names the answer to round k of a session.
func answerContent(c *client, x *session, k int) workload.ContentID {
	return content(c.hash, x.number, 2*uint64(k)+2)
}

// tokensOf is the number of tokens of spans. The sum fits: plan checks how long
// a session can become.
func tokensOf(spans []workload.Span) int32 {
	n := int32(0)
	for _, s := range spans {
		n += s.Length
	}
	return n
}
