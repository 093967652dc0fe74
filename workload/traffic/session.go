package traffic

import (
	"fmt"
	"math"
	"strconv"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
)

// session is a session in progress. Everything random of it was drawn when it
// began, from streams of its own. So what it sends does not depend on other
// sessions, nor on when answers come.
type session struct {
	client int
	number uint64 // among the sessions of its client
	kind   *Session
	label  uint64 // Request.Session
	steps  []step
	prefix workload.Span // Length 0: none

	context []workload.Span // of a conversation: what the next prompt begins with
	rounds  []int32         // and how many of these spans each round has, for Bounded
	nodes   []node          // of a graph

	shape followers // of a graph

	roots     int        // requests of its start that have not been sent
	scheduled int        // later requests that are in Source.due
	sent      int        // steps sent
	waiting   int        // steps sent whose end has not been reported
	until     vtime.Time // the latest end: when the client has the answer
	failed    bool       // a step was not answered
}

// step is one request of a session.
type step struct {
	wait    vtime.Duration // after the answer that it waits for; of an open session, after the step before
	input   int32          // new tokens
	output  int32
	thought int32 // reasoning tokens, which no later prompt has
}

func (x *session) planned() int64 { return int64(len(x.steps)) }

// sessions is the slab of the sessions in progress.
type sessions struct {
	slots  []session
	vacant []int32
	live   map[uint64]int32 // closed ones by client and number
}

func (s *sessions) at(i int32) *session { return &s.slots[i] }

// take returns the slot of a new session. It reuses the slices of an earlier
// one.
func (s *sessions) take() int32 {
	if n := len(s.vacant); n > 0 {
		i := s.vacant[n-1]
		s.vacant = s.vacant[:n-1]
		return i
	}
	s.slots = append(s.slots, session{})
	return int32(len(s.slots) - 1)
}

// key is the key of a session in live.
func key(client int, number uint64) uint64 { return uint64(client)<<numberBits | number }

// numberBits is the number of bits that number the sessions of a client; the bits
// of the steps come next.
const numberBits = 40

// drop frees the slot of a session.
func (s *sessions) drop(i int32) {
	x := &s.slots[i]
	if !x.kind.Open {
		delete(s.live, key(x.client, x.number))
	}
	s.vacant = append(s.vacant, i)
}

// sessionStream is the streams of one purpose, one per session of a client:
// workload/<client>/<purpose>/<number>. Only one of them is in use at a time.
type sessionStream struct {
	stream *vtime.Stream
	name   []byte // up to the number
	buffer []byte
}

func newSessionStream(client, purpose string) sessionStream {
	name := "workload/" + client + "/" + purpose + "/"
	return sessionStream{stream: vtime.NewStream(0, name), name: []byte(name)}
}

// of returns the stream of a session, from its beginning.
func (s *sessionStream) of(seed, number uint64) draw.Variates {
	s.buffer = strconv.AppendUint(append(s.buffer[:0], s.name...), number, 10)
	s.stream.Restart(seed, s.buffer)
	return draw.NewVariates(s.stream)
}

// plan draws session number n of a client, of at most limit requests.
func (s *Source) plan(c *client, k *Kind, n uint64, limit int64) (int32, error) {
	lengths := c.lengths.of(c.seed, n)
	if c.config.Users > 0 && len(c.config.Kinds) > 1 {
		lengths.Uniform() // the draw of its kind
	}
	i := s.sessions.take()
	x := s.sessions.at(i)
	*x = session{
		client: c.number(), number: n, kind: k.Session, label: uint64(content(c.hash, n, 0)),
		steps: x.steps[:0], context: x.context[:0], rounds: x.rounds[:0], nodes: x.nodes[:0], shape: s.shapes[k.Session],
	}
	x.prefix, _ = c.prefix(&lengths)
	if len(k.Session.Graph) > 0 {
		x.planGraph(c, k, &lengths, limit)
	} else {
		x.planRounds(c, k, &lengths, limit)
	}
	pauses := c.pauses.of(c.seed, n)
	if c.config.Users > 0 {
		c.config.Think.Sample(&pauses) // the think time before the session
	}
	x.drawWaits(&pauses)
	if total := x.longestTokens(); total > math.MaxInt32 {
		return i, fmt.Errorf("client %q: session %d would grow to %d tokens: want at most %d", c.config.ID, n, total, math.MaxInt32)
	}
	if x.prefix.Length > 0 {
		x.context = append(x.context, x.prefix)
	}
	if !k.Session.Open {
		if s.sessions.live == nil {
			s.sessions.live = map[uint64]int32{}
		}
		s.sessions.live[key(x.client, n)] = i
	}
	return i, nil
}

