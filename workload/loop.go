package workload

import "blis/vtime"

// ClosedLoop is a Source in which some requests exist only once earlier ones
// have ended: the next round of a conversation, the next request of a user. The
// requests that Pull yields do not depend on the run and may be pulled ahead.
// The requests that follow from ends come by Peek and Pop.
type ClosedLoop interface {
	Source
	// Awaits reports whether the source awaits the end of any request. If not,
	// it is a Source like others, and the methods below are not called.
	Awaits() bool
	// Ended reports the end of a request with Awaited set. It is called once
	// per such request, in the order in which the run sees ends.
	Ended(e *End)
	// Peek returns the position of the earliest request that follows from the
	// ends reported so far. Its arrival is vtime.Never if there is none.
	Peek() Position
	// Pop fills r with that request, as Pull does. r.Spans may alias memory of
	// the source and is valid until the next Pop. An error of a request that
	// follows from an end is returned here, in that request's position.
	Pop(r *Request) error
	// MinThink returns the minimum time between End.At and an arrival that
	// follows from that end, at least 1 µs: for ends of completed requests, or
	// for other ends. It is NoFollowUp if no such end causes an arrival.
	MinThink(completed bool) vtime.Duration
	// Sessions counts the sessions whose ends have been reported.
	Sessions() Sessions
	// NotSent lists the requests of Sessions.NotSent by the tags that they would have had. Tags may come twice.
	NotSent() []Unsent
}

// Position is the position of a request in the order of sources.
type Position struct {
	Arrival vtime.Time
	Source  uint32
	Index   uint64
}

// Before reports whether p comes before q.
func (p Position) Before(q Position) bool {
	if p.Arrival != q.Arrival {
		return p.Arrival < q.Arrival
	}
	if p.Source != q.Source {
		return p.Source < q.Source
	}
	return p.Index < q.Index
}

// Position returns the position of r.
func (r *Request) Position() Position { return Position{r.Arrival, r.Source, r.Index} }

// End reports the end of a request to its source.
type End struct {
	Source    uint32     // Request.Source
	Index     uint64     // Request.Index
	At        vtime.Time // when the client has the last token, or knows of the failure
	Completed bool
	Generated int32 // output tokens; fewer than Request.Output if the answer was cut short
}

// Sessions counts the sessions of a ClosedLoop by their end.
type Sessions struct {
	Completed  int64 // all rounds answered; all sent, if a failed round does not end the session
	EndedEarly int64 // ended since a round was rejected, dropped, timed out or aborted
	NotSent    int64 // rounds of EndedEarly that were never sent

	// Requests of users in closed loops, in sessions or single.
	UserRequests int64 // ended
	UserRefused  int64 // of UserRequests: rejected, dropped, timed out or aborted
}

// Unsent is requests of sessions that ended early, which were never sent.
type Unsent struct {
	Tags     Tags
	Requests int64
}

// NoFollowUp is the MinThink of a ClosedLoop in which no request follows from
// an end.
const NoFollowUp = vtime.Duration(1<<63 - 1)
