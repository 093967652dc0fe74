package traces

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"blis/workload"
)

// simReader reads the rows of the public simulator's traces of version 2 and 3.
// Columns may come in any order; those that are not named here, which tell what
// happened to the request or came with a later version, are ignored:
//
//	arrival_time_us   when the client wanted to send it, from any origin
//	send_time_us      when it was sent, on a clock of its own; 0 is not recorded
//	input_tokens      of the prompt, without the prefix; from 0
//	output_tokens     from 0
//	server_input_tokens  of the prompt as the server counted; 0 is not recorded
//	tenant_id, slo_class, model   names; no class is "standard"
//	session_id, round_index       any text, and a number; without the latter rounds count
//	prefix_group, prefix_length   prefix_length tokens of the content prefix_group precede the input
//	deadline_us       absolute, on the clock of arrival_time_us; 0 is none
//	vllm_priority     lower is more urgent; older files call it priority
//	input_tokens_reset  see accumulateSessions
//
// As in that simulator a request arrives when it was sent, where that is
// recorded, with the earliest of these times moved to the earliest
// arrival_time_us; and the server's count of input tokens is taken where there
// is one and no prefix_group, whose prefix it would contain. That simulator
// writes the first round of a session whose client has a prefix group with the
// length of the prefix and without the name of the group: then the prefix counts
// towards the prompt and its content is the request's own.
type simReader struct {
	*lines
	labels     *workload.Labels
	accumulate bool
	sessions   sessions
	rounds     rounds
	columns    columns
	width      int
	fields     [][]byte
	long       []byte // a row of several lines
	nameless   int    // rows with a prefix whose content has no name

	asked []int64 // arrival_time_us of each row
	line  []int32 // of each row, if sessions accumulate
	reset []int32 // input_tokens_reset of each row, if sessions accumulate; 0: none
}

// Places of the known columns.
const (
	simArrival = iota
	simInput
	simOutput
	simSend
	simServerInput
	simTenant
	simClass
	simModel
	simSession
	simRound
	simGroup
	simPrefix
	simDeadline
	simPriority
	simOldPriority
	simReset
)

var simNames = []string{
	"arrival_time_us", "input_tokens", "output_tokens",
	"send_time_us", "server_input_tokens", "tenant_id", "slo_class", "model", "session_id", "round_index",
	"prefix_group", "prefix_length", "deadline_us", "vllm_priority", "priority", "input_tokens_reset",
}

func (s *simReader) begin() (has optional, err error) {
	s.columns, s.width, err = s.header(heading{format: InferenceSim, required: simNames[:simSend], optional: simNames[simSend:], others: true})
	if err != nil {
		return has, err
	}
	c := s.columns
	return optional{
		deadline:      c.has(simDeadline),
		session:       c.has(simSession),
		labels:        c.has(simTenant, simClass, simModel),
		hint:          c.has(simPriority, simOldPriority),
		spans:         c.has(simGroup) || s.accumulate,
		outputContent: s.accumulate,
	}, nil
}

func (s *simReader) field(place int) []byte { return s.columns.field(s.fields, place) }

// number parses the field of a column, or is 0 when it is empty.
func (s *simReader) number(place int, low, high uint64) (int64, error) {
	text := s.field(place)
	if len(text) == 0 {
		return 0, nil
	}
	n, ok := whole(text, low, high)
	if !ok {
		return 0, s.bad(simNames[place], text, "a whole number from %d to %d", low, high)
	}
	return int64(n), nil
}

func (s *simReader) parse(line []byte, r *row) (err error) {
	first := s.lines.number
	if line, err = s.joined(line); err != nil {
		return err
	}
	if s.fields, err = s.row(line, s.fields, s.width); err != nil {
		return err
	}
	asked, err := s.times(r)
	if err != nil {
		return err
	}
	round, err := s.number(simRound, 0, math.MaxInt32)
	if err != nil {
		return err
	}
	r.round = int32(round)
	reset, err := s.number(simReset, 1, math.MaxInt32)
	if err != nil {
		return err
	}
	if err := s.tokens(r); err != nil {
		return err
	}
	r.session = s.sessions.number(s.field(simSession))
	if s.columns.has(simRound) && !s.accumulate { // else finish looks at all rounds together
		if err := s.rounds.take(s.lines, first, simNames[simRound], s.field(simRound), r); err != nil {
			return err
		}
	}
	if err := s.names(r); err != nil {
		return err
	}
	s.asked = append(s.asked, asked)
	if s.accumulate {
		s.line, s.reset = append(s.line, int32(first)), append(s.reset, int32(reset))
	}
	return nil
}

// joined completes a row of which a quoted field goes on in the next lines, as
// messages of errors do.
func (s *simReader) joined(line []byte) ([]byte, error) {
	const most = 1 << 20 // bytes of such a row, or a quote that is not closed
	if bytes.Count(line, []byte(`"`))%2 == 0 {
		return line, nil
	}
	s.long = append(s.long[:0], line...)
	for len(s.long) < most {
		more, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		s.long = append(append(s.long, '\n'), more...)
		if bytes.Count(more, []byte(`"`))%2 == 1 {
			break
		}
	}
	return s.long, nil
}

