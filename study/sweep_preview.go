package study

import (
	"context"
	"runtime"
	"slices"
	"time"

	"blis/study/pointlog"
)

// SweepPreview is what a sweep would run.
type SweepPreview struct {
	Plan        *SweepPlan
	Distinct    int64 // points that run; others have the key of one of them, or are refused
	Refusals    []Refusals
	First, Last []int64       // points to show
	Estimate    time.Duration // of the whole on that many workers; 0: not known
	Sampled     int64         // the point that was run to estimate it
	Workers     int
}

// Refusals are points that a run would refuse for the same reason.
type Refusals struct {
	Reason string
	Points int64
	First  int64
}

// previewPoints are how many points of each end are shown.
const previewPoints = 3

// previewPatience bounds the run by which the time of a sweep is estimated.
const previewPatience = 5 * time.Second

// Preview says what a sweep would run. It runs the point with the least work, to
// estimate how long the others take.
func Preview(ctx context.Context, p *SweepPlan, workers int) (*SweepPreview, error) {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	v := &SweepPreview{Plan: p, Sampled: -1, Workers: workers}
	seen := map[pointlog.Key]bool{}
	places := map[string]int{}
	work := int64(0)
	for i := range p.Len() {
		if why := p.Refusal(i); why != nil {
			at, known := places[why.Error()]
			if !known {
				at = len(v.Refusals)
				places[why.Error()], v.Refusals = at, append(v.Refusals, Refusals{Reason: oneLine(why.Error()), First: i})
			}
			v.Refusals[at].Points++
			continue
		}
		if seen[p.Key(i)] {
			continue
		}
		seen[p.Key(i)] = true
		v.Distinct++
		work += p.points[i].work
	}
	slices.SortStableFunc(v.Refusals, func(a, b Refusals) int { return int(b.Points - a.Points) })
	for i := range p.Len() {
		if i < previewPoints {
			v.First = append(v.First, i)
		} else if i >= p.Len()-previewPoints {
			v.Last = append(v.Last, i)
		}
	}
	return v, v.estimate(ctx, work)
}

// estimate runs the point with the least work.
func (v *SweepPreview) estimate(ctx context.Context, work int64) error {
	order := v.Plan.Order()
	for k := len(order) - 1; k >= 0; k-- {
		i := int64(order[k])
		if v.Plan.Refusal(i) != nil {
			continue
		}
		within, stop := context.WithTimeout(ctx, previewPatience)
		defer stop()
		began := time.Now()
		row := v.Plan.RunPoint(within, i, 1)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if row != nil && row.Status == pointlog.OK && v.Plan.points[i].work > 0 {
			v.Sampled = i
			v.Estimate = time.Duration(float64(time.Since(began)) * float64(work) / float64(v.Plan.points[i].work) / float64(min(int64(v.Workers), v.Distinct)))
		}
		return nil
	}
	return nil
}
