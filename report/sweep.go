package report

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"blis/metrics"
	"blis/report/plaintext"
	"blis/study"
	"blis/study/pointlog"
)

// Sweep is what the points of a sweep gave, as a result.
type Sweep struct {
	*study.SweepView
	Name string // of the sweep, for people
	All  bool   // the text has all points, however many
}

// sweepSchema names the form of the JSON result of blis sweep show.
const sweepSchema = "blis.sweep-result/v1"

// sweepJSON is the JSON result of blis sweep show. Latencies are in ms.
type sweepJSON struct {
	Schema     string          `json:"schema"`
	Confidence float64         `json:"confidence"`
	Points     sweepCounts     `json:"points"`
	Latency    []string        `json:"latency_models"`
	Error      string          `json:"latency_error"` // in words
	Axes       []string        `json:"axes"`
	Objectives []string        `json:"objectives"`
	Measures   []measureHeader `json:"measures"`
	Groups     []sweepGroup    `json:"combinations"`
	Effects    []sweepEffect   `json:"effects"`
	Reasons    []sweepReason   `json:"reasons"` // why points have no result
}

type sweepCounts struct {
	OK      int `json:"ok"`
	Refused int `json:"refused"`
	Failed  int `json:"failed"`
}

type sweepGroup struct {
	Axes     map[string]json.RawMessage `json:"axes"`
	OK       int                        `json:"ok"`
	Failed   int                        `json:"failed"`
	Front    bool                       `json:"pareto"`
	Model    string                     `json:"latency_model"`
	Measures map[string]sweepEstimate   `json:"measures"`
}

type sweepEstimate struct {
	Mean *float64 `json:"mean"`
	Half *float64 `json:"half_width"`
}

type sweepEffect struct {
	Axis     string              `json:"axis"`
	Value    string              `json:"value"`
	Groups   int                 `json:"combinations"`
	Measures map[string]*float64 `json:"measures"`
}

type sweepReason struct {
	Reason string `json:"reason"`
	Points int64  `json:"points"`
	First  int64  `json:"first_point"`
}

// JSON implements Document.
func (r *Sweep) JSON(w io.Writer) error {
	v := r.SweepView
	j := sweepJSON{Schema: sweepSchema, Confidence: v.Confidence, Axes: v.Axes, Latency: v.Models, Error: v.Error, Objectives: []string{}, Groups: []sweepGroup{}, Effects: []sweepEffect{}, Reasons: []sweepReason{},
		Points: sweepCounts{v.Counts[pointlog.OK], v.Counts[pointlog.Refused], v.Counts[pointlog.Failed]}}
	for _, o := range v.Objectives {
		j.Objectives = append(j.Objectives, o.Name)
	}
	for _, m := range v.Measures {
		j.Measures = append(j.Measures, measureHeader{m.Name, m.Help, unitOf(m.Kind), m.Better.String()})
	}
	for i := range v.Groups {
		g := &v.Groups[i]
		item := sweepGroup{map[string]json.RawMessage{}, g.OK, g.Failed, g.Front, g.Model, map[string]sweepEstimate{}}
		for _, c := range g.Coordinates {
			item.Axes[c.Axis] = c.Value
		}
		for m, e := range g.Estimates {
			item.Measures[v.Measures[m].Name] = sweepEstimate(e)
		}
		j.Groups = append(j.Groups, item)
	}
	for _, e := range v.Effects {
		for _, value := range e.Values {
			item := sweepEffect{e.Axis, value.Value, value.Groups, map[string]*float64{}}
			for m, mean := range value.Means {
				item.Measures[v.Measures[m].Name] = mean
			}
			j.Effects = append(j.Effects, item)
		}
	}
	for _, f := range v.Reasons {
		j.Reasons = append(j.Reasons, sweepReason{f.Reason, f.Points, f.First})
	}
	return WriteIndented(w, j)
}

// CSV writes a row for each combination: its values, then mean and half-width of each
// measure, latencies in ms.
func (r *Sweep) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	header := append([]string{}, r.Axes...)
	header = append(header, "ok", "failed", "pareto", "latency_model")
	for _, m := range r.Measures {
		header = append(header, m.Name, m.Name+"_half_width")
	}
	out.Write(header)
	for i := range r.Groups {
		g := &r.Groups[i]
		var row []string
		for _, c := range g.Coordinates {
			row = append(row, valueText(c.Value))
		}
		row = append(row, strconv.Itoa(g.OK), strconv.Itoa(g.Failed), strconv.FormatBool(g.Front), g.Model)
		for _, e := range g.Estimates {
			row = append(row, digits(e.Mean), digits(e.Half))
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}

// valueText is a value on an axis without the quotes of JSON.
func valueText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// sweepCell is mean and half-width as a text has them; shares are in percent.
func sweepCell(e study.SweepEstimate, kind metrics.MeasureKind) string {
	mean, half := inPercent(e.Mean, kind), inPercent(e.Half, kind)
	decimals := plaintext.SignificantDecimals(mean)
	text := plaintext.Decimal(mean, decimals)
	if half != nil {
		text += " ±" + plaintext.Decimal(half, decimals)
	}
	return text
}

func inPercent(x *float64, kind metrics.MeasureKind) *float64 {
	if x == nil || kind != metrics.Share {
		return x
	}
	share := 100 * *x
	return &share
}

func counted(n int, what string) string { return plaintext.Grouped(int64(n)) + " " + what }

func joined(parts ...string) string {
	var list []string
	for _, p := range parts {
		if p != "" {
			list = append(list, p)
		}
	}
	return strings.Join(list, ", ")
}