// times parses arrival, sending and deadline. The deadline stands in r.slack,
// absolute, until finish.
func (s *simReader) times(r *row) (asked int64, err error) {
	arrival := s.field(simArrival)
	at, ok := whole(arrival, 0, uint64(workload.Latest))
	if !ok {
		return 0, s.bad(simNames[simArrival], arrival, "a whole number from 0 to %d", workload.Latest)
	}
	asked = int64(at)
	sent, err := s.number(simSend, 0, uint64(workload.Latest))
	if err != nil {
		return 0, err
	}
	if r.arrival = sent; sent == 0 {
		r.arrival = asked
	}
	if deadline, ok := whole(s.field(simDeadline), 0, uint64(workload.Latest)); ok && deadline >= at {
		r.slack = int64(deadline)
	} else if text := s.field(simDeadline); len(text) > 0 && !(ok && deadline == 0) {
		return 0, s.bad(simNames[simDeadline], text, "0 for none, or an absolute time, a whole number from arrival_time_us %d to %d", at, workload.Latest)
	}
	if r.slack == 0 {
		r.slack = -1
	}
	return asked, nil
}

// tokens parses the lengths, the prefix and the priority.
func (s *simReader) tokens(r *row) error {
	input, ok := whole(s.field(simInput), 0, math.MaxInt32)
	if !ok {
		return s.bad(simNames[simInput], s.field(simInput), "a whole number from 0 to %d", math.MaxInt32)
	}
	output, ok := whole(s.field(simOutput), 0, math.MaxInt32)
	if !ok {
		return s.bad(simNames[simOutput], s.field(simOutput), "a whole number from 0 to %d", math.MaxInt32)
	}
	counted, err := s.number(simServerInput, 0, math.MaxInt32)
	if err != nil {
		return err
	}
	prefix, err := s.number(simPrefix, 0, math.MaxInt32)
	if err != nil {
		return err
	}
	group := s.field(simGroup)
	switch {
	case prefix > 0 && len(group) == 0:
		s.nameless++
		if counted > 0 {
			input, prefix = uint64(counted), 0 // the server's count has the prefix in it
		}
	case prefix > 0:
		r.spans = append(r.spans, workload.Span{Content: workload.NamedContent(string(group)), Length: int32(prefix)})
	case len(group) == 0 && counted > 0:
		input = uint64(counted)
	}
	total, later := input+uint64(prefix), s.accumulate && len(s.field(simSession)) > 0
	if total < 1 && !later || total > math.MaxInt32 {
		return s.bad(simNames[simInput], s.field(simInput), "from 1 to %d tokens of the prompt, prefix_length %d included", math.MaxInt32, prefix)
	}
	r.input, r.output = int32(total), int32(output)
	return s.priority(r)
}

func (s *simReader) priority(r *row) error {
	place := simPriority
	if s.columns[place] < 0 {
		place = simOldPriority
	}
	if s.columns[place] < 0 {
		return nil
	}
	urgency, err := s.number(place, 0, math.MaxInt32)
	r.hint = float64(-urgency)
	return err
}

// names interns the names.
func (s *simReader) names(r *row) error {
	if err := s.intern(simNames[simTenant], s.field(simTenant), &s.labels.Tenants, &r.tags.Tenant); err != nil {
		return err
	}
	class := s.field(simClass)
	if len(class) == 0 {
		class = []byte(workload.DefaultClass)
	}
	if err := s.intern(simNames[simClass], class, &s.labels.Classes, &r.tags.Class); err != nil {
		return err
	}
	return s.intern(simNames[simModel], s.field(simModel), &s.labels.Models, &r.tags.Model)
}

// notes implements noting.
func (s *simReader) notes() []string {
	if s.nameless == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d rows have a prefix_length and no prefix_group: their prefixes count towards the prompts, and nobody shares them", s.nameless, len(s.asked))}
}

// finish moves the arrivals to the clock of arrival_time_us, which deadlines
// count on, and puts sessions together.
func (s *simReader) finish(t *table) error {
	shift := t.arrival[t.at(0)]
	earliest := s.asked[0]
	for _, at := range s.asked {
		earliest = min(earliest, at)
	}
	shift -= earliest
	for i := range t.arrival {
		t.arrival[i] -= shift
		if t.has.deadline && t.slack[i] >= 0 {
			// A request that was sent after its deadline times out at once.
			t.slack[i] = max(0, t.slack[i]-t.arrival[i])
		}
	}
	if t.has.session && s.columns[simRound] < 0 {
		t.countRounds()
	}
	if s.accumulate && t.has.session {
		return s.accumulateSessions(t)
	}
	return nil
}
