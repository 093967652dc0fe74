package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"blis/actors"
	"blis/latency"
	"blis/setup"
)

// LatencyChoice is the one latency model of a study whose configurations would get
// several: only runs of one model compare.
type LatencyChoice struct {
	// Model and Coefficients are the values of --latency-model and --coefficients. Both
	// are empty if the configurations say themselves what they use.
	Model, Coefficients string

	// Metric and Worst are the largest stated error among the configurations, in percent
	// of E2E, or of TPOT where E2E was not measured for all, and At the configuration that
	// has it. Metric is empty if no configuration has a stated error.
	Metric string
	Worst  float64
	At     int

	// Unstated are the configurations without a stated error. There are some only if all
	// configurations would get this model by themselves.
	Unstated []int

	e2e, tpot worstError
}

// worstError is the largest stated error of a metric, and the configuration that has it.
// It is infinite if the error of one configuration is not known.
type worstError struct {
	percent float64
	at      int
}

func (w *worstError) known() bool { return w.percent >= 0 && !math.IsInf(w.percent, 1) }

// take accounts for the error of a configuration, nil if it is not known.
func (w *worstError) take(d *latency.Deviation, at int) {
	percent := math.Inf(1)
	if d != nil {
		percent = d.Expected
	}
	if percent > w.percent {
		*w = worstError{percent, at}
	}
}

// below reports whether the largest error is smaller than that of other: of E2E if it is
// known of both for all configurations, else of TPOT. A model of which neither is known
// comes last.
func (l *LatencyChoice) below(other *LatencyChoice) bool {
	if l.e2e.known() && other.e2e.known() {
		return l.e2e.percent < other.e2e.percent
	}
	if l.tpot.known() != other.tpot.known() {
		return l.tpot.known()
	}
	return l.tpot.percent < other.tpot.percent
}

// Apply gives a configuration the latency model.
func (l *LatencyChoice) Apply(c *setup.Config) {
	if l.Model != "" {
		c.LatencyModel, c.Coefficients = l.Model, l.Coefficients
	}
}

// ChooseLatency chooses the latency model of a study: of those whose stated errors apply
// to every configuration the one whose largest expected error is the smallest. If all
// configurations would get the same model by themselves it is that one, even without a
// stated error. Configurations that cannot run, such as those that do not fit, do not
// count; if none can run the error is that of the first.
//
// It is an *actors.InputError if no model covers all; it names the configurations, by
// name, that each model leaves out.
func ChooseLatency(configs []setup.Config, name func(i int) string) (LatencyChoice, error) {
	c, err := newLatencyContest(configs)
	if err != nil || c.explicit {
		return LatencyChoice{}, err
	}
	if own, same := c.ownChoice(); same {
		return own, nil
	}
	var best *LatencyChoice
	var gaps []string
	none := ""
	for _, candidate := range c.candidates() {
		rated := c.rate(candidate)
		switch {
		case len(rated.Unstated) == c.count():
			none = "; the others cover none"
		case len(rated.Unstated) > 0:
			gaps = append(gaps, rated.name()+" leaves out "+listed(rated.Unstated, name))
		case best == nil || rated.below(best):
			best = &rated
		}
	}
	if best == nil {
		return LatencyChoice{}, &notCovered{actors.InputError{Text: "no latency model covers all configurations, and those of two models do not compare: " +
			strings.TrimPrefix(strings.Join(gaps, "; ")+none, "; ") + ": vary less, or choose with --latency-model or --coefficients"}}
	}
	return *best, nil
}

// notCovered is the *actors.InputError of configurations that have no model in common.
type notCovered struct{ actors.InputError }

func (e *notCovered) Unwrap() error { return &e.InputError }

// Error says what is known of the error of the model, in words.
func (l *LatencyChoice) Error() string {
	if l.Metric == "" {
		return "error not known"
	}
	return fmt.Sprintf("expected error of %s at most %.1f %%", l.Metric, l.Worst)
}

// name is "roofline" or "physics h100".
func (l *LatencyChoice) name() string {
	if l.Coefficients == "" {
		return l.Model
	}
	return l.Model + " " + l.Coefficients
}

