package calibrate

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"blis/internal/testsize"
	"blis/vtime"
)

// order is who comes when, by time; requests of one time in order of arrival.
func order(times []vtime.Time) []int {
	list := make([]int, len(times))
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(times[a], times[b]) })
	return list
}

// peak is the most stretches of time, ends not included, that overlap.
func peak(from, to []vtime.Time) int {
	most := 0
	for _, at := range from { // it is reached where one begins
		n := 0
		for i := range from {
			if from[i] <= at && at < to[i] {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// Saturated engines say when they scheduled whom. A fit to the first half of
// their requests predicts the second: when it is answered, in which order it is
// let in, and how many run at once.
func TestEnginesHeldOut(t *testing.T) {
	testsize.Long(t)
	for folder := range engineRuns {
		t.Run(folder, func(t *testing.T) {
			s := engineRun(t, folder)
			cut := s.To / 2
			fit := mustFitRuns(t, []*Sample{s.slice(0, cut)}, DefaultFit())
			predicted := mustReplay(t, s, &fit.Coefficients)
			for _, x := range s.compare(predicted, cut, s.To, nil).Scores {
				if x.Statistic == "mean" {
					t.Logf("%s %.1f ms, predicted %.1f (%+.1f %%)", x.Metric, x.Measured, x.Predicted, 100*x.Error())
					if x.Metric == TTFT && math.Abs(x.Error()) > 0.1 {
						t.Errorf("mean TTFT %.1f ms, predicted %.1f", x.Measured, x.Predicted)
					}
				}
			}
			var began, ended [2][]vtime.Time
			for i := range predicted {
				q := &s.Run.Requests[i]
				began[0], began[1] = append(began[0], q.Scheduled), append(began[1], predicted[i].Scheduled)
				ended[0], ended[1] = append(ended[0], q.LastToken), append(ended[1], predicted[i].Finished)
			}
			same, places := 0, [2][]int{order(began[0]), order(began[1])}
			for k := range places[0] {
				if places[0][k] == places[1][k] {
					same++
				}
			}
			t.Logf("%d of %d in their places", same, s.To)
			if same*100 < 95*s.To {
				t.Errorf("%d of %d requests are scheduled in the place in which they were", same, s.To)
			}
			a, b := peak(began[0], ended[0]), peak(began[1], ended[1])
			t.Logf("at most %d at once, predicted %d", a, b)
			if a-b > 2 || b-a > 2 {
				t.Errorf("at most %d requests at once, predicted %d", a, b)
			}
		})
	}
}
