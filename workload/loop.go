package workload

import "blis/vtime"

// Loop is a Source of which some requests exist only once earlier ones have
// ended: the next round of a conversation, the next request of a user. What
// Pull yields depends on nothing that happens in the run; it may be pulled
// ahead. What follows from ends comes by Due and Take.
type Loop interface {
	Source
	// Waits reports whether it awaits any request at all. If not, it is a
	// Source like others, and nothing below is called.
	Waits() bool
	// Ended tells what became of a request with Awaited set. It is told once,
	// in the order in which the run sees ends.
	Ended(e *End)
	// Due is the place in the order of sources of the earliest request that
	// follows from the ends told so far. Its arrival is vtime.Never if there is
	// none.
	Due() Place
	// Take fills r with that request, as Pull does. r.Spans may alias memory of
	// the source and is valid until the next Take. What is wrong with what
	// follows is an error here, in its place.
	Take(r *Request) error
	// Reaction is the least time between End.At and an arrival that follows from
	// it, at least 1 µs: from the end of a request that completed, or from that
	// of one that did not. Unending when no such end causes any.
	Reaction(completed bool) vtime.Duration
	// Sessions is what became of the sessions whose ends have been told.
	Sessions() Sessions
}

// Place is where a request stands in the order of sources.
type Place struct {
	Arrival vtime.Time
	Source  uint32
	Index   uint64
}

// Before reports whether p comes before q.
func (p Place) Before(q Place) bool {
	if p.Arrival != q.Arrival {
		return p.Arrival < q.Arrival
	}
	if p.Source != q.Source {
		return p.Source < q.Source
	}
	return p.Index < q.Index
}

// Place is where r stands.
func (r *Request) Place() Place { return Place{r.Arrival, r.Source, r.Index} }

// End is what became of a request.
type End struct {
	Source    uint32     // of the request …
	Index     uint64     // … and its number there
	At        vtime.Time // when its client knows: has the last token, or was refused
	Completed bool
	Generated int32 // output tokens; fewer than Request.Output when they were cut short
}

// Sessions counts sessions of a Loop by how they ended.
type Sessions struct {
	Completed  int64 // every round was answered, or all were sent where lost ones end none
	EndedEarly int64 // a round was rejected, dropped, timed out or aborted
	NotSent    int64 // rounds that those therefore never sent

	// Requests of users in closed loops, those of their sessions included.
	UserRequests int64 // that ended
	UserRefused  int64 // of those without an answer: rejected, dropped, timed out or aborted
}

// Unending is the Reaction of a Loop without reaction.
const Unending = vtime.Duration(1<<63 - 1)
