package chrometrace

import (
	"blis/metrics"
	"blis/vtime"
)

// step is one step of an instance, or several, one after the other, that are one event.
type step struct {
	start, end              vtime.Time
	busy                    vtime.Duration // sum over the steps
	prefill, decode, blocks int64          // tokens, sums; blocks in use, the most
	instance                int32
	steps                   int32
	running, waiting        int32 // the most of any step
}

// cut ends the step at a time, if it has not ended before.
func (s *step) cut(at vtime.Time) {
	if lost := s.end.Sub(at); lost > 0 && at >= s.start {
		s.end, s.busy = at, max(0, s.busy-lost)
	}
}

// request is what the trace has of a request.
type request struct {
	id                                           int64
	arrival, admitted, routed, queued, scheduled vtime.Time // vtime.Never: it did not get there
	first, finished                              vtime.Time
	handed                                       *handOver // nil: nobody handed it over
	instance                                     int32     // −1: it never reached one
	input, cached, generated, preempted, retries int32
	tenant, class, model                         int32
	state                                        metrics.State
	reason                                       metrics.Reason
}

// handOver is what becomes of a request before an instance goes on that did not compute its prompt.
type handOver struct {
	queued, scheduled, ended vtime.Time // on the instance that computed the prompt
	pulled                   vtime.Time // beginning of the pull; vtime.Never: nothing is pulled
	from                     int32      // instance
}

// transfer is a transfer of KV.
type transfer struct {
	submitted, start, end, noticed vtime.Time
	request, bytes                 int64
	instance, blocks               int32
	lane                           int32 // given when the trace is written
	reason, from, to               name
}

// instant is something that happens at an instant, or a number of instances from then on.
type instant struct {
	at       vtime.Time
	request  int64   // −1: it concerns none
	severity float64 // of an anomaly
	a, b     int32   // numbers by kind
	instance int32   // −1: of the control plane
	name     name
	detail   name
	kind     instantKind
}

// instantKind is what an instant is about.
type instantKind uint8

const (
	preempted instantKind = iota // a: tokens that it had computed
	expired                      // KV that nobody pulled; a: blocks
	anomaly
	failed // what happens to an instance that fails, or to a request because of it; a: retries, b: 1 of a crash
	scaled // a, b: instances before and after, detail: the reason, name: the pool
	instantKinds
)

// rare reports whether there are few of the kind, which are not thinned like what requests bring about.
func (i *instant) rare() bool { return i.kind == scaled || i.kind == failed && i.request < 0 }

// name is the index of a text of names.
type name int32

// names are texts in the trace that come from records, each once.
type names struct {
	quoted []string // as JSON
	index  map[string]name
}

// mostNames is how many different texts there may be; all after them are the last one. Reasons of
// policies may have numbers in them.
const mostNames = 1 << 14

// of returns the index of a text.
func (n *names) of(text string) name {
	if i, found := n.index[text]; found {
		return i
	}
	if len(n.quoted) == mostNames-1 {
		text = "…"
	} else if len(n.quoted) == mostNames {
		return mostNames - 1
	}
	if n.index == nil {
		n.index = map[string]name{}
	}
	i := name(len(n.quoted))
	n.quoted, n.index[text] = append(n.quoted, quote(text)), i
	return i
}

// chunks is a list of which each part keeps its place: growing copies nothing.
type chunks[T any] struct {
	parts [][]T
	n     int
}

// chunkSize is the number of elements in a part.
const chunkSize = 1 << 10

func (c *chunks[T]) len() int { return c.n }

// at returns element i.
func (c *chunks[T]) at(i int) *T { return &c.parts[i/chunkSize][i%chunkSize] }

// add appends an element.
func (c *chunks[T]) add(x T) {
	if c.n == len(c.parts)*chunkSize {
		c.parts = append(c.parts, make([]T, chunkSize))
	}
	*c.at(c.n) = x
	c.n++
}

// keep keeps the elements for which want is true, in their order. What want changes stays changed.
func (c *chunks[T]) keep(want func(x *T) bool) {
	n := 0
	for i := range c.n {
		if x := c.at(i); want(x) {
			*c.at(n) = *x
			n++
		}
	}
	c.n = n
	clear(c.parts[(n+chunkSize-1)/chunkSize:])
	c.parts = c.parts[:(n+chunkSize-1)/chunkSize]
}
