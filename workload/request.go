package workload

import (
	"slices"

	"blis/vtime"
)

// ContentID names a piece of content: a system prompt, a turn of a
// conversation, a block of a trace. Token k of a span with content c is the
// pair (c, k); two tokens are equal exactly when their pairs are. Zero names
// nothing.
type ContentID uint64

// Span is a run of tokens (Content, 0) … (Content, Length−1) of a prompt.
// Length is at least 1.
type Span struct {
	Content ContentID
	Length  int32
}

// Label is the index of a name in a Labels table; see there.
type Label uint16

// Absent is the MaxOutput of a request whose client set no limit.
const Absent = -1

// Identity is the part of a request that never changes and that everyone may
// know: sources, policies, instances and results embed it. An attribute that is
// added here travels from the source to the row of the result; only the readers
// of workloads, who set it, and the messages between processes name it.
type Identity struct {
	ID      int64 // number in order of arrival, from 0, which the router gives; sources leave it 0
	Arrival vtime.Time
	Session uint64 // 0: none
	Round   int32  // within the session
	Input   int32  // L, prompt tokens, at least 1

	Tenant, Class, Model Label
}

// Terms are what the client sends along with its request for the cluster to go
// by. Policies see them. Results do not have them.
type Terms struct {
	Deadline vtime.Time // absolute; vtime.Never when there is none
	Hint     float64    // client's priority hint, higher is more urgent; 0 when not given

	// Spans name the leading content of the prompt that other requests may
	// share. What they do not cover of Input is the request's own: no other
	// request can have it, which is what lets the cache keep it as a count. A
	// source that wants content to be found again must name it. They are valid
	// until the next pull from the source.
	Spans []Span

	MaxOutput int32 // the client's limit of output tokens, ≥ Output; Absent when not given
}

// Request is one request as its source yields it. Counts are tokens.
type Request struct {
	Identity
	Terms

	Source uint32 // stamp source of the stream or session it comes from, from 2³¹
	Output int32  // O, what it will really produce; policies never see it
	Index  uint64 // number within Source, the stamp's Seq

	OutputContent ContentID // names the output when a later request continues it; 0: the request's own

	Begins  bool // the first request that a session of a ClosedLoop sends, whatever its Round
	Awaited bool // the source is a ClosedLoop, and its Ended is called with the end of this request
}

// Shared is the number of leading prompt tokens that Spans name.
func (r *Request) Shared() int32 {
	n := int32(0)
	for _, s := range r.Spans {
		n += s.Length
	}
	return n
}

// Source yields requests in order of (Arrival, Source, Index). It is pulled
// by the router, one request at a time; nothing holds them all. A run on several
// workers pulls some thousands ahead, while instances run.
type Source interface {
	// Pull fills r with the next request and reports whether there was one.
	// r.Spans may alias memory of the source and is valid until the next
	// Pull. After false or an error it is not called again. Errors name file,
	// line and field.
	Pull(r *Request) (bool, error)
	// Labels is the table of names behind Tenant, Class and Model. All names
	// are in it before the first Pull: others read it while requests are
	// pulled, and results list it.
	Labels() *Labels
}

// Labels is the table of tenant, class and model names of one workload. The
// same index stands for the same name for the whole run.
type Labels struct {
	Tenants, Classes, Models Names
}

// Names numbers strings in order of first use, until they are sorted.
type Names struct {
	list  []string
	index map[string]Label
}

// Label returns the index of name, adding it if it is new. It panics past
// 65,535 names; readers check with Len before.
func (n *Names) Label(name string) Label {
	if l, ok := n.index[name]; ok {
		return l
	}
	if len(n.list) > 0xffff {
		panic("workload: more than 65,536 names of one kind")
	}
	if n.index == nil {
		n.index = map[string]Label{}
	}
	l := Label(len(n.list))
	n.list = append(n.list, name)
	n.index[name] = l
	return l
}

// Sort numbers the names in alphabetical order, and returns the new number of
// each old one: so that the same names have the same numbers, in whatever order
// they came.
func (n *Names) Sort() []Label {
	old := n.list
	n.list = slices.Sorted(slices.Values(old))
	moved := make([]Label, len(old))
	for i, name := range n.list {
		n.index[name] = Label(i)
	}
	for i, name := range old {
		moved[i] = n.index[name]
	}
	return moved
}

// Find returns the index of name, and whether it has one.
func (n *Names) Find(name []byte) (Label, bool) {
	l, ok := n.index[string(name)]
	return l, ok
}

// Name returns the string behind l.
func (n *Names) Name(l Label) string { return n.list[l] }

// Len is the number of names.
func (n *Names) Len() int { return len(n.list) }
