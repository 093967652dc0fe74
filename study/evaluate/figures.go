package evaluate

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"blis/actors"
	"blis/metrics"
	"blis/study"
)

// Figures are what policies did in a scenario, in the runs of all its seeds. Latencies and
// shares are of the requests of all runs together; numbers of whole runs, like goodput, are
// their mean over the runs.
type Figures struct {
	Scenario string           `json:"scenario"`
	Key      string           `json:"key"`      // of what they depend on besides the policies
	Requests int64            `json:"requests"` // that arrived, or would have in sessions that ended early
	Lost     int64            `json:"lost"`     // of them: not completed
	Values   map[string]exact `json:"values"`   // by measure: latencies in µs
	Classes  []ClassFigures   `json:"classes"`  // by name
	Seconds  []float64        `json:"seconds"`  // of each run: the time that its rates are over; 0: nothing completed
	Digest   string           `json:"digest"`   // of the runs
}

// ClassFigures are the figures of an SLO class.
type ClassFigures struct {
	Class      string `json:"class"`
	Requests   int64  `json:"requests"`
	Lost       int64  `json:"lost"`
	TTFT       exact  `json:"p99_ttft"`       // µs
	E2E        exact  `json:"p99_e2e"`        // µs
	Attainment exact  `json:"slo_attainment"` // NaN: the class has no targets
}

// exact is a number whose JSON gives the same bits again, infinite and not measured ones too.
type exact float64

// MarshalJSON implements json.Marshaler.
func (x exact) MarshalJSON() ([]byte, error) {
	switch f := float64(x); {
	case math.IsNaN(f):
		return []byte("null"), nil
	case math.IsInf(f, 0):
		return []byte(`"infinite"`), nil
	default:
		return json.Marshal(f)
	}
}

// UnmarshalJSON implements json.Unmarshaler.
func (x *exact) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "null":
		*x = exact(math.NaN())
		return nil
	case `"infinite"`:
		*x = exact(math.Inf(1))
		return nil
	}
	var f float64
	err := json.Unmarshal(text, &f)
	*x = exact(f)
	return err
}

// ofClasses are the measures of a class, in the order in which ClassFigures has them.
var ofClasses = [...]string{"p99_ttft", "p99_e2e", "slo_attainment"}

// tally collects the requests of a run, and then of all runs of a scenario.
type tally struct {
	measures       []Weighted
	samplers       []*study.Sampler // of the measures that have one, else nil
	sums           []float64        // of the others, over runs
	classes        []*classTally    // by name
	requests, lost int64
	seconds        []float64 // of runs
	digests        []string
}

type classTally struct {
	name           string
	requests, lost int64
	samplers       [len(ofClasses)]*study.Sampler
}

func newTally(measures []Weighted) *tally {
	t := &tally{measures: measures, samplers: make([]*study.Sampler, len(measures)), sums: make([]float64, len(measures))}
	for i := range measures {
		if s, ok := study.NewSampler(&measures[i].Measure); ok {
			t.samplers[i] = s
		}
	}
	return t
}

// class is the tally of a class.
func (t *tally) class(name string) *classTally {
	i, found := slices.BinarySearchFunc(t.classes, name, func(c *classTally, name string) int { return strings.Compare(c.name, name) })
	if !found {
		c := &classTally{name: strings.Clone(name)}
		for k, measure := range ofClasses {
			m, err := metrics.FindMeasure(measure)
			if err != nil {
				panic(err) // a list of ours
			}
			c.samplers[k], _ = study.NewSampler(&m)
		}
		t.classes = slices.Insert(t.classes, i, c)
	}
	return t.classes[i]
}

// add accounts for a request, in order of arrival.
func (t *tally) add(r *actors.Row) {
	c := t.class(r.ClassName())
	c.requests++
	t.requests++
	if r.State != metrics.Completed {
		c.lost++
		t.lost++
	}
	for i, s := range t.samplers {
		if s != nil && (t.measures[i].ofAll() || t.measures[i].counts(r.ClassName(), r.TenantName())) {
			s.Add(r)
		}
	}
	for _, s := range c.samplers {
		s.Add(r)
	}
}

// notSent accounts for requests that never came because one before was not answered.
func (t *tally) notSent(of actors.NotSent) {
	c := t.class(of.Class)
	c.requests, c.lost = c.requests+of.Requests, c.lost+of.Requests
	t.requests, t.lost = t.requests+of.Requests, t.lost+of.Requests
	for i, s := range t.samplers {
		if s != nil && t.measures[i].counts(of.Class, of.Tenant) {
			s.AddLost(of.Requests)
		}
	}
	for _, s := range c.samplers {
		s.AddLost(of.Requests)
	}
}

// end accounts for the result of a run. atLeast is the time of the baseline with the same seed, in
// seconds, or 0: rates of a run that lost requests are over no less. Rates go by the time until the
// last completion, which who refuses the longest request would shorten.
func (t *tally) end(r *actors.Result, atLeast float64) {
	t.digests = append(t.digests, r.Digest)
	for _, of := range r.NotSent() { // a refused request has these on its conscience
		t.notSent(of)
	}
	seconds, slower := 0.0, 1.0
	if s := r.Report.Window.Seconds; s != nil {
		seconds = *s
	}
	if t.lost > 0 && seconds < atLeast {
		slower = seconds / atLeast
	}
	t.seconds = append(t.seconds, seconds)
	figures := r.Figures()
	for i := range t.measures {
		if t.samplers[i] != nil {
			continue
		}
		t.sums[i] = math.NaN()
		if x := t.measures[i].Of(figures); x != nil {
			t.sums[i] = *x
			if t.measures[i].rate() {
				t.sums[i] *= slower
			}
		}
	}
}

// join adds the next run of the scenario.
func (t *tally) join(o *tally) {
	t.requests, t.lost = t.requests+o.requests, t.lost+o.lost
	t.digests, t.seconds = append(t.digests, o.digests...), append(t.seconds, o.seconds...)
	for i, s := range t.samplers {
		if s != nil {
			s.Join(o.samplers[i])
		} else {
			t.sums[i] += o.sums[i]
		}
	}
	for _, from := range o.classes {
		to := t.class(from.name)
		to.requests, to.lost = to.requests+from.requests, to.lost+from.lost
		for k := range to.samplers {
			to.samplers[k].Join(from.samplers[k])
		}
	}
}

// figures are those of a scenario, when all its runs have joined.
func (t *tally) figures(c *Scenario) Figures {
	f := Figures{Scenario: c.Name, Key: c.key(), Requests: t.requests, Lost: t.lost, Values: map[string]exact{}, Classes: []ClassFigures{}, Seconds: t.seconds}
	for i := range t.measures {
		x := t.sums[i] / float64(len(t.digests))
		if s := t.samplers[i]; s != nil {
			x = s.Value()
		}
		f.Values[t.measures[i].key()] = exact(x)
	}
	for _, k := range t.classes {
		v := func(i int) exact { return exact(k.samplers[i].Value()) }
		f.Classes = append(f.Classes, ClassFigures{k.name, k.requests, k.lost, v(0), v(1), v(2)})
	}
	f.Digest = hash(fmt.Appendf(nil, "%q", t.digests))[:16]
	return f
}
