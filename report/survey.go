package report

import (
	"io"
	"strings"

	"blis/actors"
	"blis/report/plaintext"
	"blis/workload/survey"
)

// workloadSchema names the form of the JSON result of blis workload show;
// docs/workload.schema.json describes it.
const workloadSchema = "blis.workload/v1"

// Survey describes the requests of a workload.
type Survey struct {
	Schema   string   `json:"schema"`
	Partial  bool     `json:"partial"` // interrupted: about the requests until then
	Workload string   `json:"workload"`
	Notes    []string `json:"notes"`
	survey.Survey
	Config actors.Config `json:"config"`
}

// NewSurvey is a survey of the workload of a configuration, which actors.Workload
// returned with its set-up.
func NewSurvey(s *survey.Survey, cfg *actors.Config, setup *actors.Setup, partial bool) *Survey {
	return &Survey{Schema: workloadSchema, Partial: partial, Workload: setup.Workload, Notes: listed(setup.Notes), Survey: *s, Config: *cfg}
}

// JSON implements Document.
func (s *Survey) JSON(w io.Writer) error { return writeObject(w, s) }

// Text implements Document: what the workload is, how many requests come when,
// how long they are, whose, what of their prompts is the same, and pictures of
// the rate and the lengths.
func (s *Survey) Text(w io.Writer, look plaintext.Style) error {
	var b strings.Builder
	t := surveyText{plaintext.NewWriter(&b, look)}
	t.Line("workload", s.Workload)
	for _, note := range s.Notes {
		t.Line("note", note)
	}
	if s.Partial {
		t.Line("warning", "interrupted: this is about the requests until then")
	}
	t.Gap()
	t.arrivals(&s.Survey)
	if s.Requests > 0 {
		t.requestsOf(&s.Survey)
		t.pictures(&s.Survey)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
