package policy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/vtime"
	"blis/workload"
)

// plainClass is ClassService from all that ever ended.
func plainClass(all []Ending) (c ClassService) {
	last := all[max(0, len(all)-RecentCompletions):]
	c.Ended = len(last)
	var ttft, tpot, e2e []float64
	for _, x := range last {
		if x.Judged {
			c.Judged++
		}
		if x.Attained {
			c.Attained++
		}
		for list, d := range map[*[]float64]vtime.Duration{&ttft: x.TTFT, &tpot: x.TPOT, &e2e: x.E2E} {
			if d >= 0 {
				*list = append(*list, float64(d))
			}
		}
	}
	p99 := func(list []float64) (float64, int) {
		if len(list) == 0 {
			return 0, 0
		}
		slices.Sort(list)
		rank := 0.99 * float64(len(list)-1)
		low := list[int(rank)]
		return low + (list[min(int(rank)+1, len(list)-1)]-low)*(rank-math.Floor(rank)), len(list)
	}
	c.TTFT, c.TTFTs = p99(ttft)
	c.TPOT, c.TPOTs = p99(tpot)
	c.E2E, c.E2Es = p99(e2e)
	return c
}

// TestClassServiceEqualsItsTwin: the last hundred of each class, whatever other
// classes do.
func TestClassServiceEqualsItsTwin(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 91))
		s := &RouterState{Declared: ClassLatency}
		all := make([][]Ending, 4)
		latency := func() vtime.Duration { return vtime.Duration(rng.IntN(5)-1) * vtime.Duration(rng.IntN(100_000)) }
		for range rng.IntN(600) {
			class := rng.IntN(rng.IntN(4) + 1)
			x := Ending{TTFT: max(-1, latency()), TPOT: max(-1, latency()), E2E: max(-1, latency()), Judged: class > 0 && rng.IntN(2) == 0}
			x.Attained = x.Judged && rng.IntN(3) > 0
			all[class] = append(all[class], x)
			s.EndOf(workload.Label(class), x)
		}
		for class := range all {
			got, want := s.Class(workload.Label(class)), plainClass(all[class])
			for _, p := range [][2]*float64{{&got.TTFT, &want.TTFT}, {&got.TPOT, &want.TPOT}, {&got.E2E, &want.E2E}} {
				if math.Abs(*p[0]-*p[1]) > 1e-6 {
					t.Errorf("seed %d, class %d: p99 %v, want %v", seed, class, *p[0], *p[1])
				}
				*p[0] = *p[1]
			}
			if got != want {
				t.Errorf("seed %d, class %d: %+v, want %+v", seed, class, got, want)
			}
		}
	}
}

func TestNobodyOfAClass(t *testing.T) {
	s := &RouterState{Declared: ClassLatency}
	c := s.Class(7)
	if _, known := c.Attainment(); known || c != (ClassService{}) || s.Classes() != 0 {
		t.Errorf("%+v of %d classes", c, s.Classes())
	}
	s.EndOf(2, Ending{TTFT: 5, TPOT: -1, E2E: 9, Judged: true})
	c = s.Class(2)
	if share, known := c.Attainment(); !known || share != 0 || c.TTFT != 5 || c.TPOTs != 0 || s.Classes() != 3 || s.Class(1) != (ClassService{}) {
		t.Errorf("%+v of %d classes", c, s.Classes())
	}
}
