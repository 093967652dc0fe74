package evaluate

import (
	"math"

	"blis/metrics"
)

// floor and ceiling bound what one measure scores, so that a score is never that of a
// failure, and never perfect.
const (
	floor   = 1e-6
	ceiling = 1 - 1e-6
)

// minScenario is the objective that is the minimum score of a scenario.
const minScenario = "min_scenario"

// score is how much better than the baseline a value is: t/(t + x) where less is better, x/(x + t)
// else. The baseline itself scores exactly ½. What is infinite or was not measured scores the
// least there is.
func (w *Weighted) score(x, baseline float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return floor
	}
	t := max(baseline, w.resolution())
	x = max(x, w.resolution()) // below it nothing is told apart, and a baseline of 0 scores ½ too
	u := t / (t + x)
	if w.Better == metrics.Higher {
		u = x / (x + t)
	}
	return min(max(u, floor), ceiling)
}

// mean is a weighted mean: sums from left to right, so that the bits are the same everywhere.
type mean struct{ sum, weights float64 }

func (m *mean) add(x, weight float64) {
	m.sum += float64(x * weight)
	m.weights += weight
}

// value is the mean. Rounding does not make it leave the range of what was added.
func (m *mean) value() float64 {
	if m.weights == 0 {
		return 0
	}
	return m.sum / m.weights
}

// scored is the scores of a candidate in a scenario.
type scored struct {
	score      float64
	objectives map[string]float64 // by measure
}

// scores compares the figures of a candidate with those of the baseline.
func (c *Scenario) scores(of, baseline *Figures) scored {
	s := scored{objectives: map[string]float64{}}
	var all mean
	for i := range c.Measures {
		w := &c.Measures[i]
		if w.Weight == 0 {
			continue
		}
		u := w.score(float64(of.Values[w.key()]), float64(baseline.Values[w.key()]))
		s.objectives[w.key()] = u
		all.add(u, w.Weight)
	}
	s.score = all.value()
	return s
}
