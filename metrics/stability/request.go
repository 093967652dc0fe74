package stability

import "blis/vtime"

// Request is what is known of a request when its run has ended.
type Request struct {
	Arrival vtime.Time
	End     vtime.Time     // when it left, answered or not; vtime.Never: not before the end of the run
	E2E     vtime.Duration // of a request that completed; −1: it did not
	Lost    bool           // it left without an answer
}

// Level says how a system does, from good to bad.
type Level uint8

// Levels.
const (
	Stable     Level = iota // it keeps up
	Backlogged              // a backlog came, or some requests were lost
	Overloaded              // more arrives than it serves
	Undecided               // the run is too short to say; of verdicts alone
	levels     = int(Overloaded) + 1
)

// String returns the level as the public simulator writes it.
func (l Level) String() string {
	return [...]string{"STABLE", "BACKLOGGED", "OVERLOADED", "UNDECIDED"}[l]
}

// MarshalText implements encoding.TextMarshaler.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }
