package workload

import "blis/vtime"

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

// Absent is the MaxOutput of a request whose client set no limit.
const Absent = -1

// Identity is the part of a request that never changes and that every part of the
// simulator may know: sources, policies, instances and results embed it. A new field
// is copied from the source to the row of the result. Only the readers of workloads,
// which set it, and the messages between processes must name it.
type Identity struct {
	ID      int64 // number in order of arrival, from 0, which the router gives; sources leave it 0
	Arrival vtime.Time
	Session uint64 // 0: none
	Round   int32  // within the session
	Input   int32  // L, prompt tokens, at least 1
	Tags
}

// Terms are the fields that a client sends with its request for the cluster. Policies
// see them. Results do not have them.
type Terms struct {
	Deadline vtime.Time // absolute; vtime.Never when there is none
	Hint     float64    // client's priority hint, higher is more urgent; 0 when not given

	// Spans name the leading content of the prompt that other requests may share. The
	// rest of Input is the request's own: no other request has it, so the cache keeps
	// only its number of tokens. Only content that is named can be found in the cache
	// by another request. Spans are valid until the next pull from the source.
	Spans []Span

	MaxOutput int32 // the client's limit of output tokens, ≥ Output; Absent when not given
}

// Request is one request as its source yields it. Counts are tokens.
type Request struct {
	Identity
	Terms

	Source uint32 // stamp source of the stream or session it comes from, from 2³¹
	Output int32  // O, the output tokens that it will generate; policies never see it
	Index  uint64 // number within Source, the stamp's Seq

	OutputContent ContentID // names the output when a later request continues it; 0: the request's own

	Begins  bool // the first request that a session of a ClosedLoop sends, whatever its Round
	Awaited bool // the source is a ClosedLoop, and its Ended is called with the end of this request
}

// Shared returns the number of leading prompt tokens that Spans name.
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
