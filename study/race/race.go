package race

import (
	"errors"
	"fmt"
	"math"
)

// DefaultFirstStage is the number of replicates of the first stage, n₀.
const DefaultFirstStage = 10

// Options of a race.
type Options struct {
	Alpha  float64 // the most that the probability of a wrong selection may be; 0 < Alpha < 1/2
	Delta  float64 // the indifference zone, in the unit of the values: the smallest lead that matters; fixed before the race
	Higher bool    // whether a higher value is better; else a lower one

	FirstStage    int // replicates before the first elimination, at least 2; 0: DefaultFirstStage
	MaxReplicates int // the race ends undecided after as many; 0: no limit
}

func (o *Options) check(systems int) error {
	if o.FirstStage == 0 {
		o.FirstStage = DefaultFirstStage
	}
	switch {
	case systems < 1:
		return fmt.Errorf("a race of %d systems: want at least 1", systems)
	case !(o.Alpha > 0 && o.Alpha < 0.5):
		return fmt.Errorf("alpha is %v: want more than 0 and less than 0.5", o.Alpha)
	case !(o.Delta > 0 && o.Delta <= math.MaxFloat64):
		return fmt.Errorf("delta is %v: want a positive finite number", o.Delta)
	case o.FirstStage < 2:
		return fmt.Errorf("a first stage of %d replicates: want at least 2", o.FirstStage)
	case o.MaxReplicates != 0 && o.MaxReplicates < o.FirstStage:
		return fmt.Errorf("at most %d replicates: want at least the %d of the first stage", o.MaxReplicates, o.FirstStage)
	}
	return nil
}

// Race is a race that is going on. Its answers depend on what it was told alone.
type Race struct {
	options Options
	h2      float64  // h² of the paper
	systems []system // all, whether in or out
	in      []int    // of systems, rising
	rounds  int      // replicates that were observed
	runs    int      // sum over systems
	atMost  int      // rounds after which all are decided; 0 before the end of the first stage
	ended   bool
	decided bool // it ended by the rule
}

// system is what is known of a system.
type system struct {
	first  []float64 // values of the first stage, as if higher were better
	sum    float64   // of all values, as if higher were better
	runs   int       // values
	out    int       // replicates when it left, 0 while it is in
	by     int       // the system that eliminated it
	failed bool      // it left because it had no value
}

func (s *system) mean() float64 { return s.sum / float64(s.runs) }

// New begins a race of systems 0 to systems−1. One system alone has won.
func New(systems int, o Options) (*Race, error) {
	if err := o.check(systems); err != nil {
		return nil, err
	}
	r := &Race{options: o, h2: hSquared(systems, o), systems: make([]system, systems)}
	for i := range systems {
		r.in = append(r.in, i)
	}
	r.end()
	return r, nil
}

// Want says what to run next: these systems, rising, with the seeds of this
// replicate, from 0. No systems: the race has ended. The slice is valid until
// Observe.
func (r *Race) Want() (systems []int, replicate int) {
	if r.ended {
		return nil, r.rounds
	}
	return r.in, r.rounds
}

// Ahead is the number of replicates, from that of Want on, which the same systems
// will be asked for whatever comes of them, unless one fails: they may run at a
// time. 0: the race has ended.
func (r *Race) Ahead() int {
	if r.ended {
		return 0
	}
	return max(1, r.options.FirstStage-r.rounds)
}

// Outcome is what came of one run.
type Outcome struct {
	Value  float64 // finite
	Failed bool    // there is no value: the system leaves the race
}

// ErrEnded is the error of an observation after the end.
var ErrEnded = errors.New("the race has ended")

// Observe takes the outcomes of the systems of Want, in that order. An error
// leaves the race as it was.
func (r *Race) Observe(outcomes []Outcome) error {
	if r.ended {
		return ErrEnded
	}
	if len(outcomes) != len(r.in) {
		return fmt.Errorf("%d outcomes for %d systems", len(outcomes), len(r.in))
	}
	for i, o := range outcomes {
		if !o.Failed && (math.IsNaN(o.Value) || math.IsInf(o.Value, 0)) {
			return fmt.Errorf("system %d has the value %v in replicate %d: want a finite number, or Failed", r.in[i], o.Value, r.rounds)
		}
	}
	r.rounds++
	r.runs += len(outcomes)
	var in []int
	for i, o := range outcomes {
		s := &r.systems[r.in[i]]
		if o.Failed {
			s.out, s.failed = r.rounds, true
			continue
		}
		in = append(in, r.in[i])
		s.add(r.asHigher(o.Value), r.options.FirstStage)
	}
	r.in = in
	if r.rounds == r.options.FirstStage {
		r.atMost = r.bound()
	}
	if r.rounds >= r.options.FirstStage {
		r.screen()
	}
	r.end()
	return nil
}

func (s *system) add(value float64, firstStage int) {
	if s.runs < firstStage {
		s.first = append(s.first, value)
	}
	s.sum += value
	s.runs++
}

// asHigher turns a value so that higher is better, and back.
func (r *Race) asHigher(value float64) float64 {
	if r.options.Higher {
		return value
	}
	return -value
}

// end ends a race where one system is left, where all that are left are equal and
// will not be told apart, or where the limit is reached.
func (r *Race) end() {
	r.decided = len(r.in) == 1 || r.rounds >= r.options.FirstStage && len(r.in) > 1 && r.settled()
	r.ended = r.decided || len(r.in) == 0 || r.rounds == r.options.MaxReplicates && r.rounds > 0
}
