package traffic

import (
	"blis/vtime"
	"blis/workload/draw"
)

// Config is all the traffic of a run: clients that send requests side by side.
// Each draws from streams of its own, so that none changes what another sends.
type Config struct {
	Seed     uint64     // of every stream
	Requests int64      // of all clients with arrivals together, planned rounds of sessions included; 0: no limit
	Horizon  vtime.Time // arrivals come before it; 0: no end
	Clients  []Client
}

// Client is a source of requests, or of sessions of requests, with one
// behaviour.
type Client struct {
	ID     string // names its streams, workload/<ID>/…; no two clients have the same
	Tenant string
	Class  string // SLO class
	Model  string
	Hint   float64 // priority hint of its requests

	// Exactly one of four: arrivals of an open loop at a rate, with a number of
	// arrivals per span of time, or at given times; or users of a closed loop.
	Process draw.ArrivalProcess
	Rate    draw.RateCurve // requests or sessions per second; its Windows may have a Change of the same index
	Stages  []draw.Stage   // spans with a number of arrivals each
	Times   []vtime.Time   // arrivals as given, in order
	Users   int32          // number of users who each wait for an answer, think, and ask again

	Think    draw.Delay // of users, between an answer and the next request or session
	Pause    draw.Delay // of users, after a request without an answer at least; the zero value: DefaultPause
	Requests int64      // of this client; 0: only the limit of Config

	Changes []Change // what else is different in window i of Rate; empty: nothing

	Input, Output draw.Length // the request's own tokens: new ones of a round, besides prefix and context
	MaxOutput     int32       // limit that requests carry; 0: none
	Prefix        Prefix

	// BurstSize is how strongly prompt lengths follow bursts of arrivals (see
	// draw.Bursts), from 0 to 1: single requests and first rounds in a burst are
	// longer, others shorter. The distribution of all lengths is the same as with 0.
	BurstSize float64

	Timeout vtime.Duration // deadline = arrival + Timeout; 0: none

	Kinds []Kind // what an arrival begins; empty: single requests
}

// DefaultPause is the time that a user waits after a refused request before the
// next. Client libraries wait from 0.5 to 8 s before they try again.
const DefaultPause = vtime.Second

// LeastPause is the shortest such pause: a refusal takes the way to the server
// and back, so no client asks a million times a second.
const LeastPause = vtime.Millisecond

// Change is what is different in one window of a client's rate curve. Nil: nothing.
type Change struct{ Input, Output *draw.Length }

// Prefix is shared content at the beginning of prompts, such as a system prompt:
// the content of one of Count groups.
type Prefix struct {
	Group  string      // names the content; equal groups share it, whatever the client
	Length int32       // tokens; 0: no prefix
	Share  float64     // of the requests (or sessions) that have it, from 0 to 1
	Count  int32       // different prefixes in the group, from 1; 0: 1
	Pick   draw.Length // which of them, from 0 to Count−1; not used with one
}

// Kind is what an arrival of a client begins: a single request, or a session.
type Kind struct {
	Name    string
	Share   float64  // of the client's arrivals; all add up to 1
	Session *Session // nil: a single request
	Input   *draw.Length
	Output  *draw.Length // nil: the lengths of the client
}

// Session is requests that follow from each other: rounds of a conversation,
// steps of an agent, or a graph of calls.
type Session struct {
	Rounds  draw.Length // of a conversation, from 1; without a Graph
	Think   draw.Delay  // between the answer to a round and the next
	Context Context
	Growth  Growth
	Limit   int32        // Bounded: tokens of context, prefix included, that a prompt carries on at most
	Open    bool         // rounds do not wait for answers: the next arrives Think after the one before
	Follow  *draw.Length // new input tokens of rounds after the first; nil: Input

	// Persists says that a round without an answer does not end the session: the
	// next follows as after an answer, and its context has nothing of the lost one.
	// Not with a Graph.
	Persists bool

	Reasoning *Reasoning
	Tools     *Tools
	Graph     []Node // in an order in which every node comes after those it waits for; instead of rounds
}

// Context says what of earlier rounds a prompt repeats.
type Context uint8

// Contexts.
const (
	NoContext  Context = iota // nothing
	Accumulate                // all input and output before
)

// Growth is how context grows with the number of the round.
type Growth uint8

// Growths.
const (
	Linear    Growth = iota // every round adds what it says
	Sublinear               // round k adds 1/√k of it
	Bounded                 // the oldest rounds are dropped beyond a limit
)

// Reasoning is the output that a model yields before its answer: Steps chains of
// Tokens tokens each. Later prompts have it only if Kept.
type Reasoning struct {
	Steps  draw.Length
	Tokens draw.Length
	Kept   bool
}

// Tools are calls that answers ask for. After a round, with Probability, a tool
// runs for Latency and its Result is the new input of a further request; and so
// on, Calls times at most in a row.
type Tools struct {
	Probability float64     // from 0 to 1
	Calls       draw.Length // most in a row, from 0
	Latency     draw.Delay
	Result      draw.Length // tokens, from 1
}

// Node is one request of a graph. It is sent when all nodes of After are
// answered and Wait has passed since the last of them. Its context is the context
// of the first of After, followed by the outputs of the others.
type Node struct {
	Name   string
	After  []int // indices of earlier nodes; empty: sent at the start
	Wait   draw.Delay
	Input  *draw.Length
	Output *draw.Length // nil: the lengths of the client
}
