package bench

import (
	"context"
	"slices"
	"time"
)

// growth measures scenarios that have a limit against those that it refers to, as far as
// both were chosen. They run anew, in pairs, of which either is first in turn: a busy
// moment hits both.
func (m *measurement) growth(ctx context.Context) ([]Growth, error) {
	list := []Growth{}
	for i := range m.scenarios {
		for j := range m.scenarios {
			s, base := &m.scenarios[i], &m.scenarios[j]
			if s.Against == "" || base.Name != s.Against {
				continue
			}
			pairs, err := m.pairs(ctx, s, base)
			if err != nil {
				return nil, err
			}
			list = append(list, growthOf(s, pairs))
		}
	}
	return list, nil
}

// enough is how much user CPU time the runs of one side of a pair take: systems count it in ticks
// of up to 10 ms.
const enough = 100 * time.Millisecond

// pairs returns the user CPU times of runs of s and of base, in seconds, on the first number
// of cores.
func (m *measurement) pairs(ctx context.Context, s, base *Scenario) ([][2]float64, error) {
	list := make([][2]float64, m.Runs)
	for run := range list {
		order := []int{0, 1}
		if run%2 == 1 {
			slices.Reverse(order)
		}
		for _, k := range order {
			flags, err := []*Scenario{s, base}[k].Arguments()
			if err != nil {
				return nil, err
			}
			if list[run][k], err = m.userTime(ctx, flags); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// userTime is the user CPU time of a run, in seconds: the mean of as many as take enough of it,
// at most 20.
func (m *measurement) userTime(ctx context.Context, flags []string) (float64, error) {
	var sum time.Duration
	for n := 1; ; n++ {
		one, err := runScenario(ctx, m.Binary, m.CPUs[0], flags)
		if err != nil {
			return 0, err
		}
		if sum += one.user; sum >= enough || n == 20 {
			return sum.Seconds() / float64(n), nil
		}
	}
}

// growthOf takes the median of the factors of pairs. A pair whose second time the system
// did not notice has none.
func growthOf(s *Scenario, pairs [][2]float64) Growth {
	factors := make([]float64, 0, len(pairs))
	for _, p := range pairs {
		if p[1] > 0 {
			factors = append(factors, p[0]/p[1])
		}
	}
	slices.Sort(factors)
	g := Growth{Name: s.Name, Against: s.Against, Factor: median(factors), AtMost: s.AtMost}
	g.Met = len(factors) > 0 && g.Factor <= g.AtMost
	return g
}
