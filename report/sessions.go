package report

import (
	"fmt"

	"blis/actors"
	"blis/report/plaintext"
)

// sessions is what became of the sessions of a workload.
type sessions struct {
	Begun      int64 `json:"begun"`
	Completed  int64 `json:"completed"`
	EndedEarly int64 `json:"ended_early"`
	Unfinished int64 `json:"unfinished"`
	NotSent    int64 `json:"requests_not_sent"`
}

// newSessions is nil where there were none.
func newSessions(r *actors.Result) *sessions {
	if r.Sessions == nil {
		return nil
	}
	s := sessions(*r.Sessions)
	return &s
}

// sessions is a line about them, if there were any.
func (t *runText) sessions(r *actors.Result) {
	s := r.Sessions
	if s == nil {
		return
	}
	text := fmt.Sprintf("%s begun: %s completed, %s ended early", plaintext.Grouped(s.Begun), plaintext.Grouped(s.Completed), plaintext.Grouped(s.EndedEarly))
	if s.NotSent > 0 {
		text += fmt.Sprintf(" (%s requests not sent)", plaintext.Grouped(s.NotSent))
	}
	t.Line("sessions", fmt.Sprintf("%s, %s unfinished", text, plaintext.Grouped(s.Unfinished)))
}
