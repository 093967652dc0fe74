package report

import (
	"fmt"
	"io"

	"blis/metrics"
	"blis/metrics/stability"
	"blis/report/plaintext"
)

// Saturation says whether a run was stable.
type Saturation struct {
	Verdict stability.Verdict `json:"verdict"`
	Input   stability.Input   `json:"input"` // of the detectors
	Said    saidByDetectors   `json:"detectors"`
}

// saidByDetectors are distinct by name.
type saidByDetectors []stability.Report

// MarshalJSON prints an object from name to report that keeps the order.
func (list saidByDetectors) MarshalJSON() ([]byte, error) {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return metrics.Object(names, func(i int) any { return &list[i] })
}

// NewSaturation judges requests in the order of their arrivals.
func NewSaturation(list []stability.Request, s *stability.Settings) *Saturation {
	return &Saturation{stability.Judge(list), s.Input, stability.Detect(list, s)}
}

// write writes what is said as text.
func (s *Saturation) write(w io.Writer, style plaintext.Style) {
	t := plaintext.NewWriter(w, style)
	v := &s.Verdict
	text := v.Level.String()
	if v.Level == stability.Undecided {
		text += ", the run is too short"
	}
	if v.Growth != nil {
		text += fmt.Sprintf(": %s of arrivals lost; requests in the system grow by %s of the arrival rate, from %s to %s on average, peak %s",
			plaintext.Percent(v.Lost), plaintext.Percent(v.Growth), plaintext.Decimal(&v.First, 1), plaintext.Decimal(&v.Last, 1), plaintext.Grouped(v.Peak))
	}
	t.Line("verdict", text)
	for i := range s.Said {
		r := &s.Said[i]
		name := r.Name
		if name == stability.BacklogDrift {
			name = "drift" // as wide as the others
		}
		t.Line(name, fmt.Sprintf("%s; at last %s, score %s; heard of %s requests", r.Final, r.Last.Level, plaintext.Decimal(&r.Last.Score, 2), s.Input))
	}
}
