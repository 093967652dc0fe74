package traces

import (
	"bytes"
	"math"
	"strconv"

	"blis/workload"
)

// blisReader reads our own CSV. Columns, found by their names in any order:
//
//	arrival_us     µs from any origin, see Trace
//	input_tokens   of the whole prompt, from 1
//	output_tokens  from 0
//
// and any of these, where an empty field means "none":
//
//	tenant, slo_class, model   names; slo_class: none is "standard"
//	session, round             whole numbers; session 0 is none. No round comes
//	               twice; without that column they count in order of arrival
//	prefix_group, prefix_tokens  the first prefix_tokens of the input are
//	               tokens of the content called prefix_group: equal groups share
//	content        spans id:length|id:length|…; instead of a prefix group
//	deadline_us    absolute, on the clock of arrival_us
//	max_output     the client's limit, at least output_tokens
//	output_content the content that the output is, for prompts that go on with it
//	priority_hint  the client's, higher is more urgent; none is 0
//
// What neither prefix nor content covers of the input is the request's own.
type blisReader struct {
	*lines
	labels  *workload.Labels
	columns columns
	width   int
	fields  [][]byte
	rounds  rounds
}

// Places of the known columns.
const (
	blisArrival = iota
	blisInput
	blisOutput
	blisTenant
	blisClass
	blisModel
	blisSession
	blisRound
	blisGroup
	blisPrefix
	blisDeadline
	blisContent
	blisMaxOutput
	blisOutputContent
	blisHint
)

var blisNames = []string{
	"arrival_us", "input_tokens", "output_tokens",
	"tenant", "slo_class", "model", "session", "round",
	"prefix_group", "prefix_tokens", "deadline_us", "content", "max_output", "output_content", "priority_hint",
}

// blisUnneeded are columns of the rows that a run writes (requests-out) and of
// measured requests: what happened to a request, which is for a replay to find.
var blisUnneeded = []string{
	"request", "state", "instance", "cached_tokens", "queued_us", "scheduled_us", "first_token_us", "completed_us",
	"ttft_us", "tpot_us", "e2e_us", "scheduling_delay_us", "preemptions", "prompt", "ok",
}

func (b *blisReader) begin() (has optional, err error) {
	b.columns, b.width, err = b.header(heading{
		format: BLIS, required: blisNames[:blisTenant], optional: blisNames[blisTenant:], unneeded: blisUnneeded,
	})
	if err != nil {
		return has, err
	}
	c := b.columns
	return optional{
		maxOutput:     c.has(blisMaxOutput),
		deadline:      c.has(blisDeadline),
		session:       c.has(blisSession, blisRound),
		labels:        c.has(blisTenant, blisClass, blisModel),
		spans:         c.has(blisGroup, blisPrefix, blisContent),
		outputContent: c.has(blisOutputContent),
		hint:          c.has(blisHint),
	}, nil
}

// field is the trimmed field of a column, empty when the column is absent.
func (b *blisReader) field(place int) []byte { return b.columns.field(b.fields, place) }

// number parses the field of a column, or is absent when it is empty.
func (b *blisReader) number(place int, low, high, absent uint64) (uint64, error) {
	text := b.field(place)
	if len(text) == 0 {
		return absent, nil
	}
	n, ok := whole(text, low, high)
	if !ok {
		return 0, b.bad(blisNames[place], text, "a whole number from %d to %d", low, high)
	}
	return n, nil
}

func (b *blisReader) parse(line []byte, r *row) (err error) {
	if b.fields, err = b.row(line, b.fields, b.width); err != nil {
		return err
	}
	arrival := b.field(blisArrival)
	at, ok := whole(arrival, 0, uint64(workload.Latest))
	if !ok {
		return b.bad(blisNames[blisArrival], arrival, "a whole number from 0 to %d", workload.Latest)
	}
	r.arrival = int64(at)
	if err := b.lengths(r, blisNames[blisInput], b.field(blisInput), blisNames[blisOutput], b.field(blisOutput)); err != nil {
		return err
	}
	if err := b.limits(r); err != nil {
		return err
	}
	if err := b.content(r); err != nil {
		return err
	}
	if b.columns.has(blisRound) {
		if err := b.rounds.take(b.lines, b.lines.number, blisNames[blisRound], b.field(blisRound), r); err != nil {
			return err
		}
	}
	return b.names(r)
}

