package calibrate

import (
	"math"
	"slices"
)

// Judged is a policy with a value of one measure.
type Judged struct {
	Name  string
	ID    string // bundle.ID; empty: not known
	Value float64
}

// Gap is the difference of a prediction to the measurement of the same policy.
type Gap struct {
	Name                string
	Predicted, Measured float64
}

// Absolute returns prediction − measurement.
func (g *Gap) Absolute() float64 { return g.Predicted - g.Measured }

// Relative returns the difference as a share of the measurement; nil where that is 0.
func (g *Gap) Relative() *float64 {
	if g.Measured == 0 {
		return nil
	}
	x := g.Absolute() / math.Abs(g.Measured)
	return &x
}

// PolicyRanking compares policies by simulation with the same ones measured.
type PolicyRanking struct {
	Order
	Gaps    []Gap       // of the policies in both, in the order of the prediction
	Swapped [][2]string // pairs whose order is not that of their measurements: the name measured lower stands first

	MeanGap float64 // mean of the absolute values of Gap.Absolute

	// Policies in one of both alone, by name.
	OnlyPredicted, OnlyMeasured []string
}

// RankPolicies compares two lists of policies. A policy is the same in both that has the
// same ID, or the same name where one of them has no ID. Names in a list differ, and so do
// IDs.
func RankPolicies(predicted, measured []Judged) *PolicyRanking {
	r := &PolicyRanking{}
	found := make([]bool, len(measured))
	var p, m []float64
	for i := range predicted {
		at := slices.IndexFunc(measured, func(o Judged) bool { return same(&predicted[i], &o) })
		if at < 0 {
			r.OnlyPredicted = append(r.OnlyPredicted, predicted[i].Name)
			continue
		}
		found[at] = true
		r.Gaps = append(r.Gaps, Gap{predicted[i].Name, predicted[i].Value, measured[at].Value})
		p, m = append(p, predicted[i].Value), append(m, measured[at].Value)
	}
	for i := range measured {
		if !found[i] {
			r.OnlyMeasured = append(r.OnlyMeasured, measured[i].Name)
		}
	}
	if len(r.Gaps) == 0 {
		return r
	}
	r.Order = OrderOf(m, p)
	for i := range r.Gaps {
		r.MeanGap += math.Abs(r.Gaps[i].Absolute())
		for j := range i {
			r.swap(&r.Gaps[j], &r.Gaps[i])
		}
	}
	r.MeanGap /= float64(len(r.Gaps))
	return r
}

// swap notes a pair that is predicted in another order than measured, or as equal.
func (r *PolicyRanking) swap(a, b *Gap) {
	if a.Measured > b.Measured {
		a, b = b, a
	}
	if a.Measured < b.Measured && !(a.Predicted < b.Predicted) {
		r.Swapped = append(r.Swapped, [2]string{a.Name, b.Name})
	}
}

func same(a, b *Judged) bool {
	if a.ID != "" && b.ID != "" {
		return a.ID == b.ID
	}
	return a.Name == b.Name || a.ID != "" && a.ID == b.Name || b.ID != "" && b.ID == a.Name
}
