package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"blis/report/plaintext"
	"blis/study"
)

// SweepPreview is what a sweep would run, as a result.
type SweepPreview struct {
	Preview *study.SweepPreview
	File    string
}

// previewJSON is the JSON result of blis sweep --dry-run.
type previewJSON struct {
	Schema   string         `json:"schema"`
	Points   int64          `json:"points"`
	Runs     int64          `json:"runs"`
	Refused  int64          `json:"refused"`
	Latency  string         `json:"latency_model"`
	Estimate *float64       `json:"estimated_s"` // null: not known
	First    []previewPoint `json:"first"`
	Last     []previewPoint `json:"last"`
	Reasons  []sweepReason  `json:"reasons"`
}

type previewPoint struct {
	Index int64  `json:"index"`
	Key   string `json:"key"`
	Label string `json:"point"`
}

// JSON implements Document.
func (r *SweepPreview) JSON(w io.Writer) error {
	p := r.Preview
	j := previewJSON{Schema: "blis.sweep-preview/v1", Points: p.Plan.Len(), Runs: p.Distinct, Refused: p.Plan.Refused(), Latency: latencyOf(p.Plan), First: r.points(p.First), Last: r.points(p.Last), Reasons: []sweepReason{}}
	if p.Estimate > 0 {
		seconds := p.Estimate.Seconds()
		j.Estimate = &seconds
	}
	for _, f := range p.Refusals {
		j.Reasons = append(j.Reasons, sweepReason{f.Reason, f.Points, f.First})
	}
	return WriteIndented(w, j)
}

func (r *SweepPreview) points(indices []int64) []previewPoint {
	list := []previewPoint{}
	for _, i := range indices {
		list = append(list, previewPoint{i, r.Preview.Plan.Key(i).String(), r.label(i)})
	}
	return list
}

func (r *SweepPreview) label(i int64) string {
	var parts []string
	for _, c := range r.Preview.Plan.Coordinates(i) {
		parts = append(parts, c.Axis+"="+valueText(c.Value))
	}
	if n := int64(r.Preview.Plan.Sweep.Replicates); n > 1 {
		parts = append(parts, fmt.Sprintf("replicate %d", i%n+1))
	}
	return strings.Join(parts, ", ")
}

func latencyOf(p *study.SweepPlan) string {
	if p.Latency.Model == "" {
		return "as the settings say"
	}
	return strings.TrimSpace(p.Latency.Model + " " + p.Latency.Coefficients)
}

// about is an estimated time with the digits that an estimate has.
func about(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than a second"
	case d < time.Minute:
		return "about " + d.Round(time.Second).String()
	}
	return "about " + strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

// Text implements Document.
func (r *SweepPreview) Text(w io.Writer, s plaintext.Style) error {
	p := r.Preview
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s of %s", r.File, plaintext.Plural(p.Plan.Len(), "point"), plaintext.Plural(p.Plan.Combinations(), "combination"))
	if n := p.Plan.Sweep.Replicates; n > 1 {
		fmt.Fprintf(&b, ", %d replicates each", n)
	}
	b.WriteString("\n")
	if same := p.Plan.Len() - p.Plan.Refused() - p.Distinct; same > 0 {
		fmt.Fprintf(&b, "%s the same as others and run once\n", plaintext.Plural(same, "point"))
	}
	fmt.Fprintf(&b, "latency model of all points: %s, %s\n", latencyOf(p.Plan), p.Plan.Latency.Error())
	for _, f := range p.Refusals {
		fmt.Fprintf(&b, "%s will not run, like point %d (%s): %s\n", plaintext.Plural(f.Points, "point"), f.First, r.label(f.First), f.Reason)
	}
	if p.Estimate > 0 {
		fmt.Fprintf(&b, "%s on %s, from a run of point %d\n", about(p.Estimate), plaintext.Plural(int64(p.Workers), "worker"), p.Sampled)
	} else {
		b.WriteString("how long it takes is not known: the point with the least work took too long to tell\n")
	}
	b.WriteString("\n")
	for _, i := range p.First {
		fmt.Fprintf(&b, "%d\t%s\n", i, r.label(i))
	}
	if len(p.Last) > 0 {
		b.WriteString("…\t\n")
	}
	for _, i := range p.Last {
		fmt.Fprintf(&b, "%d\t%s\n", i, r.label(i))
	}
	_, err := io.WriteString(w, plaintext.Columns(b.String(), max(s.Width, 80)))
	return err
}
