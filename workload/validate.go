package workload

import (
	"errors"
	"fmt"
	"math"

	"blis/vtime"
)

// FirstSource is the lowest stamp source of a request: the number of the
// first client stream. Sources with a single stream use it.
const FirstSource uint32 = 1 << 31

// Latest bounds arrivals: far beyond any run (146,000 years), and far enough
// below vtime.Never that latencies can be added without saturating.
const Latest = vtime.Time(1<<62 - 1)

// DefaultClass is the SLO class of requests whose workload names none.
const DefaultClass = "standard"

// Classes are the SLO classes that policies know, in no order. A workload
// may name others.
func Classes() []string {
	return []string{"critical", DefaultClass, "sheddable", "batch", "background"}
}

// NewRequest returns a request without deadline, output limit, named content
// or labels. Input and output are tokens.
func NewRequest(arrival vtime.Time, input, output int32) Request {
	return Request{
		Identity: Identity{Arrival: arrival, Input: input},
		Terms:    Terms{Deadline: vtime.Never, MaxOutput: Absent},
		Source:   FirstSource, Output: output,
	}
}

// Validate reports everything that makes r illegal, in one line, or nil:
// arrival from 0 to 2⁶²−1, deadline not before it, input at least 1, output
// at least 0 and at most MaxOutput where that is given, spans that have
// content and length and fit into the input, a stamp source from FirstSource.
func (r *Request) Validate() error {
	var bad Faults
	if r.Source < FirstSource {
		bad.Add("source", r.Source, "want from %d", FirstSource)
	}
	if r.Arrival < 0 || r.Arrival > Latest {
		bad.Add("arrival", int64(r.Arrival), "want from 0 to %d", int64(Latest))
	}
	if r.Deadline < r.Arrival {
		bad.Add("deadline", int64(r.Deadline), "want a time not before the arrival %d, vtime.Never for none", int64(r.Arrival))
	}
	if r.Input < 1 {
		bad.Add("input", r.Input, "want at least 1 token")
	}
	if r.Output < 0 {
		bad.Add("output", r.Output, "want at least 0 tokens")
	}
	if r.MaxOutput != Absent && r.MaxOutput < max(r.Output, 0) {
		bad.Add("max output", r.MaxOutput, "want at least the output %d, or Absent", r.Output)
	}
	shared := int64(0)
	for i, s := range r.Spans {
		if s.Content == 0 || s.Length < 1 {
			bad.Add(fmt.Sprintf("span %d", i), fmt.Sprintf("%d:%d", s.Content, s.Length), "want content and length from 1")
		}
		shared += int64(s.Length)
	}
	if shared > int64(r.Input) {
		bad.Add("spans", shared, "want at most the %d tokens of the input", r.Input)
	}
	if r.Round < 0 {
		bad.Add("round", r.Round, "want from 0")
	}
	if math.IsNaN(r.Hint) || math.IsInf(r.Hint, 0) {
		bad.Add("hint", r.Hint, "want a finite number")
	}
	return bad.Err("")
}

// Faults collects the faults of one configuration or request, for one error line with
// all of them.
type Faults struct{ text string }

// Add takes note of a field, its value, and what would be right.
func (f *Faults) Add(field string, value any, want string, args ...any) {
	if f.text != "" {
		f.text += "; "
	}
	f.text += fmt.Sprintf("%s: %v: ", field, value) + fmt.Sprintf(want, args...)
}

// Err returns all faults as one line after prefix, nil if there are none.
func (f *Faults) Err(prefix string) error {
	if f.text == "" {
		return nil
	}
	return errors.New(prefix + f.text)
}
