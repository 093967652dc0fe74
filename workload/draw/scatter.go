package draw

import (
	"fmt"

	"blis/vtime"
	"blis/workload"
)

// Stage is a span of time [Start, End) with exactly Count arrivals. Each comes at
// any time of it with equal chance: what a Poisson process is of which the number
// of arrivals is known.
type Stage struct {
	Start, End vtime.Time
	Count      int64 // 0: none
}

// Scatter yields the arrivals of stages in order. It holds none of them: the
// earliest of n that are left in a span is drawn by itself, and the others lie
// between it and the end in the same way.
type Scatter struct {
	stages []Stage
	stage  int     // index of the one that it is in
	left   int64   // of its arrivals
	past   float64 // µs since its start
	draws  Variates
}

// NewScatter expects checked stages.
func NewScatter(stages []Stage, stream *vtime.Stream) Scatter {
	return Scatter{stages: stages, stage: -1, draws: NewVariates(stream)}
}

// CheckStages adds to bad what is wrong with stages: the first bad one. Its field
// is named stages, with its index, behind prefix.
func CheckStages(bad *workload.Faults, prefix string, stages []Stage) {
	free := vtime.Time(0)
	for i, s := range stages {
		field := func(name string) string { return fmt.Sprintf("%sstages[%d].%s", prefix, i, name) }
		switch {
		case s.Start < free:
			bad.Add(field("start"), s.Start, "want at least %v, the end of the stage before", free)
		case s.End <= s.Start || s.End > end:
			bad.Add(field("end"), s.End, "want after its start %v, at most 2⁶² µs", s.Start)
		case s.Count < 0:
			bad.Add(field("count"), s.Count, "want 0 or more arrivals")
		default:
			free = s.End
			continue
		}
		return
	}
}

// Next returns the next arrival. It reports false when all have come.
func (s *Scatter) Next() (at vtime.Time, more bool) {
	for s.left == 0 {
		if s.stage++; s.stage >= len(s.stages) {
			return 0, false
		}
		s.left, s.past = s.stages[s.stage].Count, 0
	}
	g := &s.stages[s.stage]
	// Of n uniform ones in (0, 1) the least is 1 − u^(1/n).
	length := float64(g.End.Sub(g.Start))
	s.past += float64((length - s.past) * (1 - Exp(-s.draws.Exponential()/float64(s.left))))
	s.left--
	return min(g.Start+vtime.Time(s.past), g.End-1), true
}

// Fold returns a hash of the state of the draws.
func (s *Scatter) Fold() uint64 { return s.draws.Fold() }
