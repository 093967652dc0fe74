package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"blis/metrics"
	"blis/report/plaintext"
	"blis/study"
)

// Race is the end of a race, as a result.
type Race struct {
	*study.SweepRace
	Confidence float64
	Dir        string
}

// raceJSON is the JSON result of blis sweep race.
type raceJSON struct {
	Schema     string        `json:"schema"`
	Measure    measureHeader `json:"measure"`
	Delta      float64       `json:"delta"`
	Confidence float64       `json:"confidence"`
	Decided    bool          `json:"decided"`
	Selected   *int          `json:"selected"` // index in systems; null: none
	Replicates int           `json:"replicates"`
	Runs       int           `json:"runs"`
	Saved      int           `json:"runs_saved"`
	Systems    []raceSystem  `json:"systems"`
}

type raceSystem struct {
	Axes   map[string]json.RawMessage `json:"axes"`
	Mean   *float64                   `json:"mean"`
	Runs   int                        `json:"runs"`
	In     bool                       `json:"in"`
	OutAt  int                        `json:"out_at"` // replicates when it left; 0: it is in
	By     *int                       `json:"eliminated_by"`
	Reason string                     `json:"reason,omitempty"` // of a run without a value
}

// JSON implements Document.
func (r *Race) JSON(w io.Writer) error {
	result, m := r.Race.Result(), &r.Measure
	j := raceJSON{Schema: "blis.race/v1", Measure: measureHeader{m.Name, m.Help, unitOf(m.Kind), m.Better.String()}, Delta: r.Options.Delta, Confidence: r.Confidence,
		Decided: result.Decided, Replicates: result.Replicates, Runs: result.Runs, Saved: result.Saved}
	if result.Selected >= 0 {
		j.Selected = &result.Selected
	}
	for s, standing := range result.Systems {
		item := raceSystem{Axes: map[string]json.RawMessage{}, Runs: standing.Runs, In: slices.Contains(result.In, s), OutAt: standing.Out, Reason: r.Failure(s)}
		if standing.Runs > 0 {
			item.Mean = &standing.Mean
		}
		if standing.By >= 0 && standing.Out > 0 {
			item.By = &standing.By
		}
		for _, c := range r.Coordinates(s) {
			item.Axes[c.Axis] = c.Value
		}
		j.Systems = append(j.Systems, item)
	}
	return WriteIndented(w, j)
}

// Text implements Document.
func (r *Race) Text(w io.Writer, s plaintext.Style) error {
	var b strings.Builder
	result := r.Race.Result()
	delta := withUnit(r.Options.Delta, &r.Measure)
	switch {
	case result.Selected < 0:
		fmt.Fprintf(&b, "no point of %s has a value of %s\n", r.Dir, r.Measure.Name)
	case !result.Decided:
		fmt.Fprintf(&b, "undecided after %d replicates: %d of %d points may be the best by %s; %s is ahead\n", result.Replicates, len(result.In), r.Systems(), r.Measure.Name, r.label(result.Selected))
	default:
		fmt.Fprintf(&b, "best by %s: %s\n", r.Measure.Name, r.label(result.Selected))
	}
	fmt.Fprintf(&b, "%s, %d of %d points still in at the end; %s saved by those that left early.\n", plaintext.Plural(int64(result.Runs), "run"), len(result.In), r.Systems(), plaintext.Plural(int64(result.Saved), "run"))
	if result.Decided {
		fmt.Fprintf(&b, "Of many such races at least %.4g %% select the best point if it leads all others by %s. A point within %s of it may be selected instead. Means over seeds must be nearly normal.\n", 100*r.Confidence, delta, delta)
	}
	b.WriteString("\n")
	for _, c := range r.Coordinates(0) {
		b.WriteString(c.Axis + "\t")
	}
	b.WriteString(rowLabel(&r.Measure) + "\truns\tleft\n")
	for _, system := range r.ranked() {
		standing := result.Systems[system]
		for _, c := range r.Coordinates(system) {
			b.WriteString(valueText(c.Value) + "\t")
		}
		var mean *float64
		if standing.Runs > 0 {
			mean = &standing.Mean
		}
		left := ""
		switch {
		case system == result.Selected:
			left = "selected"
		case r.Failure(system) != "":
			left = "failed: " + r.Failure(system)
		case standing.Out > 0:
			left = fmt.Sprintf("after %d", standing.Out)
		}
		fmt.Fprintf(&b, "%s\t%d\t%s\n", sweepCell(study.SweepEstimate{Mean: mean}, r.Measure.Kind), standing.Runs, left)
	}
	_, err := io.WriteString(w, plaintext.Columns(b.String(), max(s.Width, 80)))
	return err
}

// ranked are the systems, those that stayed longest first, then the better ones.
func (r *Race) ranked() []int {
	result := r.Race.Result()
	var list []int
	for s := range result.Systems {
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b int) int {
		x, y := &result.Systems[a], &result.Systems[b]
		switch {
		case a == result.Selected:
			return -1
		case b == result.Selected:
			return 1
		case x.Runs != y.Runs:
			return y.Runs - x.Runs
		case (x.Mean < y.Mean) == (r.Measure.Better == metrics.Lower) && x.Mean != y.Mean:
			return -1
		case x.Mean != y.Mean:
			return 1
		}
		return 0
	})
	return list
}

func (r *Race) label(system int) string {
	var parts []string
	for _, c := range r.Coordinates(system) {
		parts = append(parts, c.Axis+"="+valueText(c.Value))
	}
	return strings.Join(parts, ", ")
}

// withUnit is a number in the unit of a measure.
func withUnit(x float64, m *study.Measure) string {
	shown := inPercent(&x, m.Kind)
	text := plaintext.Decimal(shown, plaintext.SignificantDecimals(shown))
	if unit := shownUnit(m.Kind); unit != "" {
		text += " " + unit
	}
	return text
}