// listed names a few configurations.
func listed(of []int, name func(int) string) string {
	const few = 3
	var names []string
	for _, i := range of[:min(few, len(of))] {
		names = append(names, name(i))
	}
	text := strings.Join(names, ", ")
	if more := len(of) - few; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// latencyContest is the choice of one latency model for configurations.
type latencyContest struct {
	explicit bool // the configurations say what they use
	physics  bool // they ask for physics
	mixed    bool // the pools of one of them have models that differ
	distinct []setup.Config
	own      []LatencyChoice // what each of distinct gets by itself
	members  [][]int         // of each of distinct: the configurations that are the same to latency models
}

func newLatencyContest(configs []setup.Config) (*latencyContest, error) {
	c := &latencyContest{}
	index := map[string]int{} // in distinct; -1: it cannot run
	var first error
	for i := range configs {
		key := latencyKey(&configs[i])
		at, known := index[key]
		if !known {
			if slices.ContainsFunc(setup.PoolConfigs(&configs[i]), namesLatency) || namesLatency(configs[i]) {
				c.explicit = true
				return c, nil
			}
			var err error
			if at, err = c.add(configs[i]); err != nil && first == nil {
				first = err
			}
			index[key] = at
		}
		if at >= 0 {
			c.members[at] = append(c.members[at], i)
		}
	}
	if len(c.distinct) == 0 && first != nil {
		return nil, first
	}
	return c, nil
}

// namesLatency reports whether a configuration says which coefficients it uses, or that it
// uses none.
func namesLatency(c setup.Config) bool {
	return c.Custom.Latency != nil || len(c.AlphaCoeffs) > 0 || c.Coefficients != "" || c.LatencyModel != "auto" && c.LatencyModel != "physics"
}

// add adds a configuration that is new to latency models and returns its place in distinct,
// or -1 with the error of one that cannot run.
func (c *latencyContest) add(cfg setup.Config) (at int, err error) {
	_, summary, err := setup.LatencyModel(cfg)
	if err != nil {
		return -1, err
	}
	c.physics = c.physics || cfg.LatencyModel == "physics"
	for i := range summary.Pools {
		p, first := &summary.Pools[i], &summary.Pools[0]
		c.mixed = c.mixed || p.LatencyModel != first.LatencyModel || p.CoefficientSet != first.CoefficientSet
	}
	c.distinct, c.members = append(c.distinct, cfg), append(c.members, nil)
	c.own = append(c.own, LatencyChoice{Model: summary.LatencyModel, Coefficients: summary.CoefficientSet})
	return len(c.distinct) - 1, nil
}

// count is the number of configurations that can run.
func (c *latencyContest) count() (n int) {
	for _, m := range c.members {
		n += len(m)
	}
	return n
}

// latencyKey is equal for configurations that are the same to latency models: those with
// equal settings of the model, of the engine, and of pools.
func latencyKey(c *setup.Config) string {
	var key strings.Builder
	for s := range c.Settings() {
		group := s.Tag.Get("group")
		ofPools := s.Name == "architecture" || s.Name == "prefill" || s.Name == "decode" || s.Name == "deployments"
		if (group == "Model" || group == "Instances") && s.Name != "num-instances" || ofPools {
			fmt.Fprintf(&key, "%v\x00", s.Value.Interface())
		}
	}
	if c.AsyncScheduling != nil { // a pointer, which prints as its address
		fmt.Fprint(&key, *c.AsyncScheduling)
	}
	return key.String()
}

// ownChoice is the model that all configurations get by themselves, if it is the same.
func (c *latencyContest) ownChoice() (LatencyChoice, bool) {
	if c.mixed {
		return LatencyChoice{}, false
	}
	for _, own := range c.own[min(1, len(c.own)):] {
		if own.name() != c.own[0].name() {
			return LatencyChoice{}, false
		}
	}
	if len(c.own) == 0 {
		return LatencyChoice{}, true
	}
	return c.rate(c.own[0]), true
}

// candidates are all models that could be the one, in order of name, roofline last.
func (c *latencyContest) candidates() (list []LatencyChoice) {
	for _, s := range latency.PhysicsSets() {
		list = append(list, LatencyChoice{Model: "physics", Coefficients: s.Name})
	}
	if !c.physics {
		list = append(list, LatencyChoice{Model: "roofline"})
	}
	return list
}

// rate finds the largest stated error of a model among the configurations.
func (c *latencyContest) rate(l LatencyChoice) LatencyChoice {
	l.e2e.percent, l.tpot.percent = -1, -1
	for i := range c.distinct {
		cfg := c.distinct[i]
		l.Apply(&cfg)
		_, summary, err := setup.LatencyModel(cfg)
		if err != nil || summary.Accuracy == nil || summary.Accuracy.Stated == nil {
			l.Unstated = append(l.Unstated, c.members[i]...)
			continue
		}
		l.e2e.take(summary.Accuracy.Stated.E2E, c.members[i][0])
		l.tpot.take(summary.Accuracy.Stated.TPOT, c.members[i][0])
	}
	switch {
	case l.e2e.known():
		l.Metric, l.Worst, l.At = "E2E", l.e2e.percent, l.e2e.at
	case l.tpot.known():
		l.Metric, l.Worst, l.At = "TPOT", l.tpot.percent, l.tpot.at
	}
	slices.Sort(l.Unstated)
	return l
}
