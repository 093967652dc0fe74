package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"blis/calibrate"
	"blis/report/plaintext"
)

// rankingSchema names the form of the JSON result of blis ranking;
// docs/ranking.schema.json describes it.
const rankingSchema = "blis.ranking/v1"

// PolicyRanking is the result of blis ranking.
type PolicyRanking struct {
	Schema   string   `json:"schema"`
	Measure  string   `json:"measure"`
	Better   *string  `json:"better"` // higher or lower; nil: the measure is none of ours
	Policies int      `json:"policies"`
	Spearman float64  `json:"spearman"`
	Pairs    int      `json:"pairs"`
	Ordered  int      `json:"ordered"`
	MeanGap  float64  `json:"mean_absolute_gap"`
	Chosen   *chosen  `json:"chosen"` // nil without Better
	Rows     []gapRow `json:"by_policy"`

	Swapped       [][2]string `json:"swapped"`
	OnlyPredicted []string    `json:"only_predicted"`
	OnlyMeasured  []string    `json:"only_measured"`
}

// gapRow is a policy in both.
type gapRow struct {
	Name      string   `json:"name"`
	Predicted float64  `json:"predicted"`
	Measured  float64  `json:"measured"`
	Gap       float64  `json:"gap"`          // predicted − measured
	Relative  *float64 `json:"relative_gap"` // to measured; nil where that is 0
}

// chosen is what it costs to go by the prediction.
type chosen struct {
	Predicted string   `json:"predicted_best"`
	Measured  string   `json:"measured_best"`
	Loss      *float64 `json:"loss"` // of the first against the second, as measured, as a share of the second; nil where that is 0
}

// NewPolicyRanking returns the result for a measure of which higher or lower is better, or
// it is not known.
func NewPolicyRanking(r *calibrate.PolicyRanking, measure, better string) *PolicyRanking {
	j := &PolicyRanking{
		Schema: rankingSchema, Measure: measure, Policies: len(r.Gaps), Spearman: r.Spearman, Pairs: r.Pairs, Ordered: r.Ordered, MeanGap: r.MeanGap,
		Rows: []gapRow{}, Swapped: append([][2]string{}, r.Swapped...), OnlyPredicted: append([]string{}, r.OnlyPredicted...), OnlyMeasured: append([]string{}, r.OnlyMeasured...),
	}
	for i := range r.Gaps {
		g := &r.Gaps[i]
		j.Rows = append(j.Rows, gapRow{g.Name, g.Predicted, g.Measured, g.Absolute(), g.Relative()})
	}
	if better == "" {
		return j
	}
	j.Better = &better
	p, m := j.best(func(r *gapRow) float64 { return r.Predicted }), j.best(func(r *gapRow) float64 { return r.Measured })
	j.Chosen = &chosen{Predicted: p.Name, Measured: m.Name}
	if m.Measured != 0 {
		loss := math.Abs(p.Measured-m.Measured) / math.Abs(m.Measured)
		j.Chosen.Loss = &loss
	}
	return j
}

// best returns the first row with the best value.
func (j *PolicyRanking) best(value func(*gapRow) float64) *gapRow {
	best := &j.Rows[0]
	for i := range j.Rows {
		if x, y := value(&j.Rows[i]), value(best); *j.Better == "higher" && x > y || *j.Better == "lower" && x < y {
			best = &j.Rows[i]
		}
	}
	return best
}

// JSON implements Document.
func (j *PolicyRanking) JSON(w io.Writer) error { return WriteIndented(w, j) }

// Text implements Document.
func (j *PolicyRanking) Text(w io.Writer, s plaintext.Style) error {
	table := "POLICY\tSIMULATED\tMEASURED\tGAP\n"
	for _, r := range j.Rows {
		relative := ""
		if r.Relative != nil {
			relative = fmt.Sprintf(" (%+.1f %%)", 100**r.Relative)
		}
		table += fmt.Sprintf("%s\t%.4g\t%.4g\t%+.4g%s\n", r.Name, r.Predicted, r.Measured, r.Gap, relative)
	}
	var text strings.Builder
	p := plaintext.NewWriter(&text, s)
	p.Line("measure", j.Measure)
	p.Line("order", fmt.Sprintf("Spearman %.2f over %d policies; %d of %d pairs in the measured order", j.Spearman, j.Policies, j.Ordered, j.Pairs))
	p.Line("gap", fmt.Sprintf("%.4g on average, simulated − measured in absolute value", j.MeanGap))
	if c := j.Chosen; c != nil {
		choice := fmt.Sprintf("%s is best as simulated and as measured", c.Predicted)
		if c.Predicted != c.Measured {
			choice = fmt.Sprintf("%s is best as simulated, %s as measured", c.Predicted, c.Measured)
			if c.Loss != nil {
				choice += fmt.Sprintf(": %.1f %% worse", 100**c.Loss)
			}
		}
		p.Line("choice", choice)
	}
	for _, pair := range j.Swapped {
		p.Line("swapped", fmt.Sprintf("%s is lower than %s as measured, not as simulated", pair[0], pair[1]))
	}
	for _, name := range j.OnlyPredicted {
		p.Line("left out", name+" was not measured")
	}
	for _, name := range j.OnlyMeasured {
		p.Line("left out", name+" was not simulated")
	}
	p.Gap()
	if _, err := io.WriteString(w, text.String()); err != nil {
		return err
	}
	_, err := io.WriteString(w, plaintext.Columns(table, s.Width))
	return err
}
