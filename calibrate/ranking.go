package calibrate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Ranking compares the order of servers and rates by predictions with the order by
// measurements. Choosing between servers needs the order only.
type Ranking struct {
	Metric Metric `json:"metric"`
	Cells  int    `json:"cells"` // stages of runs, or runs without stages
	Order
}

// Order says how far predictions have things in the order of their measurements.
type Order struct {
	Spearman float64 `json:"spearman"` // correlation of ranks, [-1, 1]; 0 where all are equal on one side
	Pairs    int     `json:"pairs"`    // of things whose measurements differ
	Ordered  int     `json:"ordered"`  // of Pairs: predicted in the measured order
}

// rankings compares the means of all stages, metric by metric. A metric with fewer
// than two stages has no ranking.
func rankings(runs []RunResult) []Ranking {
	var list []Ranking
	for _, m := range Metrics {
		var measured, predicted []float64
		for i := range runs {
			r := &runs[i]
			if r.Missing != "" || r.Overloaded {
				continue
			}
			cells := r.Stages
			if len(cells) == 0 {
				cells = []Comparison{r.All}
			}
			for j := range cells {
				if s := cells[j].score(m, "mean"); s != nil {
					measured, predicted = append(measured, s.Measured), append(predicted, s.Predicted)
				}
			}
		}
		if len(measured) > 1 {
			list = append(list, Ranking{m, len(measured), OrderOf(measured, predicted)})
		}
	}
	return list
}

// OrderOf compares the order of predictions with the order of measurements of the same
// things. Both lists are equally long and hold numbers; infinite ones are larger, or
// smaller, than all others.
func OrderOf(measured, predicted []float64) Order {
	r := Order{}
	if r.Spearman = stat.Correlation(ranks(measured), ranks(predicted), nil); math.IsNaN(r.Spearman) { // all equal on one side
		r.Spearman = 0
	}
	for i := range measured {
		for j := range i {
			if measured[i] == measured[j] {
				continue
			}
			r.Pairs++
			if (measured[i] < measured[j]) == (predicted[i] < predicted[j]) && predicted[i] != predicted[j] {
				r.Ordered++
			}
		}
	}
	return r
}

// ranks returns the rank of each value from 0; equal values share the mean of
// their ranks. Spearman of montanaflynn/stats gives other last bits than
// stat.Correlation of these ranks.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case values[a] < values[b]:
			return -1
		case values[a] > values[b]:
			return 1
		}
		return a - b
	})
	list := make([]float64, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			list[i] = float64(from+to-1) / 2
		}
		from = to
	}
	return list
}
