package stability

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"blis/suggest"
	"blis/vtime"
)

// Names of the detectors, as the public simulator has them.
const (
	Composite    = "composite"
	Threshold    = "threshold"
	BacklogDrift = "backlog-drift"
)

// Detectors are all names.
var Detectors = []string{Composite, Threshold, BacklogDrift}

// Input is which requests detectors hear of.
type Input string

// Inputs.
const (
	// Completed: arrivals and ends of requests that completed, all of them. That is what the public simulator does: who
	// was refused or lost is not seen, and the drain at the end is.
	Completed Input = "completed"
	// All: every arrival, and the end of each request, answered or not, until the last arrival.
	All Input = "all"
)

// Settings are those of the detectors.
type Settings struct {
	Names     []string // of Detectors
	Input     Input
	Threshold vtime.Duration // mean E2E from which threshold says OVERLOADED
	Window    vtime.Duration // of backlog-drift
	Final     vtime.Duration // time before the last event whose verdicts make the final one
}

// ParseNames reads names of detectors with commas between; all: each of them. The error says what would be right.
func ParseNames(text string) ([]string, error) {
	if text == "all" {
		return Detectors, nil
	}
	var list []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		switch {
		case !slices.Contains(Detectors, name):
			return nil, fmt.Errorf("there is no detector %q%s: want %s, with commas between, or all", name, suggest.Hint(name, Detectors), strings.Join(Detectors, ", "))
		case !slices.Contains(list, name):
			list = append(list, name)
		}
	}
	return list, nil
}

// Report is what a detector said over a run.
type Report struct {
	Name   string          `json:"-"`
	Final  Level           `json:"final"`  // the most frequent level of the final window, of equally frequent ones the worse
	Events int64           `json:"events"` // each has a verdict
	Levels [levels]int64   `json:"-"`      // verdicts by level
	Counts map[Level]int64 `json:"levels"` // the same, of those that there were
	Last   Said            `json:"last"`
}

// Said is one verdict of a detector.
type Said struct {
	At      vtime.Time         `json:"at_us"`
	Level   Level              `json:"level"`
	Score   float64            `json:"score"` // from 0 to 1
	Signals map[string]float64 `json:"signals"`
}

// detector says after each event how the system does.
type detector interface {
	// says returns the verdict after the event that t ends with.
	says(t *tally) (Level, float64)
	// signals are the figures behind the last verdict.
	signals() map[string]float64
}

// event is an arrival, or the end of a request.
type event struct {
	at   vtime.Time
	ends bool
	of   int32 // index of the request
	e2e  vtime.Duration
}

// tally is what has happened so far.
type tally struct {
	now                   vtime.Time
	arrivals, completions int64
	latency               []int64 // Σ of the first n latencies of ended requests, µs, by n
	noise                 float64 // 1/√arrivals: differences below may be chance
}

// mean is the mean of the latencies from the i-th to the k-th, in ms.
func (t *tally) mean(i, k int) float64 {
	return float64(t.latency[k]-t.latency[i]) / float64(k-i) / 1000
}

// latencies is the number of latencies so far.
func (t *tally) latencies() int { return len(t.latency) - 1 }

// Detect lets detectors look at requests, in the order of their arrivals: at their arrivals and ends in the order of
// time, at one instant arrivals first, then by number.
func Detect(list []Request, s *Settings) (reports []Report) {
	events := eventsOf(list, s.Input)
	for _, name := range s.Names {
		reports = append(reports, watch(name, newDetector(name, s), events, s.Final))
	}
	return reports
}

func newDetector(name string, s *Settings) detector {
	switch name {
	case Composite:
		return &composite{}
	case Threshold:
		return &threshold{limit: float64(s.Threshold) / 1000}
	}
	return &drift{window: s.Window}
}

// watch gives a detector the events.
func watch(name string, d detector, events []event, final vtime.Duration) Report {
	r := Report{Name: name, Events: int64(len(events)), Counts: map[Level]int64{}}
	if len(events) == 0 {
		r.Final = Undecided
		r.Last.Level = Undecided
		return r
	}
	t := tally{latency: []int64{0}}
	from := events[len(events)-1].at.Add(-final)
	var late [levels]int64
	for _, e := range events {
		t.take(&e)
		level, score := d.says(&t)
		r.Levels[level]++
		if e.at >= from {
			late[level]++
		}
		r.Last.At, r.Last.Level, r.Last.Score = e.at, level, score
	}
	r.Last.Signals = d.signals()
	for level, n := range r.Levels {
		if n > 0 {
			r.Counts[Level(level)] = n
		}
		if late[level] >= late[r.Final] {
			r.Final = Level(level)
		}
	}
	return r
}

func (t *tally) take(e *event) {
	t.now = e.at
	if e.ends {
		t.completions++
		if e.e2e >= 0 {
			t.latency = append(t.latency, t.latency[len(t.latency)-1]+int64(e.e2e))
		}
		return
	}
	t.arrivals++
	t.noise = 1 / math.Sqrt(float64(t.arrivals))
}

// eventsOf returns the events of an input in their order.
func eventsOf(list []Request, in Input) (events []event) {
	until := vtime.Never
	if in == All && len(list) > 0 {
		until = list[len(list)-1].Arrival
	}
	for i := range list {
		r := &list[i]
		end := r.End
		if in != All {
			if r.E2E < 0 {
				continue
			}
			end = r.Arrival.Add(r.E2E)
		}
		events = append(events, event{at: r.Arrival, of: int32(i)})
		if end <= until && end != vtime.Never {
			events = append(events, event{at: end, ends: true, of: int32(i), e2e: r.E2E})
		}
	}
	slices.SortFunc(events, func(a, b event) int {
		if c := cmp.Compare(a.at, b.at); c != 0 {
			return c
		}
		if a.ends != b.ends {
			if b.ends {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.of, b.of)
	})
	return events
}
