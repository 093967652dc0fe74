package evaluate

import (
	"fmt"
	"math"
)

// AnswerSchema is the schema of an Answer in JSON.
const AnswerSchema = "blis.eval/v1"

// Answer is what a candidate is worth. It is the same, to the byte of its JSON, whenever the same
// candidate is evaluated in the same scenarios, except for faults that are not repeatable.
type Answer struct {
	Schema string  `json:"schema"`
	OK     bool    `json:"ok"`
	Score  float64 `json:"score"` // above 0 and below 1, the baseline has 0.5; 0: the candidate failed
	Result

	HeldOut  *HeldOut `json:"held_out,omitempty"` // nil: not asked for
	Feedback string   `json:"feedback"`           // for a language model, at most 2 KiB
	Notes    []string `json:"notes"`              // how far the numbers hold
	Warnings []string `json:"warnings"`           // about the suite
	Outputs  Outputs  `json:"outputs"`
	Error    *Fault   `json:"error"` // nil with OK
}

// Result is the numbers of several scenarios.
type Result struct {
	// Metrics are raw values with their unit in their names: the mean over scenarios by their
	// weights. Null: not finite in one of them; Unmeasured then says why.
	Metrics    map[string]*float64 `json:"metrics"`
	Unmeasured map[string]string   `json:"unmeasured"`

	// Objectives are scores from 0 to 1, the baseline has 0.5: of each measure its mean over
	// scenarios, and min_scenario.
	Objectives  map[string]float64 `json:"objectives"`
	PerScenario []ScenarioResult   `json:"per_scenario"`
}

// ScenarioResult is the numbers of one scenario.
type ScenarioResult struct {
	ID         string              `json:"id"` // its name
	Score      float64             `json:"score"`
	Metrics    map[string]*float64 `json:"metrics"`
	Unmeasured map[string]string   `json:"unmeasured"`
	Objectives map[string]float64  `json:"objectives"`
	Digest     string              `json:"digest"` // of the runs; empty: there were none
}

// HeldOut is how a candidate does in held-out scenarios. Nothing else in an Answer depends on it.
type HeldOut struct {
	OK    bool    `json:"ok"`
	Score float64 `json:"score"`
	Result
	Error *Fault `json:"error"`
}

// Outputs names what was evaluated.
type Outputs struct {
	Policy   string   `json:"policy_id"`   // hash of the policies; of the text if it cannot be read
	Workload string   `json:"workload_id"` // hash of everything that decides the traffic, seeds too
	Cluster  string   `json:"cluster_id"`  // hash of everything else: cluster, targets, measures, weights, baseline
	Seeds    []uint64 `json:"seeds"`
	Digest   string   `json:"digest"` // of all runs; empty: the candidate failed
	Version  string   `json:"version"`
}

// measured puts the metrics of figures into words and numbers.
func (c *Scenario) measured(f *Figures, into *ScenarioResult) {
	into.Metrics, into.Unmeasured = map[string]*float64{}, map[string]string{}
	for i := range c.Measures {
		w := &c.Measures[i]
		x := float64(f.Values[w.key()])
		switch {
		case math.IsInf(x, 0) && !w.ofAll():
			into.Unmeasured[w.metric()] = "infinite: some of these requests did not complete"
		case math.IsInf(x, 0):
			into.Unmeasured[w.metric()] = fmt.Sprintf("infinite: %d of %d requests did not complete", f.Lost, f.Requests)
		case math.IsNaN(x):
			into.Unmeasured[w.metric()] = "no request has it"
		default:
			x = w.inUnit(x)
			into.Metrics[w.metric()] = &x
			continue
		}
		into.Metrics[w.metric()] = nil
	}
}

// result compares figures with those of the baseline, scenario by scenario.
func result(list []*Scenario, figures []Figures, baseline []*Figures) (score float64, r Result) {
	var all mean
	for i, c := range list {
		s := c.scores(&figures[i], baseline[i])
		one := ScenarioResult{ID: c.Name, Score: s.score, Objectives: s.objectives, Digest: figures[i].Digest}
		c.measured(&figures[i], &one)
		r.PerScenario = append(r.PerScenario, one)
		all.add(s.score, c.Weight)
	}
	r.summarize(list)
	return all.value(), r
}

// failed is the result of a candidate that failed: every key that another candidate has.
func failed(list []*Scenario) (r Result) {
	for _, c := range list {
		one := ScenarioResult{ID: c.Name, Metrics: map[string]*float64{}, Unmeasured: map[string]string{}, Objectives: map[string]float64{}}
		for i := range c.Measures {
			w := &c.Measures[i]
			x := w.worst()
			one.Metrics[w.metric()] = &x
			if w.Weight > 0 {
				one.Objectives[w.key()] = 0
			}
		}
		r.PerScenario = append(r.PerScenario, one)
	}
	r.summarize(list)
	return r
}

// summarize computes the means over scenarios.
func (r *Result) summarize(list []*Scenario) {
	r.Metrics, r.Unmeasured, r.Objectives = map[string]*float64{}, map[string]string{}, map[string]float64{}
	metrics, objectives := map[string]*mean{}, map[string]*mean{}
	of := func(m map[string]*mean, name string) *mean {
		if m[name] == nil {
			m[name] = &mean{}
		}
		return m[name]
	}
	least := math.Inf(1)
	for i, c := range list { // each mean in the order of scenarios
		one := &r.PerScenario[i]
		least = min(least, one.Score)
		for k := range c.Measures {
			w := &c.Measures[k]
			name := w.metric()
			if u, ok := one.Objectives[w.key()]; ok {
				of(objectives, w.key()).add(u, c.Weight)
			}
			if x := one.Metrics[name]; x != nil {
				of(metrics, name).add(*x, c.Weight)
			} else if r.Unmeasured[name] == "" {
				r.Unmeasured[name] = "scenario " + c.Name + ": " + one.Unmeasured[name]
			}
		}
	}
	for name, m := range objectives { // any order: into a map
		r.Objectives[name] = m.value()
	}
	r.Objectives[minScenario] = least
	for name, m := range metrics {
		x := m.value()
		r.Metrics[name] = &x
	}
	for name := range r.Unmeasured {
		r.Metrics[name] = nil
	}
}
