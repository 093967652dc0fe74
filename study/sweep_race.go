package study

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"blis/metrics"
	"blis/setup"
	"blis/study/pointlog"
	"blis/study/race"
)

// SweepRace finds the best combination of a sweep by more and more replicates of those
// that may be it; see package race for the method and its promise.
type SweepRace struct {
	Plan    *SweepPlan // of so many replicates as the race may take, after those of the sweep
	Measure Measure
	Options race.Options
	Race    *race.Race

	first    int   // replicate of the plan with which the race begins: seeds of the sweep are not used again
	systems  []int // combinations that would run, by place in the plan
	failures map[int]string
}

// RaceOptions are the wishes of a user.
type RaceOptions struct {
	Measure       Measure
	Delta         float64 // in the unit of rows: a latency in ms
	Alpha         float64
	MaxReplicates int
}

// NewSweepRace prepares a race over the combinations of a sweep. Its errors are those of
// NewSweepPlan.
func NewSweepRace(ctx context.Context, s Sweep, o RaceOptions) (*SweepRace, error) {
	r := &SweepRace{Measure: o.Measure, first: s.Replicates, failures: map[int]string{}}
	s.Replicates += o.MaxReplicates
	if s.Replicates > mostReplicates {
		return nil, &setup.InputError{Text: fmt.Sprintf("--max-replicates is %d: want at most %d", o.MaxReplicates, mostReplicates-r.first)}
	}
	s.Limits.Points = mostCombinations
	var err error
	if r.Plan, err = NewSweepPlan(ctx, s, Pool{}); err != nil {
		return nil, err
	}
	for k := range int(r.Plan.Len()) / s.Replicates {
		if r.Plan.Refusal(int64(k*s.Replicates)) == nil {
			r.systems = append(r.systems, k)
		}
	}
	r.Options = race.Options{Alpha: o.Alpha, Delta: o.Delta, Higher: o.Measure.Better == metrics.Higher, MaxReplicates: o.MaxReplicates}
	if r.Race, err = race.New(len(r.systems), r.Options); err != nil {
		return nil, &setup.InputError{Text: err.Error()}
	}
	return r, nil
}

// Systems is the number of combinations that race.
func (r *SweepRace) Systems() int { return len(r.systems) }

// Coordinates are the values of a system.
func (r *SweepRace) Coordinates(system int) []pointlog.Coordinate {
	return r.Plan.Coordinates(r.point(system, 0))
}

// Failure is why a system has no value, empty if it has.
func (r *SweepRace) Failure(system int) string { return r.failures[system] }

// point is the point of a system's replicate, from 0.
func (r *SweepRace) point(system, replicate int) int64 {
	return int64(r.systems[system]*r.Plan.Sweep.Replicates + r.first + replicate)
}

// Run carries the race out. known returns the row of a run that was made before; emit
// keeps those that are made. Runs that the race will ask for whatever comes of others
// are made side by side.
func (r *SweepRace) Run(ctx context.Context, pool Pool, known func(pointlog.Key) (pointlog.Row, bool, error), emit func(*pointlog.Row) error) error {
	for {
		systems, replicate := r.Race.Want()
		if len(systems) == 0 {
			return nil
		}
		systems = slices.Clone(systems)
		ahead := max(1, r.Race.Ahead())
		rows, err := r.runStage(ctx, pool, systems, replicate, ahead, known, emit)
		if err != nil {
			return err
		}
		for k := range ahead {
			if now, _ := r.Race.Want(); !slices.Equal(now, systems) {
				break // one failed, and left
			}
			if err := r.Race.Observe(r.outcomes(systems, rows[k])); err != nil {
				return err
			}
		}
	}
}

// runStage makes the runs of some replicates: by replicate, then by system.
func (r *SweepRace) runStage(ctx context.Context, pool Pool, systems []int, replicate, ahead int, known func(pointlog.Key) (pointlog.Row, bool, error), emit func(*pointlog.Row) error) ([][]pointlog.Row, error) {
	rows := make([][]pointlog.Row, ahead)
	for k := range rows {
		rows[k] = make([]pointlog.Row, len(systems))
	}
	var one sync.Mutex
	_, err := pool.Each(ctx, ahead*len(systems), func(ctx context.Context, n int) error {
		k, s := n/len(systems), n%len(systems)
		i := r.point(systems[s], replicate+k)
		one.Lock()
		row, found, err := known(r.Plan.Key(i))
		one.Unlock()
		if err != nil {
			return err
		}
		if !found {
			made := r.Plan.RunPoint(ctx, i, 1)
			if made == nil {
				return ctx.Err()
			}
			one.Lock()
			err = emit(made)
			one.Unlock()
			row = *made
		}
		rows[k][s] = row
		return err
	})
	return rows, err
}

func (r *SweepRace) outcomes(systems []int, rows []pointlog.Row) []race.Outcome {
	var list []race.Outcome
	for s := range rows {
		value := rows[s].Value(r.Measure.Name)
		if value == nil {
			if r.failures[systems[s]] = rows[s].Error; rows[s].Status == pointlog.OK {
				r.failures[systems[s]] = rows[s].Reasons[r.Measure.Name]
			}
			list = append(list, race.Outcome{Failed: true})
			continue
		}
		list = append(list, race.Outcome{Value: *value})
	}
	return list
}

// PilotMedian is the median over the combinations of a view of the mean of a measure: what
// a share of δ is of. nil: no combination has the measure.
func (v *SweepView) PilotMedian(measure string) *float64 {
	var means []float64
	for m := range v.Measures {
		for i := range v.Groups {
			if v.Measures[m].Name == measure && v.Groups[i].Estimates[m].Mean != nil {
				means = append(means, *v.Groups[i].Estimates[m].Mean)
			}
		}
	}
	if means == nil {
		return nil
	}
	slices.Sort(means)
	median := (means[(len(means)-1)/2] + means[len(means)/2]) / 2
	return &median
}