// finish counts the rounds of sessions that come without.
func (b *blisReader) finish(t *table) error {
	if b.columns.has(blisSession) && !b.columns.has(blisRound) {
		t.countRounds()
	}
	return nil
}

// limits parses deadline, output limit, hint, session and round.
func (b *blisReader) limits(r *row) error {
	if text := b.field(blisDeadline); len(text) > 0 {
		deadline, ok := whole(text, uint64(r.arrival), uint64(workload.Latest))
		if !ok {
			return b.bad(blisNames[blisDeadline], text, "an absolute time, a whole number from arrival_us %d to %d", r.arrival, int64(workload.Latest))
		}
		r.slack = int64(deadline) - r.arrival
	}
	if text := b.field(blisMaxOutput); len(text) > 0 {
		n, ok := whole(text, uint64(r.output), math.MaxInt32)
		if !ok {
			return b.bad(blisNames[blisMaxOutput], text, "a whole number from output_tokens %d to %d", r.output, math.MaxInt32)
		}
		r.maxOutput = int32(n)
	}
	if text := b.field(blisHint); len(text) > 0 {
		hint, err := strconv.ParseFloat(string(text), 64)
		if err != nil || math.IsNaN(hint) || math.IsInf(hint, 0) {
			return b.bad(blisNames[blisHint], text, "a finite number, higher is more urgent")
		}
		r.hint = hint
	}
	session, err := b.number(blisSession, 0, math.MaxUint64, 0)
	if err != nil {
		return err
	}
	round, err := b.number(blisRound, 0, math.MaxInt32, 0)
	r.session, r.round = session, int32(round)
	return err
}

// content parses the named content, in whichever way it is given.
func (b *blisReader) content(r *row) error {
	output, err := b.number(blisOutputContent, 0, math.MaxUint64, 0)
	if err != nil {
		return err
	}
	r.outputContent = workload.ContentID(output)
	group, spans := b.field(blisGroup), b.field(blisContent)
	prefix, err := b.number(blisPrefix, 0, uint64(r.input), 0)
	switch {
	case err != nil:
		return err
	case prefix > 0 && len(group) == 0:
		return b.bad(blisNames[blisGroup], group, "the name of the content of prefix_tokens %d", prefix)
	case len(group) > 0 && len(b.field(blisPrefix)) == 0:
		return b.bad(blisNames[blisPrefix], nil, "a whole number from 0 to %d for prefix_group %s", r.input, quote(group))
	case prefix > 0 && len(spans) > 0:
		return b.bad(blisNames[blisContent], spans, "it empty where prefix_group %s is given", quote(group))
	case prefix > 0:
		r.spans = append(r.spans, workload.Span{Content: workload.NamedContent(string(group)), Length: int32(prefix)})
		return nil
	}
	return b.spans(spans, r)
}

// spans parses id:length|id:length|…
func (b *blisReader) spans(text []byte, r *row) error {
	left := uint64(r.input)
	for rest := text; len(rest) > 0; {
		span, tail, more := bytes.Cut(rest, []byte("|"))
		id, length, _ := bytes.Cut(span, []byte(":"))
		content, ok := whole(trim(id), 1, math.MaxUint64)
		n, fits := whole(trim(length), 1, left)
		if !ok || !fits || more && len(tail) == 0 {
			return b.bad(blisNames[blisContent], text, "id:length|id:length, ids and lengths from 1, lengths together at most input_tokens %d", r.input)
		}
		r.spans = append(r.spans, workload.Span{Content: workload.ContentID(content), Length: int32(n)})
		left -= n
		rest = tail
	}
	return nil
}

// names interns the names; last, so that a bad row leaves none behind.
func (b *blisReader) names(r *row) error {
	for _, c := range []struct {
		place   int
		names   *workload.Names
		missing string
		label   *workload.Label
	}{
		{blisTenant, &b.labels.Tenants, "", &r.tags.Tenant},
		{blisClass, &b.labels.Classes, workload.DefaultClass, &r.tags.Class},
		{blisModel, &b.labels.Models, "", &r.tags.Model},
	} {
		text := b.field(c.place)
		if len(text) == 0 {
			text = []byte(c.missing)
		}
		if err := b.intern(blisNames[c.place], text, c.names, c.label); err != nil {
			return err
		}
	}
	return nil
}