// planRounds draws the rounds of a conversation, with the calls of tools that
// follow each.
func (x *session) planRounds(c *client, kind *Kind, v *draw.Variates, limit int64) {
	k := x.kind
	rounds := max(1, k.Rounds.Sample(v))
	for round := int32(0); round < rounds && int64(len(x.steps)) < limit; round++ {
		length := c.inputs(kind.Input)
		if round > 0 && k.Follow != nil {
			length = k.Follow
		}
		input := int32(0)
		if round == 0 {
			input = c.prompt(length, v)
		} else {
			input = length.Sample(v)
		}
		x.drawStep(c, kind, v, input, false)
		if k.Tools == nil {
			continue
		}
		for calls := k.Tools.Calls.Sample(v); calls > 0 && int64(len(x.steps)) < limit && v.Uniform() < k.Tools.Probability; calls-- {
			x.drawStep(c, kind, v, k.Tools.Result.Sample(v), true)
		}
	}
}

// drawStep appends a step with input new tokens to a conversation. The wait of
// a call of a tool is −1 until drawWaits.
func (x *session) drawStep(c *client, kind *Kind, v *draw.Variates, input int32, tool bool) {
	st := step{input: max(1, input), output: c.outputs(kind.Output).Sample(v)}
	if tool {
		st.wait = -1
	}
	if x.kind.Growth == Sublinear {
		root := math.Sqrt(float64(len(x.steps) + 1))
		st.input = max(1, int32(float64(st.input)/root))
		st.output = int32(float64(st.output) / root)
	}
	if r := x.kind.Reasoning; r != nil {
		thought := int64(max(0, r.Steps.Sample(v))) * int64(max(0, r.Tokens.Sample(v)))
		st.addReasoning(thought, r.Kept)
	}
	if c.config.MaxOutput > 0 {
		st.output = min(st.output, c.config.MaxOutput)
	}
	x.steps = append(x.steps, st)
}

// addReasoning adds the reasoning tokens that the model yields before it
// answers.
func (st *step) addReasoning(tokens int64, kept bool) {
	all := min(int64(st.output)+tokens, math.MaxInt32)
	if !kept {
		st.thought = int32(all - int64(st.output))
	}
	st.output = int32(all)
}

// drawWaits draws the time that each step waits after the answer before it.
func (x *session) drawWaits(v *draw.Variates) {
	if x.kind.Graph != nil {
		for i := range x.steps {
			x.steps[i].wait = x.kind.Graph[i].Wait.Sample(v)
		}
		return
	}
	for i := 1; i < len(x.steps); i++ {
		if x.steps[i].wait < 0 {
			x.steps[i].wait = x.kind.Tools.Latency.Sample(v)
		} else {
			x.steps[i].wait = x.kind.Think.Sample(v)
		}
	}
}

// longestTokens is the maximum number of tokens of a prompt with its output.
func (x *session) longestTokens() int64 {
	if x.kind.Graph != nil {
		return x.graphTokens()
	}
	total, longest, prefix := int64(0), int64(0), int64(x.prefix.Length)
	for i := range x.steps {
		n := int64(x.steps[i].input) + int64(x.steps[i].output)
		total += n
		longest = max(longest, n)
	}
	switch {
	case x.kind.Context == NoContext:
		total = longest
	case x.kind.Growth == Bounded: // a round comes to what is left within the limit
		return min(prefix+total, max(prefix, int64(x.kind.Limit))+longest)
	}
	return prefix + total
}

// minThink is the minimum time between an answer and a request that follows
// from it.
func (k *Session) minThink() vtime.Duration {
	if len(k.Graph) > 0 {
		least := workload.NoFollowUp
		for i := range k.Graph {
			if len(k.Graph[i].After) > 0 {
				least = min(least, k.Graph[i].Wait.Least())
			}
		}
		return least
	}
	least := k.Think.Least()
	if k.Tools != nil {
		least = min(least, k.Tools.Latency.Least())
	}
	return least
}
