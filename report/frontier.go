package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"blis/report/plaintext"
	"blis/study"
	"blis/study/pointlog"
)

// Frontier is what configurations serve and cost, as a result.
type Frontier struct {
	Points      []study.FrontierPoint
	Coordinates [][]pointlog.Coordinate // of each point
	Asked       study.Capacity
	File        string
	Latency     study.LatencyChoice
	Partial     bool // interrupted: later configurations were not searched
}

// frontierJSON is the JSON result of blis capacity --frontier.
type frontierJSON struct {
	Schema     string         `json:"schema"`
	Partial    bool           `json:"partial"`
	Over       string         `json:"over"`
	SLOs       []string       `json:"slos"`
	Share      float64        `json:"share"`
	Confidence float64        `json:"confidence"` // of each configuration by itself
	Error      string         `json:"latency_error"`
	Items      []frontierItem `json:"configurations"`
}

type frontierItem struct {
	Axes           map[string]json.RawMessage `json:"axes"`
	Outcome        string                     `json:"outcome"`
	Holds          *float64                   `json:"holds"`
	Fails          *float64                   `json:"fails"`
	GPUs           *int                       `json:"gpus"`
	CostPerHour    *float64                   `json:"cost_per_hour"`
	CostPerMillion *float64                   `json:"cost_per_million_output_tokens"`
	Pareto         bool                       `json:"pareto"`
	Error          *string                    `json:"error"`
}

// JSON implements Document.
func (r *Frontier) JSON(w io.Writer) error {
	j := frontierJSON{Schema: "blis.frontier/v1", Partial: r.Partial, Over: r.Asked.Over.Name, Share: r.Asked.Share, Confidence: r.Asked.Confidence, Error: r.Latency.Error(), Items: []frontierItem{}}
	for i := range r.Asked.SLOs {
		j.SLOs = append(j.SLOs, r.Asked.SLOs[i].Text())
	}
	for i := range r.Points {
		item := &r.Points[i]
		one := frontierItem{Axes: map[string]json.RawMessage{}, CostPerHour: item.CostPerHour, Pareto: item.Front}
		for _, c := range r.Coordinates[i] {
			one.Axes[c.Axis] = c.Value
		}
		if item.Err != nil {
			text := item.Err.Error()
			one.Error = &text
		}
		if result := item.Result; result != nil {
			one.Outcome = string(result.Outcome)
			if result.Fails != nil {
				one.Fails = &result.Fails.Value
			}
			if result.Holds != nil {
				one.Holds, one.GPUs, one.CostPerMillion = &result.Holds.Value, &result.Holds.GPUs, result.Holds.CostPerMillion
			}
		}
		j.Items = append(j.Items, one)
	}
	return WriteIndented(w, j)
}

// Text implements Document.
func (r *Frontier) Text(w io.Writer, s plaintext.Style) error {
	var b strings.Builder
	if r.Partial {
		fmt.Fprintf(&b, "interrupted: only the first %d configurations were searched\n", len(r.Points))
	}
	var slos []string
	for i := range r.Asked.SLOs {
		slos = append(slos, r.Asked.SLOs[i].Text())
	}
	fmt.Fprintf(&b, "%s: %s at which at least %.4g %% of windows meet %s, for each configuration\n", r.File, r.Asked.Over.Name, 100*r.Asked.Share, strings.Join(slos, ", "))
	fmt.Fprintf(&b, "latency model of all: %s; this is not in the answers\n\n", r.Latency.Error())
	if len(r.Points) > 0 {
		for _, c := range r.Coordinates[0] {
			b.WriteString(c.Axis + "\t")
		}
	}
	fmt.Fprintf(&b, "%s holds\tnot at\tGPUs\tcost/h\tper M tokens\tfront\n", r.Asked.Over.Name)
	var dots []plaintext.Dot
	priced := false
	for i := range r.Points {
		p := &r.Points[i]
		r.line(&b, p, r.Coordinates[i])
		if p.Capacity > 0 && p.CostPerHour != nil {
			dots = append(dots, plaintext.Dot{X: *p.CostPerHour, Y: p.Capacity, Marked: p.Front})
			priced = true
		}
	}
	for i := range r.Points {
		if err := r.Points[i].Err; err != nil {
			fmt.Fprintf(&b, "%s: %v\n", r.Points[i].Name, err)
		}
	}
	b.WriteString("\n")
	if len(dots) > 1 {
		drawScatter(&b, s, dots)
		fmt.Fprintf(&b, "Upwards %s, to the right cost per hour; ● serves more than all that cost as little.\n", r.Asked.Over.Name)
	}
	fmt.Fprintf(&b, "Each line is a claim of its own, wrong with a chance of at most %.3g %%, by chance in the traffic.\n", 100*(1-r.Asked.Confidence))
	if !priced && len(r.Points) > 0 {
		b.WriteString("There are no prices, so the front is of load against GPUs: gpu-hour-price in the sweep file gives costs.\n")
	}
	_, err := io.WriteString(w, plaintext.Columns(b.String(), max(s.Width, 80)))
	return err
}

// line is one configuration.
func (r *Frontier) line(b *strings.Builder, item *study.FrontierPoint, at []pointlog.Coordinate) {
	for _, c := range at {
		b.WriteString(valueText(c.Value) + "\t")
	}
	if item.Err != nil {
		b.WriteString("none\t\t\t\t\t\n")
		return
	}
	result := item.Result
	cell := func(end *study.CapacityEnd) string {
		switch {
		case end == nil && result.Outcome == study.EveryLoadHolds:
			return "beyond the range"
		case end == nil:
			return "–"
		}
		text := r.Asked.Over.Value(end.Value)
		if !end.Certified && !result.Exact {
			text += " (not certified)"
		}
		return text
	}
	gpus, million := "", ""
	if end := result.Holds; end != nil {
		gpus = plaintext.Grouped(int64(end.GPUs))
		if end.CostPerMillion != nil {
			million = plaintext.Decimal(end.CostPerMillion, plaintext.SignificantDecimals(end.CostPerMillion))
		}
	}
	front := ""
	if item.Front {
		front = "●"
	}
	cost := ""
	if item.CostPerHour != nil {
		cost = plaintext.Decimal(item.CostPerHour, 2)
	}
	fmt.Fprintf(b, "%s\t%s\t%s\t%s\t%s\t%s\n", cell(result.Holds), cell(result.Fails), gpus, cost, million, front)
}
